"""The counted tokens of one answer in each format."""

import json
from dataclasses import dataclass
from typing import Any

from mcp.types import TextContent

from textrawl.settings import Format
from textrawl.wire.replies import Renderer, Reply, Written
from textrawl.wire.token_counter import Counter

_NO_BUDGET = 1_000_000


@dataclass(frozen=True)
class Cost:
    """The tokens of one answer as compact text, as lines, as verbose text and as indented JSON."""

    compact: int
    lines: int
    verbose: int
    pretty: int


def count_costs(text: str, structured: dict[str, Any], reply: Reply, counter: Counter) -> Cost:
    """Count the tokens of an answer with compact `text` and `structured` content.

    `reply` is the same answer before it was formatted. From `reply`, the code of the server writes
    the formats `lines` and `verbose`.
    """
    return Cost(
        compact=counter.count(text),
        lines=counter.count(write_reply(reply, "lines", counter)),
        verbose=counter.count(write_reply(reply, "verbose", counter)),
        pretty=counter.count(json.dumps(structured, ensure_ascii=False, indent=2)),
    )


def write_reply(reply: Reply, form: Format, counter: Counter) -> str:
    """Return `reply` as text in the format `form`, without a budget."""
    return read_text(write_whole(reply, form, counter))


def write_whole(
    reply: Reply, form: Format, counter: Counter, *, structured: bool = False
) -> Written:
    """Return all of `reply` in the format `form` with its cost, without a budget."""
    renderer = Renderer(format=form, structured=structured, counter=counter, budget=_NO_BUDGET)
    return renderer.write(reply)


def read_text(written: Written) -> str:
    """Return the text of a written reply."""
    [block] = written.result.content
    assert isinstance(block, TextContent)  # noqa: S101 - a reply is text
    return block.text
