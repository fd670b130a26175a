"""Merges: two entities that are one become one, and two again.

Each has two steps. The first shows what will change, and the second changes it.
"""

from starlette.responses import Response

from textrawl.explorer.arguments import read_name
from textrawl.explorer.names_page import find_target
from textrawl.explorer.requests import PageRequest
from textrawl.memory.entities import EntityOperations
from textrawl.values.text import NAME_LENGTH, clean_name

LEAST_SCORE = 0.3  # lower than in the answers of tools: people see at once that a pair is wrong
_CANDIDATES = 10
_MOST_LATER = 50  # facts since a merge that are shown


async def plan(visit: PageRequest) -> Response:
    """Show what a merge would change. Without the other entity, let the person choose it."""
    target = await find_target(visit, visit.read("name"))
    other = clean_name(visit.read("other"))
    values: dict[str, object] = {"entity": target.entity, "longest": NAME_LENGTH}
    operations = EntityOperations(visit.site.store)
    if not other:
        pairs = await operations.find_same(
            target.caller, entity=target.entity.name, least_score=LEAST_SCORE, limit=_CANDIDATES
        )
        return visit.show("merge.html", {**values, "plan": None, "pairs": pairs})
    row = await operations.merge(target.entity.name, read_name(other), target.caller, dry_run=True)
    hidden = row.duplicate_facts + row.duplicate_relations - len(row.collapsing)
    return visit.show("merge.html", {**values, "plan": row, "hidden": hidden})


async def merge(visit: PageRequest) -> Response:
    """Merge two entities. The form is the confirmation of the person."""
    target = await find_target(visit, visit.form.get("name", ""))
    other = read_name(visit.form.get("other", ""))
    visit.require_confirmation()
    operations = EntityOperations(visit.site.store)
    row = await operations.merge(target.entity.name, other, target.caller, dry_run=False)
    return visit.report("Merged.", target.entity.space, entity=row.kept_name)


async def plan_split(visit: PageRequest) -> Response:
    """Show what the split of a merge would change."""
    target = await find_target(visit, visit.read("name"))
    name = read_name(visit.read("name"))
    operations = EntityOperations(visit.site.store)
    row = await operations.split(name, target.caller, dry_run=True)
    values = {
        "entity": target.entity,
        "name": name,
        "plan": row,
        "later": row.later[:_MOST_LATER],
        "hidden": max(len(row.later) - _MOST_LATER, 0),
    }
    return visit.show("split.html", values)


async def split(visit: PageRequest) -> Response:
    """Split a merge. The form is the confirmation of the person."""
    target = await find_target(visit, visit.form.get("name", ""))
    name = read_name(visit.form.get("name", ""))
    visit.require_confirmation()
    operations = EntityOperations(visit.site.store)
    row = await operations.split(name, target.caller, dry_run=False)
    return visit.report("Split.", target.entity.space, entity=row.merged_name)
