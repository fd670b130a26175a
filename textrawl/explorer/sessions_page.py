"""The sessions of this machine: which facts hooks gave the models, at which event."""

from collections.abc import Mapping
from uuid import UUID

from anyio import to_thread
from starlette.responses import Response

from textrawl.errors import ItemNotFound
from textrawl.explorer.requests import PageRequest
from textrawl.hooks.answers import read_answers
from textrawl.hooks.sessions import Given, SessionState, read_sessions
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
    facts = {fact: await _find(visit, fact) for fact in given}
    values = {
        "sessions": found,
        "session": session,
        "facts": facts,
        "used": await to_thread.run_sync(_find_used, session, facts) if session else (),
        "own_machine": visit.site.own_machine,
    }
    return visit.show("sessions.html", values)


def _find_used(
    session: SessionState, facts: Mapping[str, FetchedFact | None]
) -> set[tuple[Given, str]]:
    """Return the facts of which an answer tells that the model used them, with their events."""
    answers = read_answers(session.transcript)
    return {
        (given, fact)
        for given in session.given
        for fact in given.facts
        if (row := facts[fact]) and answers.tell_use(given, fact, row.content) == "yes"
    }


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
