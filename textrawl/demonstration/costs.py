"""What one answer costs in each format: counted, not estimated."""

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
    """Tokens of the same answer as compact text, lines, verbose text, and indented JSON."""

    compact: int
    lines: int
    verbose: int
    pretty: int


def count_costs(text: str, structured: dict[str, Any], reply: Reply, counter: Counter) -> Cost:
    """Costs of an answer that came as compact `text` and as `structured` content.

    `reply` is the same answer as the server had it before it wrote it; its other formats are
    written by the code that the server writes them with.
    """
    return Cost(
        compact=counter.count(text),
        lines=counter.count(write_reply(reply, "lines", counter)),
        verbose=counter.count(write_reply(reply, "verbose", counter)),
        pretty=counter.count(json.dumps(structured, ensure_ascii=False, indent=2)),
    )


def write_reply(reply: Reply, form: Format, counter: Counter) -> str:
    """Text of `reply` in the format `form`, whatever it costs."""
    return read_text(write_whole(reply, form, counter))


def write_whole(
    reply: Reply, form: Format, counter: Counter, *, structured: bool = False
) -> Written:
    """All of `reply` in the format `form`, and what it costs, whatever that is."""
    renderer = Renderer(format=form, structured=structured, counter=counter, budget=_NO_BUDGET)
    return renderer.write(reply)


def read_text(written: Written) -> str:
    """The text of what was written."""
    [block] = written.result.content
    assert isinstance(block, TextContent)  # noqa: S101 - a reply is text
    return block.text
