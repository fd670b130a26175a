"""The start of `textrawl resident`. Hooks start it without typer, which would take longer."""

from collections.abc import Sequence
from functools import partial

from textrawl.cli.foreground import Interrupted, run_foreground
from textrawl.cli.hosting import prepare_server
from textrawl.cli.process_start import pause_collection
from textrawl.settings import read_settings

with pause_collection():
    from textrawl.cli.administration import require_memory
    from textrawl.cli.console import write_error
    from textrawl.resident.listener import run_resident

IDLE = 15.0  # minutes
TAKEN = "Another process has this memory open for hooks and quick commands"


def run_idle(words: Sequence[str]) -> int | None:
    """Run `textrawl resident` and return 0, or None for `words` with options."""
    if [*words] != ["resident"]:
        return None
    if not stay_resident():
        write_error(TAKEN)
    return 0


def stay_resident(idle: float = IDLE) -> bool:
    """Answer requests until there was none for `idle` minutes, or until a signal comes.

    Return False at once if another process has this memory open for requests. Raises StartRefused,
    MemoryNotEnabled, DatabaseUnavailable.
    """
    settings = read_settings()
    prepare_server(settings)
    if settings.server_url is None:
        require_memory(settings)
    try:
        return run_foreground(partial(run_resident, settings, idle=60 * idle))
    except Interrupted:
        return True  # the regular way to end a server
