"""Deliveries to a webhook while servers and the receiver are killed.

    python -m benchmarks.webhooks [--events 10000] [--kills 20]

Two servers and a receiver run as processes of their own, and three sessions write facts meanwhile.
Each time that another part of the events has arrived, a server or the receiver is killed with
SIGKILL and started again. It prints Markdown. It exits with 1 if an event did not arrive, or if
events arrived first in another order than that of the trail.
"""

import argparse
import sys
import threading
import time
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from subprocess import DEVNULL, Popen

import anyio
import psycopg
from anyio import to_thread

from benchmarks.support.place import enrol, open_folder, tell_machine
from tests.support.listening import find_port
from textrawl import migrate
from textrawl.embedded.cluster import run_embedded
from textrawl.embedded.postmaster import APP, OWNER
from textrawl.settings import read_foreign_environment

_WRITERS = 3
_PATIENCE = 600.0  # seconds for a run
_PAUSE = 0.05


@dataclass(frozen=True)
class Place:
    """The memory and the folder of a run. `owner` and `app` are connection strings."""

    owner: str
    app: str
    token: str
    folder: Path


@dataclass(frozen=True)
class Outcome:
    """The result of a run. `repeated` is the number of messages that arrived once more."""

    expected: list[int]
    arrived: list[int]
    kills: int
    seconds: float

    @property
    def repeated(self) -> int:
        """The number of messages that had arrived before."""
        return len(self.arrived) - len(set(self.arrived))

    @property
    def is_sound(self) -> bool:
        """Return whether all events arrived, and first in the order of the trail."""
        return list(dict.fromkeys(self.arrived)) == self.expected


class Part:
    """A process that is started again after it was killed."""

    def __init__(self, place: Place, *words: str, **environment: str) -> None:
        self._command = [sys.executable, "-m", *words]
        self._environment = read_foreign_environment() | environment
        self._environment["PYTHONPATH"] = str(Path(__file__).parents[1])
        self._log = place.folder / "servers.log"
        self.start()

    def start(self) -> None:
        """Start the process."""
        with self._log.open("ab") as log:
            self._process = Popen(
                self._command, env=self._environment, stdin=DEVNULL, stdout=DEVNULL, stderr=log
            )

    def kill(self) -> None:
        """Kill the process with SIGKILL."""
        self._process.kill()
        self._process.wait()


def run(place: Place, events: int, kills: int) -> Outcome:
    """Write until there are so many events, kill parts meanwhile, and wait for the last event."""
    port, began = find_port(), time.monotonic()
    file = place.folder / "messages"
    file.touch()
    with ExitStack() as stack:
        owner = stack.enter_context(psycopg.connect(place.owner, autocommit=True))
        owner.execute("set search_path = textrawl, public")
        owner.execute("select add_webhook('default', %s)", (f"http://127.0.0.1:{port}/memory",))
        parts = _start_parts(place, port, file)
        stack.callback(lambda: [part.kill() for part in parts])
        stack.enter_context(_write(place, events))
        killed, end = 0, began + _PATIENCE
        while time.monotonic() < end:
            arrived = _read(file)
            if killed < kills and len(set(arrived)) >= events * killed // kills:
                # The receiver every second time, and the two servers in turn.
                part = parts[0] if killed % 2 else parts[1 + killed // 2 % 2]
                part.kill()
                part.start()
                killed += 1
            elif killed == kills and len(set(arrived)) >= events and _is_done(owner, events):
                break
            time.sleep(_PAUSE)
        rows = owner.execute("select id from event order by transaction, id").fetchall()
    return Outcome([row[0] for row in rows], _read(file), killed, time.monotonic() - began)


def _is_done(owner: psycopg.Connection, events: int) -> bool:
    row = owner.execute("select count(*) from event").fetchone()
    queue = owner.execute("select queue from list_webhooks()").fetchone()
    return row is not None and row[0] >= events and queue == (0,)


def _start_parts(place: Place, port: int, file: Path) -> list[Part]:
    """Start the receiver and two servers."""
    receiver = Part(place, "tests.support.webhook_receiver", str(port), str(file))
    servers = [
        Part(
            place,
            *("textrawl", "serve", "--http", "--port", str(find_port())),
            DATABASE_URL=place.app,
            ACCESS_TOKEN=place.token,
            DATA_DIR=str(place.folder / "data"),
            EMBEDDING_PROVIDER="none",
            WEBHOOK_HOSTS=f"127.0.0.1:{port}",
        )
        for _ in range(2)
    ]
    return [receiver, *servers]


@contextmanager
def _write(place: Place, events: int) -> Generator[None]:
    """Write facts in several sessions, whose transactions overlap. Each has two events."""

    def work(number: int) -> None:
        with psycopg.connect(place.owner) as session:
            for fact in range(number, events // 2, _WRITERS):
                session.execute(
                    "select textrawl.remember_fact(%s, 'person', 'likes tea')", (f"Ada {fact}",)
                )
                if fact % 7:
                    session.commit()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(_WRITERS)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        for thread in threads:
            thread.join()


def _read(file: Path) -> list[int]:
    """Return the number of the event of each message that the receiver has acknowledged."""
    return [int(line.rpartition("-")[2]) for line in file.read_text().splitlines()]


async def _run_embedded(events: int, kills: int) -> Outcome:
    with open_folder("webhooks") as folder:
        async with run_embedded(folder / "data") as cluster:
            await migrate(cluster.dsn(OWNER))
            token = enrol(cluster.dsn(OWNER))
            place = Place(cluster.dsn(OWNER), cluster.dsn(APP), token, folder)
            return await to_thread.run_sync(run, place, events, kills)


def main() -> None:
    """Run the benchmark in a temporary folder."""
    parser = argparse.ArgumentParser(description="Deliveries to a webhook under kills.")
    parser.add_argument("--events", type=int, default=10_000)
    parser.add_argument("--kills", type=int, default=20)
    given = parser.parse_args()
    outcome = anyio.run(_run_embedded, given.events, given.kills)
    print(f"{tell_machine()}; {outcome.seconds:.0f} s.\n\n| what | count |\n|---|---:|")
    print(f"| events | {len(outcome.expected):,} |\n| kills | {outcome.kills} |")
    print(f"| events that arrived | {len(set(outcome.arrived)):,} |")
    print(f"| messages that arrived again | {outcome.repeated:,} |")
    print(f"| all of them, first in the order of the trail | {outcome.is_sound} |")
    sys.exit(0 if outcome.is_sound else 1)


if __name__ == "__main__":
    main()
