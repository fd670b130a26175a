"""The time of an analyst's views, and the cost of the recall log for a search.

    python -m benchmarks.analytics [--facts 100000] [--calls 400] [--memory FOLDER]

It uses an embedded Postgres in a temporary folder, or the memory in FOLDER. The benchmark adds
relations and recalls to this memory, so give it a copy.

An analyst of all spaces reads each view in three ways: the first hundred rows, the count of rows,
and all columns of all rows without sending them. The figures are milliseconds and CPU milliseconds.
The plan of the third way follows. After that, query_memory is called over HTTP on two servers, one
with RECORD_RECALLS=text and one with RECORD_RECALLS=off. Their calls alternate. It prints Markdown.
"""

import argparse
import statistics
import time
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import LiteralString

import anyio
import psycopg
from mcp import Client
from psycopg import sql

from benchmarks.access import Ask, fill, measure
from benchmarks.support.place import enrol, listen, open_folder, tell_machine
from textrawl import migrate
from textrawl.embedded.cluster import Cluster, run_embedded
from textrawl.embedded.postmaster import APP, OWNER, SUPERUSER
from textrawl.models.local import LocalEmbedder
from textrawl.postgres.sql_files import describe_views
from textrawl.settings import read_foreign_environment

RUNS = 7
ANALYST = "analyst_of_benchmarks"
RELATIONS, RECALLS = 10, 100_000
ASKED: tuple[LiteralString, ...] = (
    "select * from {} limit 100", "select count(*) from {}", "select * from {} offset 100000000"
)  # fmt: skip
SPREAD: tuple[LiteralString, ...] = (
    # Facts of a year. A twentieth is replaced, and half are recalled. An entity has ten relations.
    """update observation set
       created_at = now() - make_interval(hours => abs(hashtext(id::text)) % 8760),
       valid_from = now() - make_interval(hours => abs(hashtext(id::text)) % 8760)""",
    """with pair as (
           select space_id, id, lead(id) over (partition by space_id, entity_id order by created_at)
               as next from observation where valid_until is null)
       update observation o set replaced_by = next, valid_until = now() - interval '1 day'
       from pair where pair.space_id = o.space_id and pair.id = o.id and next is not null
           and abs(hashtext(o.id::text)) % 20 = 0""",
    """insert into recalled
       select space_id, id, 1 + abs(hashtext(id::text)) % 20, now() - interval '1 day'
       from observation where abs(hashtext(id::text)) % 2 = 0 on conflict do nothing""",
    """with numbered as (
           select space_id, id, row_number() over (partition by space_id order by id) as place,
               count(*) over (partition by space_id) as most from entity)
       insert into relation (space_id, from_entity, relation_type, to_entity, author_id, tool)
       select one.space_id, one.id, (array['knows', 'works_at', 'part_of'])[1 + mod(edge, 3)],
           other.id, (select min(id) from actor), 'bench'
       from numbered one cross join generate_series(1, %(relations)s) edge
       join numbered other on other.space_id = one.space_id and other.id <> one.id
           and other.place = 1 + mod(one.place * 7919 + edge * 104729, one.most)
       on conflict do nothing""",
    """insert into recall (space_id, at, client, mode, format, structured, tokens, budget, items,
           dropped, query, query_hash, hits, milliseconds, score, cosine, coverage)
       select default_space(), now() - make_interval(mins => n), 'bench', 'search', 'compact',
           false, 200 + mod(n, 300), 2000, 10, 0, 'question ' || mod(n, 30000),
           md5(mod(n, 30000)::text), 10, 5 + mod(n, 50), mod(n, 100) / 100.0, mod(n, 90) / 100.0,
           mod(n, 80) / 100.0
       from generate_series(1, %(recalls)s) n""",
    "vacuum analyze",
)


def add_story(cluster: Cluster, recalls: int) -> None:
    """Add dates, replacements, relations and recalls, and an analyst who reads all spaces."""
    with psycopg.connect(cluster.dsn(SUPERUSER), autocommit=True) as superuser:
        superuser.execute("set search_path = textrawl, public")
        given = {"relations": RELATIONS, "recalls": recalls}
        known = superuser.execute("select from pg_roles where rolname = %s", (ANALYST,)).fetchone()
        if known is not None:
            return
        for statement in SPREAD:
            superuser.execute(statement, given if "%(" in statement else None)
        superuser.execute(
            "select create_analyst(%s, 'bench', array(select name from space))", (ANALYST,)
        )


