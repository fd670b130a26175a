"""The content of the database afterwards, compared with the answers that clients got."""

import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import LiteralString

import psutil
import psycopg

from benchmarks.chaos.deeds import GRAPH, HALF, SPACE, STORED
from benchmarks.chaos.ledger import Ledger
from textrawl.embedded.postmaster import is_postmaster

_TORN: dict[str, LiteralString] = {
    "facts without an event": (
        "select count(*) from observation o where o.tool in ('remember_fact', 'build_knowledge')"
        " and not exists (select from event e"
        " where (e.space_id, e.observation_id) = (o.space_id, o.id)"
        " and e.action in ('remembered', 'replaced'))"
    ),
    "events without a fact": (
        "select count(*) from event e where e.tool in ('remember_fact', 'build_knowledge')"
        " and e.action = 'remembered' and not exists ("
        " select from observation o where (o.space_id, o.id) = (e.space_id, e.observation_id))"
    ),
    "facts with neither a vector nor a place in the queue": (
        "select count(*) from observation o where not exists (select from embedding_1 v"
        " where (v.space_id, v.observation_id) = (o.space_id, o.id)) and not exists ("
        " select from embedding_pending p"
        " where (p.space_id, p.observation_id) = (o.space_id, o.id) and p.model_id = 1)"
    ),
    "entities without a fact": (
        "select count(*) from entity e where not exists (select from observation o"
        " where (o.space_id, o.entity_id) = (e.space_id, e.id))"
    ),
}
_STORED = (
    "select o.id::text, o.content from observation o join space s on s.id = o.space_id"
    " where s.name <> all(%s)"
)
_PENDING = "select count(*) from embedding_pending"


@dataclass
class Verdict:
    """Figures of a run. All figures except the first three must be 0."""

    acknowledged: int = 0
    stored: int = 0
    pending: int = 0
    lost: int = 0
    under_another_id: int = 0
    duplicated: int = 0
    deeds: int = 0
    deeds_lost: int = 0
    deeds_half_done: int = 0
    mistaken: int = 0
    torn: dict[str, int] = field(default_factory=dict[str, int])
    orphans: int = 0
    tracebacks: int = 0
    untidy_exits: int = 0
    deadlocks: int = 0

    @property
    def is_clean(self) -> bool:
        """Return whether no fact was lost or stored twice, and no batch was stored in part."""
        wrong = (
            self.lost,
            self.under_another_id,
            self.duplicated,
            self.deeds_lost,
            self.deeds_half_done,
            self.mistaken,
            self.orphans,
            self.tracebacks,
            self.untidy_exits,
            self.deadlocks,
            *self.torn.values(),
        )
        return not any(wrong)


def judge(owner: psycopg.Connection, ledger: Ledger) -> Verdict:
    """Compare the stored facts with the acknowledged facts, on a connection of the owner."""
    owner.execute("set search_path = textrawl, public")
    rows = owner.execute(_STORED, ([SPACE, GRAPH],)).fetchall()
    ids = {content: identity for identity, content in rows}
    counts = Counter(content for _, content in rows)
    acknowledged = ledger.acknowledged
    torn: dict[str, int] = count_torn(owner)
    torn["half batches"] = sum(
        0 < sum(text in counts for text in batch) < len(batch) for batch in ledger.batches
    )
    lost, half = judge_deeds(owner, ledger)
    return Verdict(
        acknowledged=len(acknowledged),
        stored=len(rows),
        pending=_count(owner, _PENDING),
        lost=sum(text not in counts for text in acknowledged),
        under_another_id=sum(
            entry is not None and text in ids and ids[text] != entry
            for text, entry in acknowledged.items()
        ),
        duplicated=sum(count - 1 for count in counts.values()),
        deeds=sum(map(len, ledger.kept.values())),
        deeds_lost=lost,
        deeds_half_done=half,
        mistaken=len(ledger.mistaken),
        torn=torn,
    )


def judge_deeds(owner: psycopg.Connection, ledger: Ledger) -> tuple[int, int]:
    """Return how many deeds are not stored as acknowledged, and how many rows are half there."""
    lost = 0
    for kind, expected in ledger.kept.items():
        rows = owner.execute(STORED[kind]).fetchall()
        counts, stored = Counter(key for key, _ in rows), dict(rows)
        wrong = [
            key for key, text in expected.items()
            if stored.get(key) != text or counts[key] != (text is not None)
        ]  # fmt: skip
        for key in wrong[:5]:
            print(f"{kind} {key!r}: {expected[key]!r} became {stored.get(key)!r}", file=sys.stderr)
        lost += len(wrong)
    return lost, sum(_count(owner, query) for query in HALF)


def count_torn(owner: psycopg.Connection) -> dict[str, int]:
    """Return how often rows that belong together are not both there, by what is wrong."""
    return {what: _count(owner, query) for what, query in _TORN.items()}


def _count(owner: psycopg.Connection, query: LiteralString) -> int:
    row = owner.execute(query).fetchone()
    assert row is not None
    return row[0]


def count_deadlocks(folder: Path) -> int:
    """Count deadlocks in the logs of Postgres, because its own counters are lost after a kill."""
    logs = [log.read_text(errors="replace") for log in folder.glob("postgres-*.log*")]
    return sum(log.count("deadlock detected") for log in logs)


def find_orphans(pgdata: Path, folder: Path) -> list[int]:
    """Return the processes of Postgres on `pgdata`, and others with `folder` as an argument."""
    found: list[int] = []
    for process in psutil.process_iter(["cmdline"]):
        command: list[str] = process.info["cmdline"] or []
        named = any(part == str(folder) or f"{folder}/" in part for part in command)
        if named or is_postmaster(process.pid, pgdata):
            found.append(process.pid)
    return found
