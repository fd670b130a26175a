"""What `textrawl tidy` finds in a memory of 20,000 facts with known disorder, and its time.

    python -m benchmarks.tidy [--facts 20000] [--memory FOLDER] [--sample 100] [--misses]

It fills a memory in a temporary folder, or uses the memory that `benchmarks.support.synthetic`
made in FOLDER, which it changes: give it a copy. Into the space with half of the facts it writes
the pairs of benchmarks/support/disagreements.txt and the lines of benchmarks/support/disorder.txt,
which say what should be found. Then it runs tidy_memory, a second time, accepts all findings at
once, and undoes that. `--sample` prints findings in a random order, to be judged by hand. It prints
Markdown.
"""

import argparse
import json
import random
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, LiteralString

import anyio
import anyio.to_thread
import psycopg

from benchmarks.disagreement import read_pairs
from benchmarks.support.place import open_folder, tell_machine
from benchmarks.support.synthetic import fill_once
from textrawl import migrate
from textrawl.embedded.cluster import run_embedded
from textrawl.embedded.postmaster import OWNER
from textrawl.models.embeddings import compose_document
from textrawl.models.local import LocalEmbedder

FILE = Path(__file__).parent / "support" / "disorder.txt"
_KINDS = {"name": {"name", "same"}}
_STATE: LiteralString = """
    select md5(string_agg(t::text, '' order by t::text)) from (
        select (to_jsonb(e) - 'updated_at')::text from textrawl.entity e
        union all select to_jsonb(o)::text from textrawl.fact o
        union all select to_jsonb(r)::text from textrawl.relation r) t (t)
"""


@dataclass(frozen=True)
class Case:
    """Facts that are out of order in one way if `expected`, and look so otherwise."""

    kind: str
    expected: bool
    facts: list[tuple[str, str]]  # entity and text, the oldest first
    said_at: str | None


def read_cases() -> Iterator[Case]:
    """Yield all cases of both files. Each has entities of its own."""
    for number, pair in enumerate(read_pairs()):
        name = f"Subject {number}q"
        facts = [(name, pair.one), (name, pair.other)]
        yield Case("disagreement", pair.disagree, facts, None)
    kind = ""
    for number, line in enumerate(FILE.read_text("utf-8").splitlines()):
        if line.startswith("== "):
            kind = line[3:]
        elif line[0] in "+-":
            said = [part.strip() for part in line[2:].replace("{}", f"Tern{number}").split(" | ")]
            days = [part[1:] for part in said if part.startswith("@")]
            facts = [(name, text) for name, _, text in (s.partition(": ") for s in said) if text]
            yield Case(kind, line[0] == "+", facts, days[0] if days else None)


