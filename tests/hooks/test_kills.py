"""The steps from a session to a summary are killed: each goes on, and nothing is doubled."""

import json
import random
import re
import signal
import subprocess
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import LiteralString

import pytest

from tests.hooks.week import Week, count_bullets, write_session
from tests.support.commands import Process, end_residents, wait_for
from tests.support.llm_server import LlmRequest

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("uncovered")]

NAMES = (
    "Grace", "Ivo", "Martha", "Quentin", "Zelda", "Umberto", "Philippa", "Dorothea", "Kasimir",
    "Bronwyn", "Xaver", "Henrike",
)  # fmt: skip
WAITING: LiteralString = "select count(*) > 0 from pg_locks where not granted"
SESSIONS: LiteralString = (
    "select count(*) from pg_stat_activity where datname = current_database()"
    " and pid <> pg_backend_pid()"
)
# Rows that say the same twice.
DOUBLES: tuple[LiteralString, ...] = (
    "select kind, entity_key, content_hash from proposal where decision is distinct from"
    " 'withdrawn' group by 1, 2, 3 having count(*) > 1",
    "select entity_id, content_hash from fact group by 1, 2 having count(*) > 1",
    "select from_entity, to_entity, relation_type from relation group by 1, 2, 3"
    " having count(*) > 1",
    "select entity_id, observation_id from summary_clause group by 1, 2 having count(*) > 1",
)


def find_or_sum_up(request: LlmRequest) -> str:
    """Answer as an LLM that finds where people live, or that repeats the facts of an entity."""
    if "numbered facts" in request.system:
        numbered = re.findall(r"^(\d+)\. (.*)$", request.user, re.MULTILINE)
        clauses = [{"text": text, "fact": int(number)} for number, text in numbered[:3]]
        return json.dumps({"clauses": clauses})
    people = re.findall(r"(\w+) lives in Lisbon", request.user)
    entities = [
        {"name": name, "type": "person", "observations": ["lives in Lisbon"]} for name in people
    ]
    return json.dumps({"entities": entities, "relations": []})


