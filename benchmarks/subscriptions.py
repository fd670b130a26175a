"""The cost of subscriptions: what a server asks Postgres each second.

    python -m benchmarks.subscriptions [--facts 100000] [--looks 200]

It uses an embedded Postgres in a temporary folder, with ten facts for each entity and an event for
each fact. It calls changed_watches() as the server does, with subscriptions to entities, and each
twentieth to a digest. There are three situations:

    idle       nothing was stored since the last look
    a write    one fact of a watched entity was stored since the last look
    100 tokens as idle, but each subscription has an access token of its own

It prints Markdown: p50 and p95 in milliseconds.
"""

import argparse
import json
import statistics
import time
from pathlib import Path
from typing import Any

import anyio
import psycopg

from benchmarks.support.place import enrol, open_folder, tell_machine
from textrawl import migrate
from textrawl.access.access_token import hash_token
from textrawl.embedded.cluster import run_embedded
from textrawl.embedded.postmaster import APP, OWNER

WARM = 10
FILL = """
    with about as (
        insert into textrawl.entity (space_id, name, name_key, entity_type, fts)
        select 1, format('Entity %%s', n), textrawl.name_key(format('Entity %%s', n)), 'person', ''
        from generate_series(1, %(entities)s) n returning id
    ), told as (
        insert into textrawl.observation (space_id, id, entity_id, entity_type, content,
            content_hash, source, author_id, tool, fts)
        select 1, gen_random_uuid(), about.id, 'person', format('fact %%s', n),
            md5(about.id::text || n)::uuid, 'note', actor.id, 'bench', ''
        from about cross join generate_series(1, 10) n
        cross join (select min(id) as id from textrawl.actor) actor returning id, entity_id
    )
    insert into textrawl.event (space_id, actor_id, tool, action, entity_id, observation_id)
    select 1, actor.id, 'bench', 'remembered', told.entity_id, told.id
    from told cross join (select min(id) as id from textrawl.actor) actor"""
LOOK = "select cursor, place, state from textrawl.changed_watches(%s, %s)"
WRITE = "select textrawl.remember_fact('Entity 7', 'person', %s)"


def make_watches(count: int, credentials: list[bytes]) -> list[dict[str, Any]]:
    """Return watches of entities, and each twentieth of a digest. They share the credentials."""
    return [
        {"credential": credentials[number % len(credentials)].hex()}
        | ({"digest": "default"} if number % 20 == 0 else {"entity": f"Entity {number}"})
        for number in range(count)
    ]


class Server:
    """A server that looks for changes on one connection."""

    def __init__(self, app: psycopg.Connection, watches: list[dict[str, Any]]) -> None:
        self._app = app
        self._watches = watches
        self._cursor: str | None = None
        self.look()

    def look(self) -> float:
        """Look once, and return the seconds that it took."""
        begin = time.perf_counter()
        given = json.dumps(self._watches)
        rows: list[tuple[str, int | None, str | None]] = self._app.execute(
            LOOK, (given, self._cursor)
        ).fetchall()
        taken = time.perf_counter() - begin
        self._cursor = rows[0][0]
        for _, place, state in rows:
            if place:
                self._watches[place - 1]["state"] = state
        return taken


def measure(server: Server, looks: int, owner: psycopg.Connection | None = None) -> list[float]:
    """Return the milliseconds of looks. With `owner`, store a fact before each look."""
    taken = list[float]()
    for number in range(looks + WARM):
        if owner is not None:
            owner.execute(WRITE, (f"new {time.time_ns()}",))
        seconds = server.look()
        if number >= WARM:
            taken.append(1000 * seconds)
    return taken


def write_row(name: str, taken: list[float]) -> str:
    """Return a line of the table."""
    p95 = statistics.quantiles(taken, n=20)[-1]
    return f"| {name} | {statistics.median(taken):.2f} | {p95:.2f} |"


async def run(facts: int, looks: int, folder: Path) -> None:
    """Print the table."""
    async with run_embedded(folder) as cluster:
        await migrate(cluster.dsn(OWNER))
        tokens = [hash_token(enrol(cluster.dsn(OWNER))) for _ in range(100)]
        with (
            psycopg.connect(cluster.dsn(OWNER), autocommit=True) as owner,
            psycopg.connect(cluster.dsn(APP), autocommit=True) as app,
        ):
            owner.execute(FILL, {"entities": facts // 10})
            owner.execute("vacuum analyze")
            print(f"{tell_machine()}; {facts:,} facts; {looks} looks each.\n")
            print("| subscriptions | p50 ms | p95 ms |\n|---|---:|---:|")
            for count in (1, 100, 1000):
                server = Server(app, make_watches(count, tokens[:1]))
                print(write_row(f"{count}, idle", measure(server, looks)), flush=True)
                print(write_row(f"{count}, a write", measure(server, looks, owner)), flush=True)
            server = Server(app, make_watches(100, tokens))
            print(write_row("100 with 100 tokens, idle", measure(server, looks)))


def main() -> None:
    """Measure in a temporary folder."""
    parser = argparse.ArgumentParser(description="The cost of subscriptions.")
    parser.add_argument("--facts", type=int, default=100_000)
    parser.add_argument("--looks", type=int, default=200)
    given = parser.parse_args()
    with open_folder("subscriptions") as folder:
        anyio.run(run, given.facts, given.looks, folder)


if __name__ == "__main__":
    main()
