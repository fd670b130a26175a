"""Share: a fact or an entity for the people of another space, after a page that says what goes."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from starlette.responses import Response

from textrawl.errors import ArgumentInvalid
from textrawl.explorer.arguments import read_name
from textrawl.explorer.requests import PageRequest
from textrawl.memory.curation import CurationOperations, Share, SharedRow
from textrawl.values.text import clean_name


async def plan(visit: PageRequest) -> Response:
    """Ask for the space that gets the facts. If it is given, show what would go there."""
    visit.require_writable()
    visit.principal.require("read")
    wanted = _read_share(visit.request.query_params)
    planned = await _share(visit, wanted, dry_run=True) if wanted.target else None
    return _show(visit, wanted, planned, step="plan" if planned else "ask")


async def share(visit: PageRequest) -> Response:
    """Copy or move the facts, as the plan said, and show where they are now."""
    visit.principal.require("read")
    wanted = _read_share(visit.form)
    if not wanted.target:
        raise ArgumentInvalid("Go back, and choose a space", title="No space is chosen")
    return _show(visit, wanted, await _share(visit, wanted, dry_run=False), step="done")


async def _share(visit: PageRequest, wanted: Share, *, dry_run: bool) -> SharedRow:
    return await CurationOperations(visit.site.store).share(wanted, visit.caller, dry_run=dry_run)


def _read_share(given: Mapping[str, str]) -> Share:
    """Return what an address or a form asks for. The spaces are not `space`, which pins a visit."""
    fact, source = clean_name(given.get("fact", "")), clean_name(given.get("source", ""))
    if not source:
        raise ArgumentInvalid("Go back to the fact, and share it", title="The space is missing")
    return Share(
        read_name(given.get("name", "")),
        clean_name(given.get("target", "")),
        source,
        [fact] if fact else None,
        move=bool(given.get("move")),
        ended=bool(given.get("ended")),
    )


def _show(visit: PageRequest, wanted: Share, row: SharedRow | None, *, step: str) -> Response:
    values: dict[str, Any] = {
        **asdict(wanted),
        "fact": wanted.facts[0] if wanted.facts else "",
        "row": row,
        "step": step,
        "hidden": max(row.shared_facts + (row.duplicate_facts or 0) - len(row.sample or []), 0)
        if row
        else 0,
    }
    return visit.show("share.html", values)
