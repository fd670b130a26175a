"""`textrawl import` finds the sessions that real programs wrote, and stores what was said once."""

import re
from datetime import UTC, datetime
from pathlib import Path

import psycopg
import pytest

from tests.clients.catalogue import QWEN_CODE
from tests.clients.connecting import CASES
from tests.clients.observing import play
from tests.clients.programs.program import PROMPT
from tests.clients.script import DONE, SCRIPT
from tests.clients.snippets import provide, write_snippet
from tests.conftest import ACTOR
from tests.support.commands import Run, name_memory, run

__all__ = ["run"]

pytestmark = [
    pytest.mark.clients, pytest.mark.timeout(900), pytest.mark.usefixtures("uncovered"),
]  # fmt: skip

PROGRAMS = {case.name: case.program for case in CASES if case.program is not QWEN_CODE}
_TURN = re.compile(r"^(User|Assistant) \((\S+) \S+\):\n(.+)$", re.MULTILINE)


@pytest.mark.parametrize("client", PROGRAMS)
def test_a_session_that_a_program_wrote_is_found_and_imported_once(
    client: str, run: Run, database_url: str, owner: psycopg.Connection, tmp_path: Path
) -> None:
    program, home = PROGRAMS[client], tmp_path / "home"
    memory = name_memory(database_url, EMBEDDING_PROVIDER="local")
    owner.execute("select create_space('handbook', tier => 'personal')")
    owner.execute("select grant_access(%s, 'handbook', '{read,write}')", (ACTOR,))
    days = {str(datetime.now(UTC).date())}
    record = play(program, provide(program), write_snippet(memory), home, SCRIPT[:1])
    days.add(str(datetime.now(UTC).date()))

    first = run("import", "--from", client, HOME=home, **memory)
    again = run("import", "--from", client, HOME=home, **memory)

    assert (first.code, again.code) == (0, 0), (record.output, first, again)
    assert ": 1 added. " in first.out, first
    assert ": 1 unchanged.\n" in again.out, again
    [(text,)] = owner.execute("select content from document_version").fetchall()
    turns = _TURN.findall(text)
    assert [(who, said.strip('"')) for who, _, said in turns] == [
        ("User", PROMPT), ("Assistant", DONE)
    ], text  # fmt: skip
    assert {day for _, day, _ in turns} <= days
