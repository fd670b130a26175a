"""The speed of backups, restores, exports and imports.

    python -m benchmarks.archive [--facts 100000] [--vectors]

It uses an embedded Postgres in a temporary folder, and runs each command in its own process. One of
ten facts is replaced, and an entity has twenty facts. It prints Markdown: seconds, facts per
second, the size of the file, and the largest resident memory of the command.
"""

import argparse
import json
import random
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

from benchmarks.support.place import open_folder, tell_machine
from benchmarks.support.work import Work
from textrawl.settings import read_foreign_environment

FACTS_OF_AN_ENTITY = 20
START = datetime(2026, 1, 1, tzinfo=UTC)


def make_lines(facts: int) -> Iterator[dict[str, Any]]:
    """Yield the lines of an export."""
    chance, work = random.Random(7), Work()  # noqa: S311 - the same every time

    def choose_id() -> str:
        return str(UUID(int=chance.getrandbits(128), version=4))

    yield {"textrawl": "export", "version": 1}
    yield {"kind": "space", "name": "default", "created_at": START.isoformat()}
    entities = [choose_id() for _ in range(max(1, facts // FACTS_OF_AN_ENTITY))]
    for place, entity in enumerate(entities):
        moment = (START + timedelta(seconds=place)).isoformat()
        yield {
            "kind": "entity", "space": "default", "id": entity, "name": f"Entity {place}",
            "entity_type": "project", "created_at": moment, "updated_at": moment,
        }  # fmt: skip
    last = choose_id()
    for place in range(facts):
        moment = (START + timedelta(seconds=place)).isoformat()
        former, last = last, choose_id()
        ended = {"valid_until": moment, "replaced_by": former} if place and place % 10 == 0 else {}
        yield {
            "kind": "fact", "space": "default", "id": last, "entity": chance.choice(entities),
            "text": f"{work.make_fact()['observation']} ({place})", "source": "note",
            "confidence": 1, "valid_from": moment, "author": f"author {place % 7}",
            "client": "bench 1", "tool": "remember_fact", "created_at": moment, **ended,
        }  # fmt: skip
    yield {"textrawl": "end", "space": 1, "entity": len(entities), "fact": facts, "relation": 0}


def run(data_dir: Path, *words: str) -> tuple[float, str]:
    """Return the seconds that a command took, and its output."""
    environment = read_foreign_environment() | {
        "DATA_DIR": str(data_dir),
        "EMBEDDING_PROVIDER": "local",
    }
    begin = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "textrawl", *words],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    if done.returncode:
        raise SystemExit(done.stderr)
    return time.perf_counter() - begin, done.stdout.strip()


def measure(folder: Path, facts: int, *vectors: str) -> Iterator[str]:
    """Yield lines of the table."""
    given, exported, dump = (folder / name for name in ("given", "exported", "dump"))
    with given.open("w", encoding="utf-8") as file:
        file.writelines(f"{json.dumps(line)}\n" for line in make_lines(facts))
    one, two = folder / "one", folder / "two"
    run(one, "migrate")
    steps = [
        ("import", one, given), ("import again", one, given), ("export", one, exported),
        ("backup", one, dump), ("restore", two, dump),
    ]  # fmt: skip
    for name, data_dir, file in steps:
        more = vectors if name == "export" else ()
        seconds, said = run(data_dir, name.split()[0], str(file), *more)
        print(said, file=sys.stderr)
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        size = file.stat().st_size / 1e6
        yield f"| {name} | {seconds:.1f} | {facts / seconds:,.0f} | {size:.1f} | {peak:.0f} |"


def main() -> None:
    """Measure in a temporary folder."""
    parser = argparse.ArgumentParser(description="Speed of backups, exports and imports.")
    parser.add_argument("--facts", type=int, default=100_000)
    parser.add_argument("--vectors", action="store_true", help="Export vectors as well.")
    given = parser.parse_args()
    vectors = ("--with-vectors",) if given.vectors else ()
    print(f"{tell_machine()}; {given.facts:,} facts. Commands with their start and Postgres'.\n")
    print("| command | seconds | facts/s | MB of file | largest MB resident so far |")
    print("|---|---:|---:|---:|---:|")
    with open_folder("archive") as folder:
        for line in measure(folder, given.facts, *vectors):
            print(line, flush=True)


if __name__ == "__main__":
    main()
