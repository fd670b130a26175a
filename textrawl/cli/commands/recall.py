"""The commands `remember`, `recall` and `digest`."""

import json
import os
import re
import sys
from collections.abc import Mapping
from datetime import datetime
from functools import cache
from typing import Annotated, Any

import typer

from textrawl.cli.console import open_console, write_cell, write_json, write_message
from textrawl.cli.inputs import (
    AsJson,
    EntityName,
    Everywhere,
    FactLimit,
    MaxTokens,
    SpaceName,
    WrittenSpace,
    argument,
    option,
    read_end,
    read_fact,
    read_name,
    read_query,
    read_reference,
    read_type,
)
from textrawl.cli.questions import CLIENT, find_answer
from textrawl.host.question import build_call
from textrawl.host.repository import find_checkout, find_folder
from textrawl.host.requests import SocketAnswer
from textrawl.values.anchors import LONGEST_ANCHOR, MOST_ANCHORS, write_anchor
from textrawl.values.names import ENTITY_TYPES
from textrawl.values.text import SHORT_ID, count_cleaned, escape_json, write_absence

STDIN = "-"  # an argument that stands for the text on stdin
_MOST_STDIN = 1 << 20  # bytes
_URL = re.compile(rf"https?://\S{{1,{LONGEST_ANCHOR - 10}}}")


@cache
def read_stdin() -> str | None:
    """Return the text on stdin, or None if stdin is a terminal. A second call returns the same."""
    if sys.stdin is None or sys.stdin.isatty():
        return None
    return sys.stdin.buffer.read(_MOST_STDIN).decode(errors="replace")


_Question = Annotated[
    list[str] | None,
    argument("[QUESTION...]", "A question or keywords. - or nothing means the text on stdin."),
]


def recall(
    question: _Question = None,
    limit: FactLimit = 10,
    max_tokens: MaxTokens = None,
    everywhere: Everywhere = False,
    space: SpaceName = None,
    as_json: AsJson = False,
) -> None:
    """Print facts that answer a question, in few tokens and quickly.

    Each fact is one line with its score from 0 to 100, below the name of its entity.
    """
    words = question or []
    text = read_stdin() if words in ([], [STDIN]) else " ".join(words)
    if text is None:
        raise typer.BadParameter("give a question, or pipe one to stdin", param_hint="QUESTION")
    query = read_query(text, "QUESTION")
    arguments = {"mode": "search", "query": query, "limit": limit, "maxTokens": max_tokens}
    wishes = {"space": space, "repository": "" if everywhere else None}
    request = build_call("query_memory", arguments, client="textrawl recall", **wishes)
    _show_facts(find_answer(request), as_json=as_json)


_Project = Annotated[
    str | None, option("NAME", "Name of the project that you begin to work on.", read_name)
]


def digest(
    project: _Project = None,
    max_tokens: MaxTokens = None,
    space: SpaceName = None,
    as_json: AsJson = False,
) -> None:
    """Print the facts that matter at the start of a conversation.

    They are about the project, people, preferences and open questions. Without --max-tokens they
    have at most TEXTRAWL_DIGEST_TOKENS tokens (300).
    """
    arguments = {"project": project or None, "maxTokens": max_tokens}
    request = build_call("digest", arguments, client="textrawl digest", space=space)
    _show_facts(find_answer(request), as_json=as_json)


_EntityType = Annotated[
    str | None,
    option(
        "--type TYPE",
        f"Type of a new entity: {', '.join(ENTITY_TYPES)}, or another word.",
        read_type,
    ),
]
_Until = Annotated[datetime | None, option("TIME", "When the fact stops being true.", read_end)]
_Replaces = Annotated[
    str | None,
    option(
        "FACT",
        "The fact to correct: its id, the first 8 characters of its id, or its text.",
        read_reference,
    ),
]


_At = Annotated[
    list[str] | None,
    option(
        "--at PLACE",
        "What the fact speaks of: a file of this Git repository (src/parse.py, src/parse.py:40-52) "
        "or a URL. Repeatable.",
    ),
]


