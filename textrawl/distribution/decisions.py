"""Decisions about proposals of several cells, which could not be made all or nothing."""

from collections.abc import Sequence
from typing import cast

from textrawl.distribution.planning import Arguments, Visit
from textrawl.distribution.visits import Query, Visits
from textrawl.errors import ArgumentInvalid

_FIND = Query("plan_decision", ("space_name",), writes=False)


async def refuse_split(visits: Visits, plan: Sequence[Visit], arguments: Arguments) -> None:
    """Raise ArgumentInvalid if all proposals are known, but not in one cell.

    No cell knows all of them, so each has answered that some of them are unknown.
    """
    proposals = cast("list[str] | None", arguments.get("proposals"))
    if proposals is None or min(len(proposals), len(plan)) <= 1:
        return
    spaces = list[str]()
    for proposal in proposals:
        found = await _find_spaces(visits, plan, proposal, arguments.get("credential"))
        if not found:
            return
        spaces += found
    names = ", ".join(sorted(set(spaces)))
    raise ArgumentInvalid(
        f"These proposals are of spaces in different cells of the cluster ({names}), and cannot be "
        "decided all or nothing: decide those of one space at a time; nothing was changed",
        title="Not possible between these spaces",
    )


async def _find_spaces(
    visits: Visits, plan: Sequence[Visit], proposal: str, credential: object
) -> list[str]:
    given = {"proposals": [proposal], "credential": credential}
    answers = await visits.gather(_FIND, [Visit(visit.shard, given) for visit in plan])
    return [name for answer in answers for (name,) in answer.rows]
