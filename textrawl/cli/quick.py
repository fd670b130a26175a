"""`recall` and `digest` through the socket of a process that has the memory open.

Hooks of editors run these commands at every prompt, and loading typer takes longer than an answer.
Therefore this module imports only the standard library and modules like itself. It parses the plain
form of a command line, and leaves all other forms to the commands. A test compares both parsers.
"""

import json
import sys
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from functools import cache
from typing import Any

from textrawl.environment import read_sources
from textrawl.errors import ArgumentInvalid, QueryMissing, TextrawlError
from textrawl.resident.client import SocketAnswer, Unreachable, ask, build_call
from textrawl.values.text import (
    LEAST_TOKENS,
    MOST_FACTS,
    MOST_TOKENS,
    PROMPT_LENGTH,
    escape_json,
    write_absence,
)
from textrawl_client.unix_socket import FolderTaken

Request = dict[str, Any]

STDIN = "-"  # an argument that stands for the text on stdin
_PATIENCE = 10.0  # seconds to wait for the answer of a process that is not silent
_MOST_STDIN = 1 << 20  # bytes

_unreachable: list[Unreachable] = []  # the error of the first attempt, which is not repeated


def run_quick(words: Sequence[str]) -> int | None:
    """Run a command through the socket and return its exit code.

    Return None if the command has to do it, because no process answers, because the command line
    has another form, or because the command says that settings are ignored. Raises TextrawlError.
    """
    parsed = parse(words)
    if parsed is None or any(source.withheld for source in read_sources()):
        return None
    request, as_json = parsed
    try:
        answer = ask_running(request)
    except FolderTaken as error:
        sys.stderr.write(f"textrawl: {error}\n")
        return None
    except Unreachable:
        return None
    except TextrawlError as error:
        if error.title in (ArgumentInvalid.title, QueryMissing.title):
            return None  # the command names the wrong argument
        raise
    show(answer, as_json=as_json)
    return 0


def parse(words: Sequence[str]) -> tuple[Request, bool] | None:
    """Return the request of a command line, and whether it asks for JSON.

    Return None for a form that only the command itself understands.
    """
    command, *rest = words
    options = _OPTIONS[command]
    split = _split(rest, options)
    if split is None:
        return None
    plain, values = split
    as_json = values.pop("--json", None) is not None
    members = {options[name][0]: options[name][1](text) for name, text in values.items()}
    if None in members.values():
        return None
    if command == "digest":
        return None if plain else (build_digest(**members), as_json)
    query = _read_query(plain)
    return (build_recall(query, **members), as_json) if query else None


def build_recall(
    query: str,
    *,
    limit: int = 10,
    max_tokens: int | None = None,
    space: str | None = None,
) -> Request:
    """Return the request of `textrawl recall`."""
    arguments = {"mode": "search", "query": query, "limit": limit, "maxTokens": max_tokens}
    return build_call("query_memory", arguments, client="textrawl recall", space=space)


def build_digest(
    *, project: str | None = None, max_tokens: int | None = None, space: str | None = None
) -> Request:
    """Return the request of `textrawl digest`."""
    arguments = {"project": project or None, "maxTokens": max_tokens}
    return build_call("digest", arguments, client="textrawl digest", space=space)


def ask_running(request: Request) -> SocketAnswer:
    """Return the answer of a running process.

    Raises TextrawlError, and Unreachable, at once if it was raised before.
    """
    if _unreachable:
        raise _unreachable[0]
    try:
        return ask(request, timeout=_PATIENCE)
    except Unreachable as error:
        _unreachable.append(error)
        raise


def show(answer: SocketAnswer, *, as_json: bool) -> None:
    """Write an answer to stdout."""
    if as_json:
        plain = sys.stdout.encoding.lower() != "utf-8"
        text = json.dumps(_describe(answer), ensure_ascii=plain, indent=2)
        sys.stdout.write(f"{_escape(text)}\n")
    elif answer.ids:
        sys.stdout.write(f"{answer.text}\n")
    else:
        for line in write_absence(
            answer.content.get("missing") or (), answer.content.get("closest")
        ):
            sys.stderr.write(f"{line}\n")
    sys.stdout.flush()


def _describe(answer: SocketAnswer) -> dict[str, Any]:
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
            **({"section": memory["section"]} if "section" in memory else {}),
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


@cache
def read_stdin() -> str | None:
    """Return the text on stdin, or None if stdin is a terminal. A second call returns the same."""
    if sys.stdin is None or sys.stdin.isatty():
        return None
    return sys.stdin.buffer.read(_MOST_STDIN).decode(errors="replace")


def _split(
    words: Iterable[str], options: dict[str, Any]
) -> tuple[list[str], dict[str, str]] | None:
    """Return the arguments, and the options with their values, or None for another form."""
    plain, values = list[str](), dict[str, str]()
    remaining = iter(words)
    for word in remaining:
        name, equals, value = word.partition("=")
        if word == STDIN or not word.startswith("-"):
            plain.append(word)
            continue
        if name not in options or name in values or (equals and name == "--json"):
            return None
        if name != "--json" and not equals:
            value = next(remaining, "-")
        if value.startswith("-"):
            return None
        values[name] = value
    return plain, values


def _read_query(plain: list[str]) -> str | None:
    text = read_stdin() if plain in ([], [STDIN]) else " ".join(plain)
    fits = text is not None and text.strip() and len(text) <= PROMPT_LENGTH and _is_unicode(text)
    return text if fits else None


def _read_number(least: int, most: int) -> Callable[[str], int | None]:
    def read(text: str) -> int | None:
        plain = text.isascii() and text.isdecimal()
        return int(text) if plain and least <= int(text) <= most else None

    return read


def _read_name(text: str) -> str | None:
    """Return a name that cleaning does not change, or None."""
    regular = text.isascii() and text.isprintable() and " ".join(text.split()) == text
    return text if text and regular else None


def _is_unicode(text: str) -> bool:
    """Return whether the text has no bytes that Python could not decode."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _escape(text: str) -> str:
    if text.isascii() and text.replace("\n", "").isprintable():
        return text
    return escape_json(text)


_SHARED = {
    "--json": ("as_json", str),
    "--max-tokens": ("max_tokens", _read_number(LEAST_TOKENS, MOST_TOKENS)),
    "--space": ("space", _read_name),
}
_OPTIONS: dict[str, dict[str, tuple[str, Callable[[str], Any]]]] = {
    "recall": {**_SHARED, "--limit": ("limit", _read_number(1, MOST_FACTS))},
    "digest": {**_SHARED, "--project": ("project", _read_name)},
}
