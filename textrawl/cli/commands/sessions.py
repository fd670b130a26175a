"""The command `sessions`: what hooks gave the models of this machine."""

from typing import Annotated, Any
from uuid import UUID

import typer

from textrawl.cli.console import show_table, write_error, write_instant, write_json, write_message
from textrawl.cli.inputs import AsJson, argument
from textrawl.cli.questions import ask
from textrawl.environment import read_sources
from textrawl.hooks.answers import Answers, read_answers
from textrawl.hooks.sessions import Given, SessionState, read_sessions
from textrawl.host.entrance import choose_address
from textrawl.memory.connector import FetchedFact

_SHORT = 8  # characters of the id of a session, or of a fact
_FACT = ("id", "entity", "fact", "author", "origin", "repository", "used")

_Id = Annotated[str | None, argument("[ID]", "The session: the first characters of its id.")]


def sessions(session: _Id = None, as_json: AsJson = False) -> None:
    """Show which facts hooks gave the models of your sessions of the last week.

    Without an id, list the sessions, the newest first. With an id, show each fact that a model got
    without asking, at which event, and with how many tokens. `used` is yes if a later answer of the
    agent quotes the fact or its id, as far as the transcript of the client tells.
    """
    found = read_sessions(choose_address(read_sources()).folder)
    if session is None:
        rows = [_describe(name, state) for name, state in found.items() if state.given]
        if as_json:
            write_json(rows)
        elif rows:
            show_table([*rows[0]], [[str(cell) for cell in row.values()] for row in rows])
        else:
            write_error("No hook gave a model anything in the last week")
        return
    chosen = [state for name, state in found.items() if name.startswith(session)]
    if len(chosen) != 1:
        raise typer.BadParameter("no session, or several, begin like this", param_hint="ID")
    answers = read_answers(chosen[0].transcript)
    events: list[dict[str, Any]] = [
        {
            "event": given.kind,
            "at": write_instant(given.time, ""),
            "tokens": given.tokens,
            "facts": [_describe_fact(fact, given, answers) for fact in given.facts],
        }
        for given in chosen[0].given
    ]
    if as_json:
        write_json(events)
        return
    for event in events:
        write_message(f"{event['event']} at {event['at']}, {event['tokens']} tokens")
        show_table(_FACT, [[*fact.values()] for fact in event["facts"]])


def _describe(name: str, state: SessionState) -> dict[str, object]:
    return {
        "session": name[:_SHORT],
        "began": write_instant(state.given[0].time, ""),
        "client": state.client,
        "project": state.project,
        "prompts": state.turns,
        "facts": sum(len(given.facts) for given in state.given),
        "tokens": sum(given.tokens for given in state.given),
    }


def _describe_fact(fact: str, given: Given, answers: Answers) -> dict[str, str]:
    """Return a fact. One that is gone has only its id."""
    row = ask("get_fact", FetchedFact, fact=UUID(fact))
    values = ("",) * 6
    if row:
        values = row.entity_name, row.content, row.author, row.origin, row.repository or ""
        values = *values, answers.tell_use(given, fact, row.content)
    return dict(zip(_FACT, (fact[:_SHORT], *values), strict=True))
