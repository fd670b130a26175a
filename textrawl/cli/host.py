"""The start of a host. It claims its memory before it loads what takes long."""

from collections.abc import Sequence

from textrawl.cli.process_start import pause_collection
from textrawl.environment import read_sources
from textrawl.host.entrance import choose_host, claim


def run_host(words: Sequence[str]) -> int | None:
    """Be the host of the memory that the settings name, until nobody has used it for some minutes.

    After the word `remote`, only pass the requests of hooks on to the server of SERVER_URL. After
    `question`, the login of the database can be one that row-level security does not restrict.
    Return 0, also at once if another process is the host, or None for other `words`. Raises
    StartRefused.
    """
    if [*words] == ["host", "remote"]:
        from textrawl.cli.hosting import host_remote  # noqa: PLC0415 - few settings name a server

        host_remote()
        return 0
    if [*words] not in (["host"], ["host", "question"]):
        return None
    with claim(choose_host(read_sources())) as claimed:
        if claimed:
            with pause_collection():
                from textrawl.cli.hosting import host_memory  # noqa: PLC0415 - see above

            host_memory(walled=len(words) == 1)
    return 0
