"""The entries of the recall log. Processes without the MCP SDK write them too."""

import time

from textrawl.access.principal import Caller
from textrawl.wire.replies import Finding, Recall, Written


def describe_recall(caller: Caller, mode: str, written: Written, finding: Finding) -> Recall:
    """Return the entry of the recall log for an answer that has just been written."""
    return Recall(
        credential=caller.principal.credential,
        space=caller.principal.home,
        client=caller.client,
        mode=mode,
        format=written.format,
        structured=written.structured,
        tokens=written.tokens,
        budget=written.budget,
        items=written.items,
        dropped=written.dropped,
        finding=finding,
        milliseconds=1000 * (time.perf_counter() - caller.begun),
    )
