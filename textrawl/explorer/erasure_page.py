"""The erasure of a person: the plan, the deed, and the receipts."""

import json
from collections.abc import Sequence
from itertools import groupby
from typing import cast, get_args

from starlette.responses import Response

from textrawl.errors import ArgumentInvalid
from textrawl.explorer.arguments import read_name, read_number
from textrawl.explorer.requests import CLIENT, PageRequest
from textrawl.memory.erasure import Erasure, ErasurePlanRow, Keep, Person
from textrawl.values.text import clean_name


async def plan(visit: PageRequest) -> Response:
    """Show what an erasure would delete and redact, and what stays, or ask for a name."""
    erasure = _open_erasure(visit)
    person = _read_person(visit.read("name"), visit.read("also"), visit.read("keep"))
    return _show_plan(visit, person, await erasure.plan(person) if person.name else [])


async def erase(visit: PageRequest) -> Response:
    """Erase a person as the plan said, and show the receipts.

    If the plan of a space is different now, erase nothing, and say so.
    """
    form = visit.form
    person = _read_person(form.get("name", ""), form.get("also", ""), form.get("keep", ""))
    pairs = (pair.partition(":") for pair in form.get("planned", "").split())
    planned = {read_number(s, least=0, most=2**31 - 1, default=0): shape for s, _, shape in pairs}
    done = await _open_erasure(visit).erase(person, planned)
    content = {"textrawl": "receipts", "receipts": [row.receipt for row in done]}
    values = {"done": done, "receipts": json.dumps(content, indent=1)}
    return visit.show("erased.html", values)


def _open_erasure(visit: PageRequest) -> Erasure:
    """Return the erasure of the spaces that the person administers. Raises ScopeMissing."""
    principal = visit.principal
    principal.require("admin", anywhere=True)
    space = principal.home if principal.pinned else None
    return Erasure(visit.site.store.database, principal.credential, space, CLIENT)


def _read_person(name: str, also: str, keep: str) -> Person:
    if keep not in ("", *get_args(Keep)):
        raise ArgumentInvalid("Choose it from the list", title="This cannot be kept")
    return Person(
        read_name(name, "a person") if name else "",
        [one for part in also.split(",") if (one := clean_name(part))],
        cast("Keep | None", keep or None),
    )


def _show_plan(visit: PageRequest, person: Person, rows: Sequence[ErasurePlanRow]) -> Response:
    goes = [row for row in rows if row.action != "stay"]
    values = {
        "name": person.name,
        "also": ", ".join(person.also),
        "keep": person.keep or "",
        "plan": [(space, list(some)) for space, some in groupby(rows, lambda row: row.space_name)],
        "count": sum(row.rows for row in goes),
        "planned": " ".join({f"{row.space_id}:{row.fingerprint}": None for row in goes}),
    }
    return visit.show("erase.html", values)
