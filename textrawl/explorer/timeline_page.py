"""The timeline: what was said and what ended, by day, with who changed it."""

from collections.abc import Sequence
from contextlib import suppress
from itertools import groupby
from operator import attrgetter
from uuid import UUID

from starlette.responses import Response

from textrawl.explorer.arguments import read_moment, read_start
from textrawl.explorer.requests import PageRequest
from textrawl.explorer.site import Record
from textrawl.values.text import clean_name
from textrawl.values.times import write_day

_PAGE = 50


async def show(visit: PageRequest) -> Response:
    """Show what happened in the spaces that the person can read, the newest first.

    `before` and `last` are the time and the id of the last entry on the page before. `ended` says
    that this entry was not the beginning of its fact.
    """
    given = {name: clean_name(visit.read(name)) for name in ("author", "entity")}
    rows = await visit.call(
        "space_timeline",
        Record,
        **{name: text or None for name, text in given.items()},
        since=read_start(visit.read("since")),
        until=read_moment(visit.read("before") or visit.read("until")),
        after_id=_read_id(visit.read("last")),
        after_end=bool(visit.read("ended")),
        max_rows=_PAGE + 1,
    )
    values = {
        "days": _group(rows[:_PAGE]),
        "end": rows[_PAGE - 1] if len(rows) > _PAGE else None,
        "later": bool(visit.read("before")),
        **{name: visit.read(name) for name in ("since", "until")},
    }
    return visit.show("timeline.html", {**values, **given})


def _read_id(text: str) -> UUID | None:
    with suppress(ValueError):
        return UUID(text)
    return None


def _group(rows: Sequence[Record]) -> list[tuple[str, list[list[Record]]]]:
    """Return the entries by day in UTC, and those of a day in groups that have one origin."""
    return [
        (
            day,
            [
                list(group)
                for _, group in groupby(each, attrgetter("author_name", "client", "tool"))
            ],
        )
        for day, each in groupby(rows, lambda row: write_day(row.at))
    ]
