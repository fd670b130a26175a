"""Downloads of a space, and how the owner of the memory makes backups."""

from collections.abc import AsyncGenerator

from starlette.responses import Response, StreamingResponse

from textrawl.explorer.requests import PageRequest
from textrawl.explorer.site import Record
from textrawl.values.text import escape_json


async def show(visit: PageRequest) -> Response:
    """Show which spaces can be downloaded, or send the facts of one.

    On a server, only administrators of a space get all of it at once.
    """
    scope = "read" if visit.site.own_machine else "admin"
    if visit.read("download"):
        visit.require_space()
        visit.principal.require(scope)
        pages = _read_pages(visit)
        first = await anext(pages)  # an error comes before the response begins
        return StreamingResponse(
            _send(first, pages),
            media_type="application/x-ndjson",
            headers={"content-disposition": 'attachment; filename="textrawl-facts.jsonl"'},
        )
    spaces = [space.name for space in visit.principal.readable if scope in space.scopes]
    return visit.show("export.html", {"offered": spaces, "own_machine": visit.site.own_machine})


async def _send(first: bytes, pages: AsyncGenerator[bytes]) -> AsyncGenerator[bytes]:
    yield first
    async for page in pages:
        yield page


async def _read_pages(visit: PageRequest) -> AsyncGenerator[bytes]:
    last: int | None = None
    while True:
        rows = await visit.site.store.database.call(
            "download_facts", Record, after=last, **visit.caller.reading_home
        )
        # A program that takes the file for a page must find no markup in it.
        lines = (escape_json(row.line).replace("<", "\\u003c") for row in rows)
        yield "".join(f"{line}\n" for line in lines).encode()
        if not rows:
            return
        last = rows[-1].last
