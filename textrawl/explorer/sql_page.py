"""The page for SQL: one statement that only reads, with the rights of the person."""

from collections.abc import Sequence
from functools import partial

import anyio
from starlette.responses import Response

from textrawl.errors import ArgumentInvalid, ServerBusy
from textrawl.explorer.requests import PageRequest
from textrawl.postgres.sql_files import describe_columns
from textrawl.postgres.statements import (
    MOST_ROWS,
    SECONDS,
    StatementRow,
    read_rows,
)
from textrawl.scheduling import run_beside

_LONGEST = 8000  # characters of a statement, which is part of the address
_SHOWN, _WIDEST = 100, 300  # rows of the page, and characters of a cell: files have all


async def show(visit: PageRequest) -> Response:
    """Show the field with the views beside it, and the rows of the statement of the address.

    A statement ends when the browser leaves. A person can run one at a time.
    """
    statement = visit.read("statement").strip()
    rows: Sequence[StatementRow] = ()
    fault = None
    try:
        rows = await _run(visit, statement) if statement else rows
    except (ArgumentInvalid, ServerBusy) as error:
        fault = error
    shown = [row for row in rows if not row.more]
    values = {
        "statement": statement,
        "fault": fault,
        "names": shown[0].names if shown else [],
        "rows": [[_cut(cell) for cell in row.cells] for row in shown[:_SHOWN]],
        "found": len(shown),
        "more": len(rows) > len(shown),
        "most": MOST_ROWS,
        "seconds": SECONDS,
        "longest": _LONGEST,
        "views": describe_columns(),
    }
    if fault or not statement:
        status = 503 if isinstance(fault, ServerBusy) else 400 if fault else 200
        return visit.show("sql.html", values, status)
    table = [values["names"], *(row.cells for row in shown)]
    lines = f"[{','.join(row.line for row in shown)}]"
    return visit.show_table("sql.html", values, table, lines)


async def _run(visit: PageRequest, statement: str) -> Sequence[StatementRow]:
    """Return the rows of a statement, or none if the browser leaves.

    Raises ArgumentInvalid, ServerBusy.
    """
    principal, running = visit.principal, visit.site.running
    if principal.credential is None:
        raise ArgumentInvalid("Run `textrawl psql`", title="There is no token to read with")
    if len(statement) > _LONGEST or "\0" in statement:
        raise ArgumentInvalid(f"Use at most {_LONGEST:,} characters", title="It cannot be run")
    if principal.actor in running:
        raise ServerBusy("Another statement of yours runs: wait until it ends")
    spaces = [space.id for space in principal.spaces if "read" in space.scopes]
    running.add(principal.actor)
    try:
        with anyio.CancelScope() as scope:
            async with run_beside(partial(_end_with_browser, visit, scope)):
                database = visit.site.store.database
                return await read_rows(database, statement, principal.credential, spaces)
    finally:
        running.discard(principal.actor)
    return ()


async def _end_with_browser(visit: PageRequest, scope: anyio.CancelScope) -> None:
    while (await visit.request.receive())["type"] != "http.disconnect":
        pass
    scope.cancel()


def _cut(cell: str | None) -> str | None:
    return f"{cell[:_WIDEST]}…" if cell and len(cell) > _WIDEST else cell
