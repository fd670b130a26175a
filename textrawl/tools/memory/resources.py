"""The resources of the toolset `memory`: an entity, the digest of a space, the help of a tool.

Clients attach a resource to a conversation without a call of a tool. The texts have the format
`lines`, because people read them too.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote_to_bytes

from mcp.types import Resource, Tool

from textrawl.errors import ArgumentInvalid
from textrawl.memory.facts import MemoryOperations
from textrawl.memory.questions import Question
from textrawl.memory.watches import Watch
from textrawl.tools.call import Call
from textrawl.tools.memory.entity_reply import EntityReply
from textrawl.tools.memory.search_replies import (
    DigestReply,
    FactLayout,
    SearchReply,
    digest_for_program,
    find_space_labels,
)
from textrawl.tools.memory.tools import memory
from textrawl.tools.toolset import Argument, Collection, PromptSpec
from textrawl.values.text import (
    FACT_LENGTH,
    LEAST_TOKENS,
    MOST_TOKENS,
    NAME_LENGTH,
    WRAP_UP,
    clean_name,
    frame_digest,
    frame_facts,
    write_remember,
)
from textrawl.values.word_lists import PROGRAM
from textrawl.wire.program import Program, write_answer_meta

ENTITY = "memory://entity/"
HELP = "memory://help/"
_SPACE, _DIGEST = "memory://space/", "/digest"

ENTITY_TEMPLATE = f"{ENTITY}{{name}}"
DIGEST_TEMPLATE = f"{_SPACE}{{name}}{_DIGEST}"
HELP_TEMPLATE = f"{HELP}{{tool}}"

_LONGEST = 12 * NAME_LENGTH  # characters of a name in which each character has four encoded bytes


def write_digest(space: str) -> str:
    """Return the address of the digest of a space."""
    return f"{_SPACE}{_encode(space)}{_DIGEST}"


def write_help(tool: str) -> str:
    """Return the address of the help of a tool."""
    return HELP + _encode(tool)


def read_entity(uri: str) -> str | None:
    """Return the name of the entity with this address, or None for another address."""
    name = _decode(uri.removeprefix(ENTITY)) if uri.startswith(ENTITY) else None
    return clean_name(name) or None if name else None


def read_digest(uri: str) -> str | None:
    """Return the name of the space whose digest has this address, or None."""
    if not (uri.startswith(_SPACE) and uri.endswith(_DIGEST)):
        return None
    return _decode(uri[len(_SPACE) : -len(_DIGEST)])


def read_help(uri: str) -> str | None:
    """Return the name of the tool whose help has this address, or None."""
    return _decode(uri.removeprefix(HELP)) if uri.startswith(HELP) else None


def _encode(name: str) -> str:
    # Clients would take a name of dots for a relative path.
    return name.replace(".", "%2E") if name in (".", "..") else quote(name, safe="")


def _decode(text: str) -> str | None:
    """Return the decoded name, or None if it is too long or cannot be the name of anything."""
    if not text or len(text) > _LONGEST:
        return None
    try:
        name = unquote_to_bytes(text).decode()
    except UnicodeError:
        return None
    return None if "\0" in name or len(name) > NAME_LENGTH else name


NO_DIGEST = "The memory has no facts for a digest yet."

_MOST_FACTS = 100
MOST_NAMES = 101  # one more than an answer has, so that the answer can say that there are more
_TEXT, _MARKDOWN = "text/plain", "text/markdown"


async def _list_nothing(_: Call) -> Sequence[Resource]:
    # A list of thousands of entities helps nobody: clients complete a name in the template.
    return []


async def _read_entity(call: Call, uri: str) -> str | None:
    name = read_entity(uri)
    if name is None:
        return None
    row = await MemoryOperations(call.store).describe(
        name, call.caller, max_observations=_MOST_FACTS, with_relations=True
    )
    if row is None:
        return None
    layout = FactLayout(find_space_labels(call.caller.principal))
    reply = EntityReply.build(row, layout, with_relations=True)
    return call.recall_lines("entity", reply, reply.read_finding(name))


def _watch_entity(call: Call, uri: str) -> Watch | None:
    name = read_entity(uri)
    return Watch(*call.caller.watching, entity=name) if name is not None else None


async def complete_entity(call: Call, beginning: str) -> Sequence[str]:
    """Return names of entities with this beginning, last updated first."""
    operations = MemoryOperations(call.store)
    return await operations.complete_name(beginning, call.caller, limit=MOST_NAMES)


async def write_digest_lines(
    call: Call, project: str | None = None, max_tokens: int | None = None
) -> str:
    """Return the digest as lines. It is empty if there are no facts.

    It is not recorded as a recall: it would raise the use of the facts that it chooses by use.
    """
    rows = await MemoryOperations(call.store).digest(
        project, call.caller, authors=call.settings.digest_authors
    )
    reply = DigestReply.build(rows, find_space_labels(call.caller.principal))
    return call.write_lines(reply, max_tokens or call.settings.digest_tokens)


async def _list_digests(call: Call) -> Sequence[Resource]:
    return [
        Resource(
            uri=write_digest(space.name),
            name=f"digest/{space.name}",
            title=f"Digest: {space.name}",
            description=f"The facts of the space {space.name} that matter now",
            mime_type=_TEXT,
        )
        for space in call.caller.principal.readable
    ]


async def _read_digest(call: Call, uri: str) -> str | None:
    name, principal = read_digest(uri), call.caller.principal
    if name not in [space.name for space in principal.readable]:
        return None
    pinned = replace(call, caller=replace(call.caller, principal=principal.pin(name)))
    return await write_digest_lines(pinned) or NO_DIGEST


def _watch_digest(call: Call, uri: str) -> Watch | None:
    name = read_digest(uri)
    return Watch(*call.caller.watching, digest=name) if name is not None else None


async def _complete_space(call: Call, beginning: str) -> Sequence[str]:
    names = [space.name for space in call.caller.principal.readable]
    return [name for name in names if name.lower().startswith(beginning.lower())]


async def _list_help(call: Call) -> Sequence[Resource]:
    return [
        Resource(
            uri=write_help(tool.name),
            name=f"help/{tool.name}",
            title=f"Help: {tool.name}",
            description=f"The parameters of {tool.name}, with examples",
            mime_type=_MARKDOWN,
        )
        for tool in await call.context.mcp_server.list_tools()
    ]


async def _read_help(call: Call, uri: str) -> str | None:
    name = read_help(uri)
    for tool in await call.context.mcp_server.list_tools():
        if tool.name == name:
            return write_tool_help(tool)
    return None


async def _complete_tool(call: Call, beginning: str) -> Sequence[str]:
    tools = await call.context.mcp_server.list_tools()
    return [tool.name for tool in tools if tool.name.startswith(beginning.lower())]


memory.collections.extend(
    [
        Collection(
            ENTITY_TEMPLATE,
            "entity",
            "Entity",
            "The facts and relations of an entity",
            _TEXT,
            _list_nothing,
            _read_entity,
            {"name": complete_entity},
            _watch_entity,
        ),
        Collection(
            DIGEST_TEMPLATE,
            "digest",
            "Digest of a space",
            "The facts of a space that matter now: open questions, preferences, people, new facts",
            _TEXT,
            _list_digests,
            _read_digest,
            {"name": _complete_space},
            _watch_digest,
        ),
        Collection(
            HELP_TEMPLATE,
            "help",
            "Help of a tool",
            "The parameters of a tool, with examples",
            _MARKDOWN,
            _list_help,
            _read_help,
            {"tool": _complete_tool},
            lambda _, uri: Watch() if read_help(uri) is not None else None,  # help never changes
        ),
    ]
)


_RECALL = (
    "The number before a fact is its score: from 90 highly relevant, below 50 weak. Answer from "
    "these facts. If they do not answer the question, say so, or ask query_memory in other words."
)


async def _write_recall(call: Call, arguments: Mapping[str, str]) -> str:
    question = arguments["question"]
    rows, reason = await MemoryOperations(call.store).search(Question(question), call.caller)
    layout = FactLayout(find_space_labels(call.caller.principal))
    reply = SearchReply.build(rows, reason, question, layout)
    facts = call.recall_lines("search", reply, reply.read_finding(question))
    return f"{frame_facts(facts)}\n\n{_RECALL}\n\nQuestion: {question}"


async def _write_remember(call: Call, arguments: Mapping[str, str]) -> str:
    del call
    return write_remember(arguments["fact"], arguments.get("entity", ""))


async def _write_digest(
    call: Call, arguments: Mapping[str, str]
) -> str | tuple[str, dict[str, Any]]:
    tokens = _read_tokens(arguments.get("maxTokens"))
    if program := call.program:
        return await _write_program_digest(call, program, arguments.get("project"), tokens)
    facts = await write_digest_lines(call, arguments.get("project"), tokens)
    advice = "Use them where they help. Recall more with query_memory."
    return f"{frame_digest(facts)}\n\n{advice}" if facts else NO_DIGEST


async def _write_program_digest(
    call: Call, program: Program, project: str | None, tokens: int | None
) -> tuple[str, dict[str, Any]]:
    """Return the lines of a digest, and its structured content in `_meta`."""
    operations, authors = MemoryOperations(call.store), call.settings.digest_authors
    reply = await digest_for_program(operations, project, call.caller, program, authors)
    written = call.app.program_renderer.write(reply, tokens or call.settings.digest_tokens)
    meta = write_answer_meta(reply, written)
    meta[PROGRAM]["content"] = written.content.structured
    return written.text, meta


def _read_tokens(text: str | None) -> int | None:
    if text is None:
        return None
    if not (text.isascii() and text.isdecimal() and LEAST_TOKENS <= int(text[:9]) <= MOST_TOKENS):
        raise ArgumentInvalid(f"maxTokens: give a number from {LEAST_TOKENS} to {MOST_TOKENS}")
    return int(text)


async def _complete_project(call: Call, beginning: str) -> Sequence[str]:
    operations = MemoryOperations(call.store)
    return await operations.complete_name(
        beginning, call.caller, types=["project"], limit=MOST_NAMES
    )


async def _write_wrap_up(call: Call, arguments: Mapping[str, str]) -> str:
    del call, arguments
    return WRAP_UP


PROMPTS = [
    PromptSpec(
        "recall",
        "Recall",
        "What the memory knows about a question",
        _write_recall,
        (Argument("question", "a question or keywords", required=True),),
    ),
    PromptSpec(
        "remember",
        "Remember",
        "Store a fact in the memory",
        _write_remember,
        (
            Argument("fact", "what to remember", required=True, longest=FACT_LENGTH),
            Argument(
                "entity",
                "who or what it is about",
                longest=NAME_LENGTH,
                complete=complete_entity,
            ),
        ),
        tool="remember_fact",
    ),
    PromptSpec(
        "digest",
        "Digest",
        "The facts that matter at the start of a conversation",
        _write_digest,
        (
            Argument(
                "project",
                "the project to work on",
                longest=NAME_LENGTH,
                complete=_complete_project,
            ),
            Argument("maxTokens", "budget in tokens", longest=9),
        ),
    ),
    PromptSpec(
        "wrap-up",
        "Wrap up",
        "Store what will matter later, at the end of a conversation",
        _write_wrap_up,
        tool="build_knowledge",
    ),
]
memory.prompts.extend(PROMPTS)


_TOOLSETS = Path(__file__).parent.parent
_LIMITS = {
    "minimum": "at least {}",
    "maximum": "at most {}",
    "maxLength": "at most {} characters",
    "maxItems": "at most {} items",
}


def write_tool_help(tool: Tool) -> str:
    """Return the help of `tool` in Markdown."""
    sections = [f"# {tool.name}", tool.description or ""]
    if lines := list(_list_parameters(tool.input_schema)):
        sections.append("\n".join(["Parameters:", "", *lines]))
    examples = _TOOLSETS.glob(f"*/help/{tool.name}.md")  # not every tool has this file
    sections += [file.read_text("utf-8").strip() for file in examples]
    return "\n\n".join(sections) + "\n"


def _list_parameters(schema: dict[str, Any], path: str = "") -> Iterator[str]:
    required = schema.get("required", [])
    for name, parameter in schema.get("properties", {}).items():
        yield f"- `{path}{name}` ({', '.join(_list_traits(name, parameter, required))})" + (
            f": {parameter['description']}" if "description" in parameter else ""
        )
        items = parameter.get("items", {})
        if "properties" in items:
            yield from _list_parameters(items, f"{path}{name}[].")


def _list_traits(name: str, parameter: dict[str, Any], required: list[str]) -> Iterator[str]:
    items = parameter.get("items", {})
    kind = parameter.get("type", "string")
    yield f"list of {items.get('type', 'string')}s" if kind == "array" else kind
    if name in required:
        yield "required"
    if values := parameter.get("enum") or items.get("enum"):
        yield f"one of {' / '.join(map(str, values))}"
    if "default" in parameter:
        yield f"default {json.dumps(parameter['default'])}"
    for key, words in _LIMITS.items():
        if key in parameter:
            yield words.format(parameter[key])