def time_statement(connection: psycopg.Connection, statement: sql.Composed) -> tuple[float, float]:
    """Return the median of the milliseconds, and of the CPU milliseconds of this session."""
    account = Path(f"/proc/{connection.info.backend_pid}/schedstat")
    taken, computed = list[float](), list[float]()
    for _ in range(RUNS):
        before = int(account.read_text().split()[0]) if account.is_file() else 0
        begin = time.perf_counter()
        connection.execute(statement).fetchall()
        taken.append(1000 * (time.perf_counter() - begin))
        after = int(account.read_text().split()[0]) if account.is_file() else 0
        computed.append((after - before) / 1e6)
    return statistics.median(taken), statistics.median(computed)


def time_views(cluster: Cluster) -> None:
    """Print a row for each view, then the plans."""
    print("| view | first 100: ms | CPU | count: ms | CPU | whole: ms | CPU |")
    print("|---|---:|---:|---:|---:|---:|---:|", flush=True)
    plans = list[str]()
    with psycopg.connect(cluster.dsn(ANALYST), autocommit=True) as analyst:
        # Use one process, because the CPU time of parallel workers cannot be measured.
        analyst.execute("set max_parallel_workers_per_gather = 0")
        for name in describe_views():
            view = sql.Identifier("textrawl", name)
            asked = [sql.SQL(ask).format(view) for ask in ASKED]
            cells = [f"{cell:.1f}" for ask in asked for cell in time_statement(analyst, ask)]
            print(f"| {name} | {' | '.join(cells)} |", flush=True)
            explained = analyst.execute(
                sql.SQL("explain (analyze, costs off, timing off, buffers off) {}").format(asked[2])
            )
            lines = "\n".join(line for (line,) in explained.fetchall())
            plans.append(f"{name}:\n\n```text\n{lines}\n```\n")
    print("\n" + "\n".join(plans), flush=True)


@asynccontextmanager
async def ask_servers(dsn: str, token: str) -> AsyncGenerator[dict[str, Ask]]:
    """Yield the tool on two servers: one records recalls, the other does not."""
    environment = read_foreign_environment() | {
        "DATABASE_URL": dsn, "EMBEDDING_PROVIDER": "local", "ACCESS_TOKEN": token, "RATE_LIMIT": "0"
    }  # fmt: skip
    async with AsyncExitStack() as stack:

        async def build(kept: str) -> Ask:
            given = environment | {"RECORD_RECALLS": kept}
            url = await stack.enter_async_context(listen(given, "--insecure"))
            client = await stack.enter_async_context(Client(url))

            async def ask(query: str) -> object:
                answer = await client.call_tool("query_memory", {"mode": "search", "query": query})
                assert not answer.is_error, answer.content
                return answer

            return ask

        yield {"with": await build("text"), "without": await build("off")}


async def run(given: argparse.Namespace, folder: Path) -> None:
    """Print everything."""
    async with run_embedded(folder) as cluster:
        await migrate(cluster.dsn(OWNER))
        if given.memory is None:
            embedder = LocalEmbedder()
            await embedder.warm()
            token = enrol(cluster.dsn(OWNER))
            async with await psycopg.AsyncConnection.connect(
                cluster.dsn(OWNER), autocommit=True
            ) as filler:
                await fill(filler, embedder, given.facts)
        else:
            token = enrol(cluster.dsn(OWNER))
        add_story(cluster, min(RECALLS, given.facts))
        print(f"{tell_machine()}; {RUNS} runs of each statement.\n")
        time_views(cluster)
        print(f"| query_memory p50 ms, {given.calls} calls | logged | not logged | ratio |")
        print("|---|---:|---:|---:|", flush=True)
        async with ask_servers(cluster.dsn(APP), token) as ways:
            taken = await measure(ways, given.calls)
        logged, bare = (1000 * statistics.median(taken[way]) for way in ("with", "without"))
        print(f"| HTTP | {logged:.2f} | {bare:.2f} | {logged / bare:.3f} |", flush=True)


def main() -> None:
    """Measure in a temporary folder, or in the given folder."""
    parser = argparse.ArgumentParser(description="Views at size, and the cost of the recall log.")
    parser.add_argument("--facts", type=int, default=100_000)
    parser.add_argument("--calls", type=int, default=400)
    parser.add_argument("--memory", type=Path)
    given = parser.parse_args()
    if given.memory is not None:
        anyio.run(run, given, given.memory)
        return
    with open_folder("analytics") as folder:
        anyio.run(run, given, folder)


if __name__ == "__main__":
    main()
