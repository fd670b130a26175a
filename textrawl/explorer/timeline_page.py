"""The timeline: what was said and what ended, by day and author. A stream says what is new."""

import json
from collections import Counter
from collections.abc import AsyncGenerator, Sequence
from contextlib import suppress
from itertools import count, groupby
from operator import attrgetter
from uuid import UUID

import anyio
from starlette.responses import Response, StreamingResponse

from textrawl.errors import TextrawlError
from textrawl.explorer.arguments import read_moment, read_start
from textrawl.explorer.cookies import SESSION
from textrawl.explorer.requests import PageRequest
from textrawl.explorer.site import Record
from textrawl.memory.watches import Watch
from textrawl.values.text import clean_name
from textrawl.values.times import write_day

_PAGE = 50
_COLUMNS = "at change space entity_name content author_name client tool reason instead id"


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
    return visit.show_list("timeline.html", {**values, **given}, rows[:_PAGE], _COLUMNS)


def _read_id(text: str) -> UUID | None:
    with suppress(ValueError):
        return UUID(text)
    return None


def _group(rows: Sequence[Record]) -> list[tuple[str, list[list[Record]]]]:
    """Return the entries by day in UTC, and those of a day in groups that have one origin."""
    find_origin = attrgetter("author_name", "client", "tool")
    return [
        (day, [list(group) for _, group in groupby(each, find_origin)])
        for day, each in groupby(rows, lambda row: write_day(row.at))
    ]


_MOST_STREAMS, _MOST_OF_ONE = 200, 10  # streams of this server and of one person
_PAUSE = 1.5  # seconds after which the session is checked
_SILENCE = 10  # pauses after which a proxy sees a sign of life
_BEGIN = "retry: 10000\n\n"  # milliseconds until a browser asks again after a stream has ended
_HEADERS = {"cache-control": "no-store, no-transform", "x-accel-buffering": "no"}

_streams = Counter[str]()


class _Bell:
    """Wakes a stream when something has changed, or when it has to end."""

    def __init__(self) -> None:
        self._event, self.ended = anyio.Event(), False

    async def ring(self) -> None:
        self._event.set()

    def end(self) -> None:
        self.ended = True
        self._event.set()

    async def wait(self) -> bool:
        """Return whether something has changed. Otherwise the time is over."""
        with anyio.move_on_after(_PAUSE):
            await self._event.wait()
        rang, self._event = self._event.is_set(), anyio.Event()
        return rang


async def follow(visit: PageRequest) -> Response:
    """Stream the numbers of new facts. Without a right or a place, answer 204: do not ask again."""
    actor, watches = visit.principal.actor, visit.site.watches
    full = _streams.total() >= _MOST_STREAMS or _streams[actor] >= _MOST_OF_ONE
    if watches is None or full or not visit.principal.readable:
        return Response(status_code=204)
    try:
        cursor, _ = await _count(visit, None)
    except TextrawlError:  # such as a memory of several cells, whose new facts nobody can count
        return Response(status_code=204)
    return StreamingResponse(
        _stream(visit, cursor), media_type="text/event-stream", headers=_HEADERS
    )


async def _stream(visit: PageRequest, cursor: str) -> AsyncGenerator[str]:
    bell, watches, actor = _Bell(), visit.site.watches, visit.principal.actor
    assert watches is not None  # noqa: S101 - checked by the only caller
    reads = visit.caller.watching
    wanted = {Watch(*reads, digest=space.name): bell.ring for space in visit.principal.readable}
    _streams[actor] += 1
    remove = await watches.add(wanted)
    watches.endings.add(bell.end)
    try:
        yield _BEGIN
        changed = True  # perhaps, between the first count and the watch
        for number in count(1):
            if bell.ended:
                return
            cursor, new = await _count(visit, cursor) if changed else (cursor, {})
            if not await _is_signed_in(visit):  # asked last: what is new may be newer than the end
                return
            if new or number % _SILENCE == 0:
                yield f"data: {json.dumps(new)}\n\n" if new else ":\n\n"
            changed = await bell.wait()
    except TextrawlError:
        return  # the browser asks again, and then the page says what is wrong
    finally:
        remove()
        watches.endings.discard(bell.end)
        _streams[actor] -= 1


async def _is_signed_in(visit: PageRequest) -> bool:
    identity = SESSION.read(visit.request)
    if not identity or not visit.site.sessions.has(identity):
        return False
    return await visit.site.directory.find(visit.principal.credential) is not None


async def _count(visit: PageRequest, after: str | None) -> tuple[str, dict[str, int]]:
    """Return the next cursor, and the number of new facts of each author."""
    rows = await visit.call("new_facts", Record, after=after)
    return rows[0].cursor, {row.author: row.facts for row in rows if row.author}
