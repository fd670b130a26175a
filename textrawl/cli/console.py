"""Where a command writes: results to stdout, progress and complaints to stderr.

All text passes `escape_hidden` here, since stored text may hold what drives a terminal or reorders
a line: SQL of a database login can store what the tools refuse.
"""

import json
import logging
import sys
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from textrawl.values.text import escape_hidden, escape_json

_ONE_LINE = str.maketrans({"\n": "\\n", "\t": "\\t"})


class _SafeConsole(Console):
    """A console that writes the escapes of its own styles and no others."""

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Yield the segments of `renderable`, hidden characters written out."""
        for segment in super().render(renderable, options):
            if segment.control:
                yield segment
            else:
                yield Segment(escape_hidden(segment.text), segment.style)


class _SafeLines(logging.Formatter):
    """Warnings of a command, written as its errors are."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the message on one line."""
        return f"textrawl: {join_lines(record.getMessage())}"


def open_console() -> Console:
    """Stdout, with colours on a terminal only."""
    return _SafeConsole(highlight=False)


def open_progress() -> Console:
    """Stderr, with colours and movement on a terminal only."""
    return _SafeConsole(stderr=True, highlight=False)


def clean_warnings() -> None:
    """Have warnings of a command, which configures no logs, written safely to stderr."""
    if logging.lastResort is not None:
        logging.lastResort.setFormatter(_SafeLines())


@contextmanager
def show_wait(what: str) -> Generator[None]:
    """On a terminal, says `what` is waited for as long as it lasts."""
    console = open_progress()
    if not console.is_terminal:
        yield
        return
    with console.status(what):
        yield


def write_cell(text: str, style: str = "") -> Text:
    """Stored text on one line, safe and measured as it will be shown."""
    return Text(_flatten(text), style)


def join_lines(message: str) -> str:
    """Return `message` on one line, safe for a terminal."""
    return escape_hidden(" ".join(message.split()))


def write_line(text: str) -> None:
    """Write one line to stdout at once."""
    sys.stdout.write(f"{escape_hidden(text)}\n")
    sys.stdout.flush()


def write_row(cells: Sequence[str]) -> None:
    """Write cells with tabs between them: the lines of a command whose output is piped."""
    write_line("\t".join(map(_flatten, cells)))


def tell(message: str) -> None:
    """Write one line to stderr about what was done: stdout is for what was asked for."""
    open_progress().print(Text(escape_hidden(message)), soft_wrap=True)


def write_json(value: object, *, indent: int | None = 2) -> None:
    """Write one JSON document; hidden characters are escaped, which changes nothing it says."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    sys.stdout.write(f"{escape_json(text)}\n")
    sys.stdout.flush()


def write_complaint(message: str) -> None:
    """Write one line to stderr, whatever `message` holds."""
    sys.stderr.write(f"textrawl: {join_lines(message)}\n")
    sys.stderr.flush()


def _flatten(text: str) -> str:
    return escape_hidden(text.translate(_ONE_LINE))
