"""Programs that wait little for a server have its tools in their first turn, start after start."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from anyio.to_thread import run_sync

from tests.clients.catalogue import AI_SDK, CODEX, COPILOT_CLI
from tests.clients.observing import play
from tests.clients.programs.program import Program, Server
from tests.clients.script import FIVE
from tests.clients.snippets import provide, write_snippet
from tests.conftest import TOKEN
from tests.support.folders import open_folder

pytestmark = [
    pytest.mark.anyio, pytest.mark.clients, pytest.mark.timeout(1800),
    pytest.mark.usefixtures("uncovered"),
]  # fmt: skip

STARTS = [(AI_SDK, 20), (COPILOT_CLI, 20), (CODEX, 10)]


@pytest.fixture(params=["warm", "cold"])
def server(request: pytest.FixtureRequest, database_url: str) -> Iterator[Server]:
    """A server whose Postgres runs, and one that makes and starts its own each time."""
    if request.param == "warm":
        yield write_snippet({"DATABASE_URL": database_url, "ACCESS_TOKEN": TOKEN})
    else:
        with open_folder() as folder:
            yield write_snippet({"DATA_DIR": str(folder)})


@pytest.mark.parametrize(("program", "times"), STARTS, ids=[program.name for program, _ in STARTS])
async def test_every_start_has_the_five_tools_in_the_first_turn(
    program: Program, times: int, server: Server, tmp_path: Path
) -> None:
    installed = await run_sync(provide, program)

    starts = [
        await run_sync(play, program, installed, server, tmp_path / str(number), ())
        for number in range(times)
    ]

    missed = [start.output for start in starts if start.first != frozenset(FIVE)]
    assert missed == []


async def test_codex_does_not_need_required_after_a_first_start(
    database_url: str, tmp_path: Path
) -> None:
    """Without it, Codex waits one second for the tools of a server."""
    installed = await run_sync(provide, CODEX)
    with open_folder() as folder:
        server = write_snippet(
            {"DATABASE_URL": database_url, "ACCESS_TOKEN": TOKEN, "DATA_DIR": str(folder / "data")}
        )
        first = await run_sync(play, CODEX, installed, server, tmp_path / "first", ())
        optional = replace(CODEX, required=False)
        starts = [
            await run_sync(play, optional, installed, server, tmp_path / str(number), ())
            for number in range(10)
        ]

    missed = [start.output for start in (first, *starts) if start.first != frozenset(FIVE)]
    assert missed == []
