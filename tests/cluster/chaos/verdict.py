"""What the cells of a cluster hold afterwards, compared with what clients were told."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, LiteralString

from benchmarks.chaos.verdict import count_torn
from tests.cluster.chaos.clients import Ledger
from tests.support.cluster import ClusterMemory
from textrawl.embedded.postmaster import OWNER, SUPERUSER

_FACTS: LiteralString = """
    select s.name, o.content, o.id::text, o.valid_until is null, r.content,
        (select count(*) from event e
         where (e.space_id, e.observation_id) = (o.space_id, o.id)
           and e.action in ('remembered', 'replaced')),
        (select count(*) from event e
         where e.space_id = o.space_id and e.detail ->> 'replaced' = o.id::text
           and e.action = 'replaced')
    from observation o join space s on s.id = o.space_id
    left join observation r on (r.space_id, r.id) = (o.space_id, o.replaced_by)
    where o.relation_id is null
"""


@dataclass(frozen=True)
class _Fact:
    space: str
    text: str
    identity: str
    valid: bool
    successor: str | None
    begun: int  # events
    ended: int


@dataclass
class Verdict:
    """Numbers of faults. All but the first must be 0."""

    stored: int
    lost: int
    under_another_id: int
    doubled: int
    wrong_space: int
    wrong_trail: int
    wrong_history: int
    half_batches: int
    torn: dict[str, int] = field(default_factory=dict[str, int])

    @property
    def is_clean(self) -> bool:
        """Whether nothing was lost, doubled or stored in part."""
        numbers = {**vars(self), **self.torn}
        return not any(numbers[name] for name in numbers if name not in ("stored", "torn"))


def judge(memory: ClusterMemory, ledger: Ledger) -> Verdict:
    """Compare all cells with the answers that clients got."""
    facts, torn = _read_cells(memory)
    stored = {fact.text: fact for fact in facts}
    known = ledger.acknowledged
    return Verdict(
        stored=len(facts),
        lost=len(known.keys() - stored.keys()),
        under_another_id=sum(
            identity not in (None, stored[text].identity)
            for text, (_, identity) in known.items()
            if text in stored
        ),
        doubled=len(facts) - len(stored),
        wrong_space=sum(
            stored[text].space != space for text, (space, _) in known.items() if text in stored
        ),
        wrong_trail=sum((fact.begun, fact.ended) != (1, int(not fact.valid)) for fact in facts),
        wrong_history=sum(
            text in stored and new in known and stored[text].successor != new
            for text, new in ledger.replaced.items()
        ),
        half_batches=sum(
            0 < sum(text in stored for text in batch) < len(batch) for batch in ledger.batches
        ),
        torn=dict(torn),
    )


def _read_cells(memory: ClusterMemory) -> tuple[list[_Fact], Counter[str]]:
    facts: list[_Fact] = []
    torn: Counter[str] = Counter()
    for cell in memory.cells.values():
        with memory.enter(cell, OWNER) as session:
            facts += [_Fact(*row) for row in session.execute(_FACTS).fetchall()]
            torn.update(count_torn(session))
    return facts, torn


def find_remains(memory: ClusterMemory) -> list[Any]:
    """Transactions of a move that nobody has ended."""
    remains: list[Any] = []
    for node in memory.cluster.nodes:
        with memory.open(SUPERUSER, node) as session:
            query = "select gid from pg_prepared_xacts where database = current_database()"
            remains += session.execute(query).fetchall()
    return remains
