"""A cluster under attack: workers and the coordinator are killed while clients write."""

import logging
import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import anyio
import httpx2
import pytest

from benchmarks.chaos.servers import PATIENCE, HttpServer, PipeServer, Place
from tests.cluster.chaos.attack import Attack, Outcome, Plan
from tests.cluster.chaos.clients import Ledger, Reader, Writer
from tests.cluster.chaos.verdict import find_remains, judge
from tests.support.cluster import ClusterMemory
from tests.support.folders import open_folder
from tests.support.listening import find_port, wait_for_answer
from textrawl.access.access_token import hash_token, make_token
from textrawl.embedded.postmaster import OWNER
from textrawl.settings import read_foreign_environment

_log = logging.getLogger(__name__)
logging.getLogger("httpx2").setLevel(logging.WARNING)

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("uncovered"), pytest.mark.timeout(3000)]

_SMALL = Plan(
    worker_kills=2, interrupted_moves=1, coordinator_kills=1, moves=1, isolations=0, writes=500
)
_FULL = Plan(
    worker_kills=20, interrupted_moves=8, coordinator_kills=3, moves=6, isolations=2, writes=5_000
)
PLAN = _FULL if os.environ.get("TEXTRAWL_CHAOS") == "full" else _SMALL
_SPACES = [f"team-{number}" for number in range(8)]
_ACTORS = ("ana", "ben")
_PIPES = 2


@pytest.fixture
def folder() -> Iterator[Path]:
    with open_folder() as folder:
        yield folder


class Crowd:
    """Two actors with all spaces, over one server with HTTP and two over stdio."""

    def __init__(self, memory: ClusterMemory, folder: Path) -> None:
        self.memory, self.ledger = memory, Ledger()
        self.tokens = {actor: make_token() for actor in _ACTORS}
        self.pipe_tokens = {name: make_token() for name in _SPACES[:_PIPES]}
        self.spaces = self._enrol()
        self._environment = read_foreign_environment() | {
            "DATABASE_URL": memory.dsn(),
            "DATA_DIR": str(folder / "data"),
            "RATE_LIMIT": "0",
            # A busy machine needs some time to build a cell. An HTTP response may take 30 s.
            "DATABASE_TIMEOUT": "20",
            "LOG_LEVEL": "ERROR",
            "EMBEDDING_PROVIDER": "local",
            "PYTHONPATH": str(Path(__file__).parents[2]),
        }
        self._folder = folder
        self.http = HttpServer(self._place(self.tokens["ana"]))
        self.pipes = {
            name: PipeServer(self._place(token)) for name, token in self.pipe_tokens.items()
        }

    def _place(self, token: str) -> Place:
        own = {"ACCESS_TOKEN": token}
        return Place(self._environment | own, self._folder, token, find_port())

    def _enrol(self) -> dict[int, str]:
        scopes = ["read", "write", "forget"]
        with self.memory.open(OWNER) as owner:
            owner.execute("set search_path = textrawl, public")
            owner.execute("select create_space(name) from unnest(%s::text[]) name", (_SPACES,))
            create = "select create_token(%s, %s, actor => %s, space => %s, scopes => %s)"
            for actor, token in self.tokens.items():
                owner.execute(create, (hash_token(token), "trl_", actor, _SPACES[0], scopes))
                for name in _SPACES[1:]:
                    owner.execute("select grant_access(%s, %s, %s)", (actor, name, scopes))
            for name, token in self.pipe_tokens.items():
                owner.execute(create, (hash_token(token), "trl_", f"pipe {name}", name, scopes))
            rows = owner.execute("select id, name from space where name = any(%s)", (_SPACES,))
            spaces = dict(rows.fetchall())
        self.memory.send_directory()
        return spaces

    def build_clients(self, http: httpx2.AsyncClient) -> list[Writer | Reader]:
        clients: list[Writer | Reader] = []
        for number, space in enumerate(_SPACES):
            token = self.tokens[_ACTORS[number % len(_ACTORS)]]

            send = partial(self.http.call, http, path=f"/mcp/{space}", token=token)
            clients += [
                Writer("writer", space, send, self.ledger),
                Reader("reader", space, send, self.ledger),
            ]
        return clients + [
            Writer("pipe", name, pipe.call, self.ledger) for name, pipe in self.pipes.items()
        ]

    async def live(self, attack: Attack, plan: Plan) -> None:
        """Write and read, while the cluster is attacked."""
        limits = httpx2.Limits(max_connections=100)
        async with (
            httpx2.AsyncClient(timeout=PATIENCE, limits=limits) as http,
            anyio.create_task_group() as servers,
        ):
            servers.start_soon(self.http.supervise)
            await wait_for_answer(f"http://127.0.0.1:{self.http.place.port}/healthz")
            clients = self.build_clients(http)
            async with anyio.create_task_group() as group:
                for client in clients:
                    group.start_soon(client.run)
                await attack.run(plan)
                for client in clients:
                    client.stopping = True
            for server in (self.http, *self.pipes.values()):
                assert await server.end() == 0


def report(ledger: Ledger, outcome: Outcome) -> None:
    """Log the figures, also if the test fails."""
    _log.info("%d acknowledged, %d repeated", len(ledger.acknowledged), ledger.repeated)
    _log.info("%d searches, longest calls %s", ledger.searches, ledger.longest)
    _log.info("recoveries %s, interrupted %s", outcome.recoveries, outcome.interrupted)
    for text, number in ledger.errors.most_common():
        _log.info("%d times %s", number, text)
    for error in ledger.unexcused:
        _log.info("unexcused: %s", error)


async def test_nothing_acknowledged_is_lost_and_only_spaces_of_a_killed_server_are_away(
    memory: ClusterMemory, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    crowd = Crowd(memory, folder)
    caplog.set_level(logging.INFO, __name__)
    attack = Attack(memory, crowd.spaces, crowd.ledger)
    try:
        await crowd.live(attack, PLAN)
    finally:
        report(crowd.ledger, attack.outcome)
    ledger, verdict = crowd.ledger, judge(memory, crowd.ledger)
    log = (folder / "servers.log").read_text()
    assert verdict.is_clean, verdict
    assert ledger.unexcused == []
    assert ledger.missed == []
    assert len(ledger.acknowledged) >= PLAN.writes
    assert "Traceback" not in log
    assert find_remains(memory) == []
