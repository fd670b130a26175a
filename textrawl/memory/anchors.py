"""Anchors of facts that are stored or shown. A thread reads the files of the session."""

from collections.abc import Sequence
from typing import Any

from anyio import to_thread

from textrawl.values.anchors import checkout, find_anchors, read_changes


async def find_named(texts: Sequence[str]) -> list[list[str] | None]:
    """Return for each text the anchors of the files that it names, or None."""
    folder = checkout.get()
    return await to_thread.run_sync(find_anchors, folder, texts) if folder else [None] * len(texts)


async def find_changes(told: Sequence[Sequence[str] | None]) -> list[str | None]:
    """Return for each fact what became of its anchors, or None if they are as they were."""
    return await to_thread.run_sync(read_changes, told) if any(told) else [None] * len(told)


async def mark_changes(facts: Sequence[dict[str, Any]]) -> None:
    """Add `change` to each fact of an entity that speaks of a file which is not as it was."""
    changes = await find_changes([fact.get("anchors") for fact in facts])
    for fact, change in zip(facts, changes, strict=True):
        fact.update({"change": change} if change else {})