class Tidying:
    """A filled memory, in which the cases are stored and tidied."""

    def __init__(self, conninfo: str) -> None:
        self._sql = psycopg.connect(conninfo, autocommit=True)
        self._sql.execute("set search_path = textrawl, public")
        self._embedder = LocalEmbedder()
        self._cases: dict[str, Case] = {}

    async def store(self) -> None:
        """Store the facts of all cases with their vectors."""
        [model] = self._fetch("select id from embedding_model where status = 'active'")[0]
        for case in read_cases():
            for entity, text in case.facts:
                [vector] = await self._embedder.embed_documents([compose_document(entity, text)])
                self._fetch(
                    "select observation_id from remember_fact(%s, null, %s, said_at => %s,"
                    " model => %s, embedding => %s::halfvec, space => 1)",
                    entity,
                    text,
                    case.said_at,
                    model,
                    json.dumps([float(one) for one in vector]),
                )
                self._cases[entity] = case

    def tidy(self) -> list[tuple[Any, ...]]:
        """Run tidy_memory, and return finding, entity, text, evidence and the other text."""
        found = self._fetch("select proposal_id from tidy_memory(most => 1000, space => 1)")
        return self._fetch(
            """select p.finding, p.entity_name,
                   proposal_text(p.content, p.relation_type, p.to_name), p.evidence, o.content
               from proposal p left join fact o on o.space_id = p.space_id and o.id = p.other
               where p.id = any(%s) order by p.created_at""",
            [row[0] for row in found],
        )

    def is_right(self, row: tuple[Any, ...]) -> bool:
        """Return whether a finding is what its case says."""
        case = self._cases.get(row[1])
        kinds = _KINDS.get(case.kind, {case.kind}) if case else set[str]()
        return bool(case and case.expected and row[0] in kinds)

    def find_missed(self, found: list[tuple[Any, ...]]) -> list[Case]:
        """Return the cases that should be found, and were not."""
        known = {id(self._cases[row[1]]) for row in found if self.is_right(row)}
        cases = {id(case): case for case in self._cases.values() if case.expected}
        return [case for key, case in cases.items() if key not in known]

    def accept(self) -> None:
        """Accept all that waits, at once, and undo it. Raises RuntimeError if a row differs."""
        before = self._fetch(_STATE)
        [since] = self._fetch("select clock_timestamp()")[0]
        accepted = self._fetch(
            "select id from decide_proposals(array(select id::text from proposal"
            " where finding is not null and decision is null and space_id = 1), 'accept')"
        )
        [actor] = self._fetch(
            "select name from actor where id = (select decided_by from proposal where id = %s)",
            accepted[0][0],
        )[0]
        self._fetch("select undo_id from undo_author(%s, %s, 1)", actor, since)
        if self._fetch(_STATE) != before:
            raise RuntimeError("the undo left something")
        print(f"\n{len(accepted)} findings accepted at once, and undone: each row is as before,")
        print("apart from updated_at.")

    def _fetch(self, query: LiteralString, *values: object) -> list[tuple[Any, ...]]:
        return self._sql.execute(query, values).fetchall()


def report(tidying: Tidying, sample: int, *, misses: bool) -> None:
    """Print the times, the findings by kind, and a sample of them."""
    begin = time.perf_counter()
    found = tidying.tidy()
    print(f"First run {time.perf_counter() - begin:.1f} s.", end=" ")
    begin = time.perf_counter()
    again = tidying.tidy()
    print(f"Second run {time.perf_counter() - begin:.1f} s, {len(again)} findings.\n")
    right = Counter(row[0] for row in found if tidying.is_right(row))
    print("| finding | found | as labelled |\n| --- | ---: | ---: |")
    for kind, number in Counter(row[0] for row in found).items():
        print(f"| {kind} | {number} | {right[kind]} |")
    missed = tidying.find_missed(found)
    print(f"\nMissed: {len(missed)} ({dict(Counter(case.kind for case in missed))}).")
    if misses:
        for case in missed:
            print(f"- {case.kind}: {' | '.join(text for _, text in case.facts)}")
    dice = random.Random(7)  # noqa: S311 - the same in every run
    for row in dice.sample(found, min(sample, len(found))):
        print(f"- {'right' if tidying.is_right(row) else 'other'}: {' / '.join(map(str, row))}")


async def run(folder: Path, given: argparse.Namespace) -> None:
    """Fill, tidy and report."""
    async with run_embedded(folder) as cluster:
        await migrate(cluster.dsn(OWNER))
        await anyio.to_thread.run_sync(fill_once, folder, cluster.dsn(OWNER), given.facts)
        tidying = Tidying(cluster.dsn(OWNER))
        await tidying.store()
        print(f"{tell_machine()}; {given.facts:,} facts.")
        report(tidying, given.sample, misses=given.misses)
        tidying.accept()


def main() -> None:
    """Read the arguments, and run the benchmark."""
    parser = argparse.ArgumentParser(description="What textrawl tidy finds.")
    parser.add_argument("--facts", type=int, default=20_000)
    parser.add_argument("--memory", type=Path)
    parser.add_argument("--sample", type=int, default=100)
    parser.add_argument("--misses", action="store_true")
    given = parser.parse_args()
    with open_folder("tidy") if given.memory is None else nullcontext(given.memory) as folder:
        anyio.run(run, folder, given)


if __name__ == "__main__":
    main()
