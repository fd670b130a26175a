"""Output of commands: results on stdout, progress and errors on stderr.

The functions here pass all text through `escape_hidden`, because stored text can contain characters
that control a terminal or reorder a line. The tools refuse such characters, but SQL can store them.
"""

import json
import logging
import shutil
import sys
import textwrap
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import asdict, dataclass, is_dataclass
from datetime import UTC, datetime
from typing import TypeVar
from uuid import UUID

import anyio
import typer
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.measure import Measurement
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)
from rich.segment import Segment
from rich.status import Status
from rich.table import Table
from rich.text import Text

from textrawl.errors import StartRefused
from textrawl.values.text import escape_hidden, escape_json

Row = TypeVar("Row")

_PAUSE = 1.0  # seconds between two looks at the work that is left
_COUNT = MofNCompleteColumn()
_PERIOD = 300.0  # seconds of the past that count for the remaining time, because files differ
_WIDEST = 10_000  # columns, for the measurement of a table
_ONE_LINE = str.maketrans({"\n": "\\n", "\t": "\\t"})


class _SafeConsole(Console):
    """A console that writes only the escape sequences of its own styles."""

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Yield the segments of `renderable`, with hidden characters escaped."""
        for segment in super().render(renderable, options):
            if segment.control:
                yield segment
            else:
                yield Segment(escape_hidden(segment.text), segment.style)


class _SafeLines(logging.Formatter):
    """The format of warnings, which is also the format of errors."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the message on one line."""
        return f"textrawl: {join_lines(record.getMessage())}"


def open_console() -> Console:
    """Return a console on stdout, with colours on a terminal only."""
    return _SafeConsole(highlight=False)


def open_progress() -> Console:
    """Return a console on stderr, with colours and animation on a terminal only."""
    return _SafeConsole(stderr=True, highlight=False)


def format_warnings() -> None:
    """Escape the warnings that Python writes to stderr while no logs are configured."""
    if logging.lastResort is not None:
        logging.lastResort.setFormatter(_SafeLines())


@contextmanager
def show_wait(message: str) -> Generator[None]:
    """Show `message` with a spinner during the block, on a terminal only."""
    console = open_progress()
    if not console.is_terminal:
        yield
        return
    with console.status(message) as status, _note(status):
        yield


_displays: list[Status | Progress] = []  # the spinners and bars on the terminal


@contextmanager
def _note(display: Status | Progress) -> Generator[None]:
    _displays.append(display)
    try:
        yield
    finally:
        _displays.remove(display)


@contextmanager
def hide_progress() -> Generator[None]:
    """Hide spinners and bars during the block, in which another program can ask on the terminal."""
    for display in _displays:
        display.stop()
    try:
        yield
    finally:
        for display in _displays:
            display.start()


def write_cell(text: str, style: str = "") -> Text:
    """Return stored text as one line that is safe to show in a terminal."""
    return Text(_flatten(text), style)


def write_texts(console: Console, *texts: str) -> None:
    """Write stored texts, each on one line of its own, or wrapped at words in a terminal.

    Further lines of a text stand two columns behind its first one.
    """
    for text in texts:
        words = text.lstrip(" ")
        indent, cell = len(text) - len(words), write_cell(words)
        lines = cell.wrap(console, console.width - indent - 2) if console.is_terminal else [cell]
        for number, line in enumerate(lines):
            spaces = Text(" " * (indent + 2 * (number > 0)))
            console.print(spaces + line, soft_wrap=True)


def count(number: int, noun: str) -> str:
    """Return a number with its noun, such as "1,200 facts"."""
    plural = f"{noun[:-1]}ies" if noun.endswith(("entity", "memory")) else f"{noun}s"
    if noun.endswith("alias"):
        plural = f"{noun}es"
    return f"{number:,} {noun if number == 1 else plural}"


def join_lines(message: str) -> str:
    """Return `message` on one line, safe for a terminal."""
    return escape_hidden(" ".join(message.split()))


def write_line(text: str) -> None:
    """Write one line to stdout and flush it."""
    sys.stdout.write(f"{escape_hidden(text)}\n")
    sys.stdout.flush()


def write_row(cells: Sequence[str]) -> None:
    """Write one line of cells with tabs between them, for piped output."""
    write_line("\t".join(map(_flatten, cells)))


def write_message(*messages: str) -> None:
    """Write lines about the outcome to stderr, because stdout is for results.

    In a terminal a long line is wrapped at words.
    """
    console = open_progress()
    for message in messages:
        console.print(Text(escape_hidden(message)), soft_wrap=not console.is_terminal)


def write_json(value: object, *, indent: int | None = 2) -> None:
    """Write one JSON document, with times and ids as texts, and dataclasses as objects.

    Hidden characters are escaped, which does not change the data, and all characters outside ASCII
    if stdout has not UTF-8.
    """
    plain = sys.stdout.encoding.lower() != "utf-8"
    text = json.dumps(value, ensure_ascii=plain, indent=indent, default=_write_plain)
    sys.stdout.write(f"{escape_json(text)}\n")
    sys.stdout.flush()


def write_error(message: str) -> None:
    """Write an error to stderr: as one line, or wrapped at words in a terminal."""
    text = f"textrawl: {join_lines(message)}"
    if sys.stderr.isatty():
        columns = shutil.get_terminal_size().columns
        text = textwrap.fill(text, columns, break_long_words=False, break_on_hyphens=False)
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


def _write_plain(value: object) -> object:
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, UUID):
        return str(value)
    raise TypeError(f"JSON has no {type(value).__name__}")


def _flatten(text: str) -> str:
    return escape_hidden(text.translate(_ONE_LINE))


