"""Real programs play the script on a real server: they show what benchmarks/clients.md says."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest
from anyio.to_thread import run_sync

from tests.clients.catalogue import PROGRAMS, QUICK
from tests.clients.matrix import name_run
from tests.clients.observing import Record, play
from tests.clients.programs.program import Program, Server
from tests.clients.script import FIVE, SCRIPT
from tests.clients.snippets import provide, write_snippet
from tests.conftest import TOKEN
from tests.support.listening import listen
from textrawl import Settings

pytestmark = [
    pytest.mark.anyio, pytest.mark.clients, pytest.mark.timeout(900),
    pytest.mark.usefixtures("uncovered"),
]  # fmt: skip


def list_runs() -> list[Any]:
    """Return every program over each transport; three over stdio are in CI as well."""
    return [
        pytest.param(
            (program, transport), id=f"{program.name}, {transport}",
            marks=[pytest.mark.slow] if program in QUICK and transport == "stdio" else [],
        )
        for program in PROGRAMS
        for transport in program.transports
    ]  # fmt: skip


@pytest.fixture
def warm(database_url: str) -> Server:
    """A server over stdio, whose memory is in a Postgres that runs."""
    return write_snippet({"DATABASE_URL": database_url, "ACCESS_TOKEN": TOKEN})


@pytest.fixture(params=list_runs())
def run(request: pytest.FixtureRequest) -> tuple[Program, str]:
    """A program and a transport, which the matrix is to name."""
    program, transport = request.param
    name_run(request.node, program, transport)
    return program, transport


async def test_a_program_uses_the_five_tools_and_shows_what_the_page_says(
    run: tuple[Program, str],
    warm: Server,
    settings: Callable[..., Settings],
    owner: psycopg.Connection,
    tmp_path: Path,
) -> None:
    program, transport = run
    installed = await run_sync(provide, program)

    if transport == "stdio":
        record = await run_sync(play, program, installed, warm, tmp_path / "home")
    else:
        async with listen(settings(structured_content="off")) as address:
            server = Server("", (), {}, address.mcp)
            record = await run_sync(play, program, installed, server, tmp_path / "home")

    assert [*record.results] == [step.name for step in SCRIPT], record.output
    assert "Missing query" in record.results["mistake"]
    assert describe(record) == expect(program, transport)
    kept = {"Ada Berg", "Doomed"} if program.user == "says no by itself" else {"Ada Berg"}
    assert {name for (name,) in owner.execute("select name from entity")} == kept


def describe(record: Record) -> dict[str, object]:
    """What a program showed."""
    return {
        "first": record.first, "deferred": record.deferred, "shows": record.shows,
        "instructions": record.instructions, "user": record.user,
    }  # fmt: skip


def expect(program: Program, transport: str) -> dict[str, object]:
    """What its module says: whole answers over stdio, and text alone over HTTP."""
    shows = "both" if program.shows == "program" else program.shows
    return {
        "first": frozenset(FIVE), "deferred": program.deferred,
        "shows": shows if transport == "stdio" else "text",
        "instructions": program.instructions, "user": program.user,
    }  # fmt: skip
