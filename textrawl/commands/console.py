"""Where a command writes: results to stdout, progress and complaints to stderr."""

import json
import sys
from collections.abc import Generator
from contextlib import contextmanager

from rich.console import Console


def open_console() -> Console:
    """Stdout, with colours on a terminal alone."""
    return Console(highlight=False)


def open_progress() -> Console:
    """Stderr, with colours and movement on a terminal alone."""
    return Console(stderr=True, highlight=False)


@contextmanager
def show_wait(what: str) -> Generator[None]:
    """On a terminal, says `what` is waited for as long as it lasts."""
    console = open_progress()
    if not console.is_terminal:
        yield
        return
    with console.status(what):
        yield


def write_json(value: object) -> None:
    """One JSON document, for scripts."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=2) + "\n")


def write_complaint(message: str) -> None:
    """One line on stderr, whatever `message` holds."""
    sys.stderr.write(f"textrawl: {' '.join(message.split())}\n")
    sys.stderr.flush()