def can_ask() -> bool:
    """Return whether stdin is a terminal. A caller can also have closed stdin."""
    return sys.stdin is not None and sys.stdin.isatty()


def confirm(question: str, deed: str) -> None:
    """Ask on the terminal. Raises Abort for no, and StartRefused if there is no terminal.

    `deed` says what then was not done, such as "deleted".
    """
    if not can_ask():
        raise StartRefused(f"Nothing was {deed}: without a terminal, add --yes")
    typer.confirm(question, abort=True, err=True)


class _Rate(ProgressColumn):
    """The current number of items per second."""

    def render(self, task: Task) -> Text:
        return Text(f"{task.speed:,.0f}/s" if task.speed else "")


@contextmanager
def show_progress(
    label: str, total: int | None, *, of_bytes: bool = False
) -> Generator[Callable[[int], object]]:
    """Show a bar with rate and remaining time. Yield a function that sets the finished number.

    `of_bytes` says that bytes are counted.
    """
    with _open_bar(of_bytes=of_bytes) as bar:
        task = bar.add_task(label, total=total)
        yield lambda done: bar.update(task, completed=done)


@contextmanager
def show_late_progress(
    label: str, *, early: bool = True
) -> Generator[Callable[[int, int], object]]:
    """Show a bar for work whose amount is not known before it begins.

    Yield a function that sets the finished number and the number of all. Unless the bar is there
    `early`, it appears at the first call of that function, and is gone when all is finished.
    """
    with _open_bar() as bar:
        task = bar.add_task(label, total=None, visible=early)
        yield lambda done, total: bar.update(
            task, completed=done, total=total, visible=early or done < total
        )


async def show_left(label: str, count_left: Callable[[], int]) -> None:
    """Show a bar whenever `count_left` returns a number above 0, until cancelled."""
    while True:
        if most := count_left():
            with show_late_progress(label) as report:
                while left := count_left():
                    most = max(most, left)
                    report(most - left, most)
                    await anyio.sleep(_PAUSE)
        await anyio.sleep(_PAUSE)


@contextmanager
def show_stages(label: str) -> Generator[Callable[[str, int, int | None], object]]:
    """Show a bar for work in stages, with `label` until the first stage begins.

    Yield a function that sets the stage, the finished number and the number of all or None.
    """
    with _open_bar() as bar:
        task = bar.add_task(label, total=None)

        def report(stage: str, done: int, total: int | None) -> None:
            if bar.tasks[0].description != stage:
                bar.reset(task, description=stage, total=total)  # with a rate and a time of its own
            bar.update(task, completed=done, total=total)

        yield report


def show_index_progress() -> AbstractContextManager[Callable[[int, int], object]]:
    """Show a bar while an index is being built. The numbers are blocks."""
    return show_late_progress("Indexing blocks of vectors", early=False)


@contextmanager
def _open_bar(*, of_bytes: bool = False) -> Generator[Progress]:
    console = open_progress()
    numbers = (DownloadColumn(), TransferSpeedColumn()) if of_bytes else (_COUNT, _Rate())
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        *numbers,
        TimeRemainingColumn(),
    )
    bar = Progress(
        *columns,
        console=console,
        transient=True,
        disable=not console.is_terminal,
        speed_estimate_period=_PERIOD,
    )
    with bar, _note(bar) if console.is_terminal else nullcontext():
        yield bar


def show_rows(
    rows: Sequence[Row],
    columns: Sequence[str],
    write_cells: Callable[[Row], Sequence[str]],
    *,
    as_json: bool,
    none: str | None = None,
    describe: Callable[[Row], object] = lambda row: row,
) -> None:
    """Write rows as JSON, or as `show_table` does, or the message `none` if there are no rows.

    `describe` returns the JSON of a row; default: its fields.
    """
    if as_json:
        write_json([describe(row) for row in rows])
    elif not rows and none is not None:
        write_message(none)
    else:
        show_table(columns, [write_cells(row) for row in rows])


def write_result(result: object, *lines: str, as_json: bool) -> None:
    """Write a result as JSON, or stored texts about it, each on a line of its own."""
    if as_json:
        write_json(result)
    else:
        write_texts(open_console(), *lines)


def show_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Write rows as a table in a terminal, and otherwise as lines with tabs between the cells."""
    console = open_console()
    if console.is_terminal:
        console.print(draw_rows(columns, rows))
        return
    for row in rows:
        write_row(row)


def write_instant(instant: datetime | None, otherwise: str) -> str:
    """Write an instant to the minute in UTC, or `otherwise` for None."""
    return f"{instant.astimezone(UTC):%Y-%m-%d %H:%M}" if instant else otherwise


def draw_rows(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> RenderableType:
    """Draw a table. If the terminal is too narrow for it, draw a block of lines for each row.

    So dates and words are not broken, and users can copy a cell as the argument of a command.
    """
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for column in columns:
        table.add_column(column, no_wrap=True)
    for row in rows:
        table.add_row(*map(write_cell, row))
    blocks = Table.grid(padding=(0, 2, 0, 0))
    blocks.add_column(no_wrap=True, style="dim")
    blocks.add_column(overflow="fold")
    for row in rows:
        for column, cell in zip(columns, row, strict=True):
            if cell:
                blocks.add_row(column, write_cell(cell, "bold" if cell is row[0] else ""))
        blocks.add_row()
    return _Fitting(table, blocks)


@dataclass(frozen=True)
class _Fitting:
    """The renderable `wide`, or `narrow` if `wide` does not fit."""

    wide: RenderableType
    narrow: RenderableType

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        widest = Measurement.get(console, options.update(width=_WIDEST), self.wide).maximum
        yield self.wide if widest <= options.max_width else self.narrow
