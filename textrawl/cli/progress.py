"""Progress bars for long work, on a terminal only."""

from collections.abc import Callable, Generator
from contextlib import contextmanager

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
)
from rich.text import Text

from textrawl.cli.console import open_progress


class _Rate(ProgressColumn):
    """The current number of items per second."""

    def render(self, task: Task) -> Text:
        return Text(f"{task.speed:,.0f}/s" if task.speed else "")


@contextmanager
def show_progress(label: str, total: int | None) -> Generator[Callable[[int], object]]:
    """Show a bar with rate and remaining time. Yield a function that sets the finished number."""
    with _open_bar() as bar:
        task = bar.add_task(label, total=total)
        yield lambda done: bar.update(task, completed=done)


@contextmanager
def show_index_progress() -> Generator[Callable[[int, int], object]]:
    """Show a bar while an index is being built.

    Yield a function that sets the numbers of finished blocks and of all blocks. The bar appears at
    the first call of that function.
    """
    with _open_bar() as bar:
        task = bar.add_task("Indexing blocks of vectors", total=None, visible=False)
        yield lambda done, total: bar.update(task, completed=done, total=total, visible=True)


@contextmanager
def show_download(label: str) -> Generator[Callable[[int, int], object]]:
    """Show a bar of bytes during a download.

    Yield a function that sets the bytes so far and all bytes. The bar appears at its first call.
    """
    console = open_progress()
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as bar:
        task = bar.add_task(label, total=None, visible=False)
        yield lambda done, total: bar.update(task, completed=done, total=total, visible=True)


def _open_bar() -> Progress:
    console = open_progress()
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        _Rate(),
        TimeRemainingColumn(),
    )
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
