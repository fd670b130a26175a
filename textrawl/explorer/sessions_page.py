"""The sessions of this machine: which facts hooks gave the models, at which event."""

from uuid import UUID

from anyio import to_thread
from starlette.responses import Response

from textrawl.errors import ItemNotFound
from textrawl.explorer.requests import PageRequest
from textrawl.hooks.answers import read_answers
from textrawl.hooks.sessions import SessionState, read_sessions
from textrawl.memory.connector import FetchedFact
from textrawl_client.unix_socket import build_address


async def show(visit: PageRequest) -> Response:
    """Show the sessions of the last week, or what the model of one session got.

    The files of the sessions belong to the person at this machine, so a server shows none.
    """
    found = await _read(visit)
    session = found.get(visit.read("id"))
    if found and visit.read("id") and session is None:
        raise ItemNotFound
    given = {fact for event in session.given for fact in event.facts} if session else ()
    values = {
        "sessions": found,
        "session": session,
        "facts": {fact: await _find(visit, fact) for fact in given},
        "answers": await to_thread.run_sync(read_answers, session.transcript) if session else None,
        "own_machine": visit.site.own_machine,
    }
    return visit.show("sessions.html", values)


async def _read(visit: PageRequest) -> dict[str, SessionState]:
    if not visit.site.own_machine:
        return {}
    folder = build_address(visit.site.settings.data_dir, {}).folder
    found = await to_thread.run_sync(read_sessions, folder)
    return {name: state for name, state in found.items() if state.given}


async def _find(visit: PageRequest, fact: str) -> FetchedFact | None:
    """Return a fact, or None if it is gone or the person cannot read it."""
    rows = await visit.call("fetch_fact", FetchedFact, fact=UUID(fact))
    return rows[0] if rows else None
