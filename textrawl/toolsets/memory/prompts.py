"""The prompts of the toolset `memory`, which clients show as slash commands.

`recall` and `digest` contain what they recalled, so they need no call of a tool. `remember` and
`wrap-up` tell the model which tool to call.
"""

from collections.abc import Mapping, Sequence

from textrawl.errors import ArgumentInvalid
from textrawl.toolsets.call import Call
from textrawl.toolsets.memory.declaration import memory
from textrawl.toolsets.memory.operations import MemoryOperations, Question
from textrawl.toolsets.memory.resources import (
    MOST_NAMES,
    NO_DIGEST,
    complete_entity,
    write_digest_lines,
)
from textrawl.toolsets.memory.search_replies import FactLayout, SearchReply, find_space_labels
from textrawl.toolsets.toolset import Argument, PromptSpec
from textrawl.values.limits import FACT_LENGTH, MOST_TOKENS, NAME_LENGTH
from textrawl.values.prompt_text import WRAP_UP, frame_digest, frame_facts, write_remember

_RECALL = (
    "The number before a fact is its score: from 90 highly relevant, below 50 weak. Answer from "
    "these facts. If they do not answer the question, say so, or ask query_memory in other words."
)
_DIGEST = "Use them where they help. Recall more with query_memory."


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


async def _write_digest(call: Call, arguments: Mapping[str, str]) -> str:
    tokens = _read_tokens(arguments.get("maxTokens"))
    facts = await write_digest_lines(call, arguments.get("project"), tokens)
    return f"{frame_digest(facts)}\n\n{_DIGEST}" if facts else NO_DIGEST


def _read_tokens(text: str | None) -> int | None:
    if text is None:
        return None
    if not (text.isascii() and text.isdecimal() and 0 < int(text[:9]) <= MOST_TOKENS):
        raise ArgumentInvalid(f"maxTokens: give a number from 1 to {MOST_TOKENS}")
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