def remember(  # noqa: PLR0913, PLR0917 - each argument is an option
    name: EntityName,
    fact: Annotated[
        str | None, argument("[FACT]", "Text of the fact. - or nothing means the text on stdin.")
    ] = None,
    entity_type: _EntityType = None,
    until: _Until = None,
    replaces: _Replaces = None,
    at: _At = None,
    space: WrittenSpace = None,
    as_json: AsJson = False,
) -> None:
    """Store a fact about an entity.

    An entity that does not exist yet is created. An entity that exists keeps its type.
    """
    arguments = {
        "entityName": name,
        "entityType": entity_type,
        "observation": _read_text(fact),
        "source": "manual",
        "validUntil": until.isoformat() if until else None,
        "replaces": replaces,
    }
    anchors = [_read_place(place) for place in at or ()]
    if len(anchors) > MOST_ANCHORS:
        raise typer.BadParameter(f"a fact has at most {MOST_ANCHORS}", param_hint="--at")
    wishes = {"space": space or None, "person": True, "anchors": anchors or None}
    request = build_call("remember_fact", arguments, client=CLIENT, **wishes)
    stored = find_answer(request, create=True).content
    if as_json:
        write_json(_describe(stored))
    else:
        _show(stored)


def _read_place(place: str) -> str:
    """Return the anchor of a file or a URL. Raises BadParameter."""
    if _URL.fullmatch(place):
        return place
    folder = find_checkout(find_folder())
    if folder is None:
        raise typer.BadParameter("this folder is in no Git repository", param_hint="--at")
    # Paths are given from the working directory, as for other programs.
    path = os.path.relpath(find_folder() / place, folder)
    if anchor := write_anchor(folder, path):
        return anchor
    fix = "name a text file of this repository, of at most 128 KB, and lines that it has"
    raise typer.BadParameter(f"{place!r} cannot be read: {fix}", param_hint="--at")


def _describe(stored: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "duplicate": stored.get("duplicate", False),
        "entity_id": stored.get("entityId"),
        "entity_name": stored["entityName"],
        "entity_type": stored["entityType"],
        "observation_id": stored.get("observationId"),
        "proposal_id": stored.get("proposalId"),
        "updated": stored.get("updated", False),
        "closest": stored.get("similar"),
        **({"secrets": found} if (found := stored.get("secrets")) else {}),
    }


def _show(stored: Mapping[str, Any]) -> None:
    identity = stored.get("proposalId") or stored["observationId"]
    lines = [f"{stored['message']}: {identity[:SHORT_ID]}"]
    if closest := stored.get("similar"):
        why = closest.get("why")
        kind = f"{why.capitalize()} on {closest['on']}" if why else "Close fact"
        lines.append(f"{kind}: {closest['id'][:SHORT_ID]} {closest['content']}")
    if found := stored.get("secrets"):
        lines.append(f"It looks like a secret: {', '.join(found)}")
    if hint := stored.get("hint"):
        lines.append(f"Hint: {hint}")
    console = open_console()
    for line in lines:
        console.print(write_cell(line), soft_wrap=True)


def _read_text(argument: str | None) -> str:
    """Return the fact as it is stored. Raises BadParameter."""
    text = read_stdin() if argument in (None, STDIN) else argument
    if text is None:
        raise typer.BadParameter("give a fact, or pipe one to stdin", param_hint="FACT")
    if count_cleaned(text):
        write_message("The fact is stored without hidden characters")
    try:
        return read_fact(text)
    except typer.BadParameter as error:  # typer adds the name only while it parses arguments
        raise typer.BadParameter(error.message, param_hint="FACT") from None


def _show_facts(answer: SocketAnswer, *, as_json: bool) -> None:
    """Write an answer to stdout."""
    if as_json:
        plain = sys.stdout.encoding.lower() != "utf-8"
        text = json.dumps(_describe_facts(answer), ensure_ascii=plain, indent=2)
        harmless = text.isascii() and text.replace("\n", "").isprintable()
        sys.stdout.write(f"{text if harmless else escape_json(text)}\n")
    elif answer.ids:
        sys.stdout.write(f"{answer.text}\n")
    else:
        for line in write_absence(
            answer.content.get("missing") or (), answer.content.get("closest")
        ):
            sys.stderr.write(f"{line}\n")
    sys.stdout.flush()


def _describe_facts(answer: SocketAnswer) -> dict[str, Any]:
    facts = {
        memory["id"]: {
            "id": memory["id"],
            "entity": entity["entityName"],
            "type": entity["entityType"],
            "space": entity["space"],
            "fact": memory["content"],
            "author": memory["author"],
            "said_at": datetime.fromisoformat(
                memory.get("saidAt") or memory["createdAt"]
            ).isoformat(),
            "score": memory["score"],
            **{name: memory[name] for name in ("section", "change") if name in memory},
        }
        for entity in answer.content.get("entities", ())
        for memory in entity["memories"]
    }
    return {
        "text": answer.text,
        "ids": answer.short_ids,
        "tokens": answer.tokens,
        "items": len(answer.ids),
        "facts": [facts[one] for one in answer.ids],
        **{name: answer.content[name] for name in ("missing", "closest") if name in answer.content},
    }
