"""How long the walls between spaces hold: the attacks of tests/attacks, at length.

    python -m benchmarks.attacks [--attempts 10000] [--seconds 60]

Attempts of 32 clients on four connections to reach another space, with clients that hang up and
backends that are killed; then 16 writers of the same hundred entities in opposite orders. An
embedded Postgres in a temporary folder. Prints Markdown.
"""

import argparse
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import anyio
import psycopg
from pydantic import SecretStr

from benchmarks.place import open_folder, tell_machine
from tests.attacks.contention import contend
from tests.attacks.crossing import CLIENTS, cross, kill_backends
from tests.attacks.site import SPACES, add_spaces, issue, open_site
from tests.attacks.test_walls import read_space
from textrawl import Settings, migrate
from textrawl.embedded.cluster import Cluster, run_embedded
from textrawl.embedded.configuration import APP, OWNER, SUPERUSER
from textrawl.logs import configure_logs


@contextmanager
def connect(conninfo: str) -> Generator[psycopg.Connection]:
    """A connection that sees our schema first."""
    with psycopg.connect(conninfo, autocommit=True) as connection:
        connection.execute("set search_path = textrawl, public")
        yield connection


async def run_crossing(cluster: Cluster, settings: Settings, attempts: int) -> None:
    """Prints what came of attempts to reach another space."""
    with connect(cluster.dsn(OWNER)) as owner, connect(cluster.dsn(SUPERUSER)) as killer:
        add_spaces(owner)
        tokens = {
            space: issue(owner, f"of {space}", space, "read", "write", "forget") for space in SPACES
        }
        before = {space: read_space(owner, space) for space in SPACES}
        ids = {space: [str(row[0]) for row in before[space]] for space in SPACES}
        kills: list[int] = []

        def kill() -> None:
            kills.append(1)
            kill_backends(killer)

        async with open_site(settings) as site:
            tally = await cross(site, tokens, ids, -(-attempts // CLIENTS), kill)
        altered = sum(read_space(owner, space) != before[space] for space in SPACES)
    print("| attempts | answered | hung up | broken | kills | leaked | spaces altered |")
    print("|" + "-:|" * 7)
    print(
        f"| {tally.attempts} | {tally.answered} | {tally.cancelled} | {tally.broken} |"
        f" {len(kills)} | {len(tally.leaks)} | {altered} |\n"
    )


async def run_contention(cluster: Cluster, settings: Settings, seconds: float) -> None:
    """Prints what came of writers in each other's way."""
    with connect(cluster.dsn(OWNER)) as owner:
        token = issue(owner, "writer", "default", "write")
        began = time.monotonic()
        async with open_site(settings) as site:
            ends = await contend(site, token, seconds)
        [(twice,)] = owner.execute(
            "select count(*) - count(distinct (space_id, name_key)) from entity"
        ).fetchall()
    print("| seconds | writes | errors | entities twice |\n|-:|-:|-:|-:|")
    errors = ends.total() - ends["ok"]
    print(f"| {time.monotonic() - began:.0f} | {ends['ok']} | {errors} | {twice} |")


async def run(attempts: int, seconds: float, folder: Path) -> None:
    """Both, on one memory."""
    async with run_embedded(folder) as cluster:
        await migrate(cluster.dsn(OWNER))
        conninfo = SecretStr(cluster.dsn(APP))
        settings = Settings(database_url=conninfo, embedding_provider="none", log_level="ERROR")
        configure_logs(settings)
        print(f"{tell_machine()}.\n")
        await run_crossing(cluster, settings, attempts)
        await run_contention(cluster, settings, seconds)


def main() -> None:
    """Attacks a memory in a temporary folder."""
    parser = argparse.ArgumentParser(description="Attacks on the walls between spaces.")
    parser.add_argument("--attempts", type=int, default=10_000)
    parser.add_argument("--seconds", type=float, default=60)
    given = parser.parse_args()
    with open_folder("attacks") as folder:
        anyio.run(run, given.attempts, given.seconds, folder)


if __name__ == "__main__":
    main()
