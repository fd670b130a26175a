"""A long run of the attacks in tests/attacks, which try to reach other spaces.

    python -m benchmarks.attacks [--only contention|channels|crowding] [--seconds 60]
        [--facts 60000] [--keep FOLDER]

contention: 16 writers write to the same hundred entities in opposite orders.
channels: times and scores are checked for information about a space that was not granted.
crowding: one client searches while ten others make heavy calls, or while 900 idle connections are
open.

Each attack has an embedded Postgres in a temporary folder. `--keep` keeps the memory of crowding.
It prints Markdown.
"""

import argparse
import time
from collections.abc import Generator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import anyio
import psycopg
from pydantic import SecretStr

from benchmarks.attacks.crowding import run_crowding
from benchmarks.attacks.side_channels import run_side_channels
from benchmarks.support.place import open_folder, tell_machine
from tests.attacks.contention import contend
from tests.attacks.site import issue, open_site
from textrawl import Settings, migrate
from textrawl.embedded.cluster import Cluster, run_embedded
from textrawl.embedded.postmaster import APP, OWNER
from textrawl.server.logs import configure_logs
from textrawl.tools.catalogue import find_toolsets


@contextmanager
def connect(conninfo: str) -> Generator[psycopg.Connection]:
    """Yield a connection with the schema textrawl first in its search_path."""
    with psycopg.connect(conninfo, autocommit=True) as connection:
        connection.execute("set search_path = textrawl, public")
        yield connection


async def run_contention(cluster: Cluster, settings: Settings, seconds: float) -> None:
    """Print the results of writers that need the same locks."""
    with connect(cluster.dsn(OWNER)) as owner:
        token = issue(owner, "writer", "default", "write")
        began = time.monotonic()
        async with open_site(settings) as site:
            ends = await contend(site, token, lambda _: time.monotonic() - began > seconds)
        [(twice,)] = owner.execute(
            "select count(*) - count(distinct (space_id, name_key)) from entity"
        ).fetchall()
    print("| seconds | writes | errors | entities twice |\n|-:|-:|-:|-:|")
    errors = ends.total() - ends["ok"]
    print(f"| {time.monotonic() - began:.0f} | {ends['ok']} | {errors} | {twice} |")


async def run_writers(seconds: float, folder: Path) -> None:
    """Write to one memory from all sides."""
    async with run_embedded(folder) as cluster:
        await migrate(cluster.dsn(OWNER))
        await run_contention(cluster, _serve_everything(cluster), seconds)


async def run_channels(folder: Path) -> None:
    """Ask for words of another space, on a separate memory."""
    async with run_embedded(folder) as cluster:
        await migrate(cluster.dsn(OWNER))
        settings = _serve_everything(cluster)
        with connect(cluster.dsn(OWNER)) as owner:
            await run_side_channels(owner, settings)


def _serve_everything(cluster: Cluster) -> Settings:
    """Return settings of a server with every toolset and without an embedder."""
    settings = Settings(
        database_url=SecretStr(cluster.dsn(APP)),
        embedding_provider="none",
        log_level="ERROR",
        toolsets=list(find_toolsets()),
    )
    configure_logs(settings)
    return settings


def main() -> None:
    """Attack a memory in a temporary folder."""
    parser = argparse.ArgumentParser(description="Attacks on a server and its spaces.")
    parser.add_argument("--only", choices=("contention", "channels", "crowding"))
    parser.add_argument(
        "--seconds", type=float, default=60, help="for the writers, and for all crowds"
    )
    parser.add_argument("--facts", type=int, default=60_000, help="of the memory that is crowded")
    parser.add_argument("--keep", type=Path, help="a folder for that memory, used again if filled")
    given = parser.parse_args()
    print(f"{tell_machine()}.\n", flush=True)
    if given.only in {None, "contention"}:
        with open_folder("attacks") as folder:
            anyio.run(run_writers, given.seconds, folder)
    if given.only in {None, "channels"}:
        with open_folder("channels") as folder:
            anyio.run(run_channels, folder)
    if given.only in {None, "crowding"}:
        with nullcontext(given.keep) if given.keep else open_folder("crowding") as folder:
            anyio.run(run_crowding, folder, given.facts, given.seconds / 6)


if __name__ == "__main__":
    main()