@dataclass
class Chain:
    """The steps in a memory. A kill comes while a step waits for a lock or the LLM, or anytime."""

    week: Week
    dice: random.Random
    anytime: bool = False
    kills: int = 0
    sessions: list[str] = field(default_factory=list[str])

    def go_through(self, name: str) -> None:
        """Kill each step with the session of a person, and let it go on."""
        self._prepare(name)
        path = self.week.folder / f"{name}.jsonl"
        write_session(path, "claude-code", f"{name} lives in Lisbon.")
        on = {**self.week.values, "PROPOSE_FACTS": "true"}
        self._kill_and_repeat("document_version", on, "capture", str(path))
        self.sessions.append(name)
        self._kill_server({**on, "SUMMARIZE_ENTITIES": "false"})
        self._kill_server({**on, "SUMMARIZE_ENTITIES": "true"}, table="summary_clause")
        self._let_a_server_finish({**on, "SUMMARIZE_ENTITIES": "true"})
        self._kill_and_repeat("proposal", on, "tidy", "--apply")
        accept = ("review", "accept", "--by", "ada", "--yes")
        self._kill_and_repeat("observation", self.week.reviewer, *accept)
        self._expect_each_once()

    def _prepare(self, name: str) -> None:
        """Store facts for `tidy` and for a summary."""
        remember: LiteralString = "select remember_fact(%s, %s, %s)"
        for fact in (f"leads team {number}" for number in range(10)):
            self.week.owner.execute(remember, ("Ben", "person", f"{fact} with {name}"))
        self.week.owner.execute(remember, ("Harbour", "project", "is written in Rust"))
        self.week.owner.execute(remember, (name, "person", "manages Harbour"))
        # A summary is made once an hour at most.
        self.week.owner.execute("update summary set made_at = made_at - interval '2 hours'")

    def _kill_and_repeat(self, table: str, values: Mapping[str, str], *words: str) -> None:
        """Kill a command while it waits for a table, and run it again."""
        self._kill(lambda: self.week.launch(*words, **values), table)
        done = self.week.run(*words, **values)
        assert done.code == 0 or "No such proposals" in done.err, done.err

    def _kill_server(self, values: dict[str, str], table: str | None = None) -> None:
        def start() -> Process:
            server = self.week.launch("serve", **values)
            server.open()
            return server

        self._make_due()
        self._kill(start, table)

    def _let_a_server_finish(self, values: dict[str, str]) -> None:
        self._make_due()
        server = self.week.launch("serve", **values)
        server.open()
        wait_for(
            lambda: (
                self.week.fetch(
                    "select (select count(*) from extraction_pending),"
                    " (select count(*) from summary where due_at is not null),"
                    " (select count(*) from summary where made_at is not null)"
                )
                == [(0, 0, 1)]
            )
        )
        server.end()

    def _make_due(self) -> None:
        """End the claims of killed servers, which would end by themselves."""
        self.week.owner.execute("update extraction_pending set next_attempt = now()")
        self.week.owner.execute("update summary set due_at = now() where due_at is not null")

    def _kill(self, start: Callable[[], Process], table: str | None) -> None:
        if self.anytime and self.dice.random() < 0.5:
            process = start()
            try:
                process.popen.wait(timeout=self.dice.uniform(0.1, 3))
            except subprocess.TimeoutExpired:
                self._end(process)
        elif table is None:
            asked = len(self.week.server.requests)
            self.week.server.hold()
            process = start()
            self.week.server.wait_for_requests(asked + 1)
            self._end(process)
            self.week.server.release()
        else:
            with self._hold(table):
                process = start()
                ended = process.popen.poll
                wait_for(lambda: ended() is not None or self.week.fetch(WAITING) == [(True,)])
                assert ended() is None, process.end()
                self._end(process)
                end_residents(signal.SIGKILL)  # one of them does the work of a command
        end_residents(signal.SIGKILL)
        # The session of a killed process goes on until it tries to answer.
        wait_for(lambda: self.week.fetch(SESSIONS) == [(0,)])

    @contextmanager
    def _hold(self, table: str) -> Generator[None]:
        """Keep all others from changing a table."""
        with self.week.owner.transaction():
            self.week.owner.execute(f"lock table {table} in share row exclusive mode".encode())
            yield

    def _end(self, process: Process) -> None:
        process.end(signal.SIGKILL)
        self.kills += 1

    def _expect_each_once(self) -> None:
        """Expect each text and fact once, and no step that waits."""
        texts = self.week.fetch(
            "select v.content from document d join document_version v"
            " on v.document_id = d.id and v.version = d.version where d.kind = 'journal'"
        )
        assert sum(count_bullets(text) for (text,) in texts) == 2 * len(self.sessions)
        assert [self.week.fetch(query) for query in DOUBLES] == [[]] * len(DOUBLES)
        for fact in ("lives in Lisbon", "manages Harbour"):
            rows = self.week.owner.execute(
                "select e.name from fact f join entity e on e.space_id = f.space_id"
                " and e.id = f.entity_id where f.content = %s",
                (fact,),
            ).fetchall()
            assert {name for (name,) in rows} == set(self.sessions)
        managed = self.week.fetch("select count(*) from relation where relation_type = 'manages'")
        assert managed == [(len(self.sessions),)]
        assert self.week.fetch("select count(*) from proposal where decision is null") == [(0,)]


@pytest.mark.parametrize("rounds", [1, pytest.param(12, marks=pytest.mark.release)])
def test_each_killed_step_goes_on_and_doubles_nothing(week: Week, rounds: int) -> None:
    week.server.write = find_or_sum_up
    chain = Chain(week, random.Random(44))  # noqa: S311 - moments, not keys

    for name in NAMES[:rounds]:
        chain.go_through(name)
        chain.anytime = True

    assert chain.kills >= 3 * rounds
