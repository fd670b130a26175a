"""Bars on a terminal for what takes long."""

from collections.abc import Callable, Generator
from contextlib import contextmanager

from rich.progress import (
    BarColumn,
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
    """How many a second, lately."""

    def render(self, task: Task) -> Text:
        return Text(f"{task.speed:,.0f}/s" if task.speed else "")


@contextmanager
def show_progress(what: str, total: int | None) -> Generator[Callable[[int], object]]:
    """A bar on a terminal, with rate and time left; yields what is told how far it is."""
    with _open_bar() as bar:
        task = bar.add_task(what, total=total)
        yield lambda done: bar.update(task, completed=done)


@contextmanager
def show_index_progress() -> Generator[Callable[[int, int], object]]:
    """A bar on a terminal as soon as it is told how far an index is, and how large."""
    with _open_bar() as bar:
        task = bar.add_task("Indexing blocks of vectors", total=None, visible=False)
        yield lambda done, total: bar.update(task, completed=done, total=total, visible=True)


def _open_bar() -> Progress:
    console = open_progress()
    columns = (
        SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(),
        _Rate(), TimeRemainingColumn(),
    )  # fmt: skip
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
