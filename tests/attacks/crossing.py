"""Members of one space trying to reach two others, and whether they got there."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from math import ceil

import anyio
import httpx2
import psycopg
from anyio import to_thread
from hypothesis import settings
from hypothesis import strategies as st

from tests.attacks.generation import Attempt, Loot, draw, list_attempts
from tests.attacks.site import GRAPHS, SEALED, SECRETS, SPACES, Site

HOME, *VICTIMS = SPACES
CLIENTS = 32
KILLS_EVERY = 20 * CLIENTS  # attempts
ATTEMPTS = 20_000 if settings().max_examples > 1000 else 2_000  # each week, and in each run

_PATIENCE = (0.002, 0.02, *[30.0] * 10)  # seconds after which a client hangs up


@dataclass
class Tally:
    """Outcome of all attempts; `leaks` are answers that hold the secret of another space."""

    attempts: int = 0
    answered: int = 0
    done: int = 0  # without an error
    cancelled: int = 0
    broken: int = 0
    ended: int = 0
    killed: int = 0  # connections, in the middle of work
    asked: set[str] = field(default_factory=set[str])
    leaks: list[str] = field(default_factory=list[str])


_IDS = {
    "facts": "select o.id::text from observation o join space s on s.id = o.space_id"
    " where s.name = %s order by 1",
    "numbers": "select node_number(n.id) from (select space_id, id from entity union all"
    " select space_id, id from relation union all select space_id, id from reflection) n"
    " join space s on s.id = n.space_id where s.name = %s order by 1",
    "entities": "select e.id::text from entity e join space s on s.id = e.space_id"
    " where s.name = %s order by 1",
    "sources": "select c.document_id::text from source c join space s on s.id = c.space_id"
    " where s.name ^@ (%s || '-') order by 1",
    "proposals": "select p.id::text from proposal p join space s on s.id = p.space_id"
    " where s.name = %s order by 1",
}


def collect_loot(owner: psycopg.Connection, space: str) -> Loot:
    """Return the ids of facts and entities, and the numbers of all that the graph tools number."""
    found = {
        kind: [value for (value,) in owner.execute(query.encode(), (space,)).fetchall()]
        for kind, query in _IDS.items()
    }
    return Loot(space, **found)


def digest_victims(owner: psycopg.Connection) -> dict[str, str]:
    """Return a digest of all rows of the victims' spaces and graphs, by table."""
    spaces = [*VICTIMS, *(f"{space}-{kind}" for space in VICTIMS for kind in GRAPHS)]
    tables = owner.execute(
        "select c.oid::regclass::text from pg_class c join pg_attribute a on a.attrelid = c.oid"
        " where relnamespace = 'textrawl'::regnamespace and relkind = 'r' and attname = 'space_id'"
    ).fetchall()
    digests = dict[str, str]()
    for (table,) in tables:
        query = (
            f"select t::text from {table} t join space s on s.id = t.space_id"  # noqa: S608 - ours
            " where s.name = any(%s) order by 1"
        )
        rows = owner.execute(query.encode(), (spaces,)).fetchall()
        digests[table] = sha256(repr(rows).encode()).hexdigest()
    return digests


async def cross(
    site: Site, tokens: Sequence[str], loots: Sequence[Loot], kill: Callable[[], int]
) -> Tally:
    """Make ATTEMPTS, 32 at a time. Some clients hang up, and `kill` ends connections.

    `kill` returns how many of them were at work; if none was, it ends none.
    """
    tally = Tally()
    ways = st.sampled_from(tokens), st.sampled_from(_PATIENCE)
    named = [
        (name, st.tuples(*ways, attempt))
        for loot in loots
        for name, attempt in list_attempts(loot).items()
    ]
    attempts = draw(named, ceil(ATTEMPTS / len(named)))
    for first in range(0, len(attempts), CLIENTS):
        async with anyio.create_task_group() as group:
            for name, (token, patience, attempt) in attempts[first : first + CLIENTS]:
                group.start_soon(_try, site, tally, name, token, patience, attempt)
            if first % KILLS_EVERY == 0:
                group.start_soon(_kill, kill, tally, min(first + CLIENTS, len(attempts)))
    return tally


async def _kill(kill: Callable[[], int], tally: Tally, attempts: int) -> None:
    """End connections once one is at work, or give up when all `attempts` have ended."""
    killed = 0
    while not killed and tally.ended < attempts:
        killed = await to_thread.run_sync(kill)
    tally.killed += killed


async def _try(
    site: Site, tally: Tally, name: str, token: str, patience: float, attempt: Attempt
) -> None:
    tally.attempts += 1
    tally.asked.add(name)
    try:
        with anyio.move_on_after(patience) as scope:
            answer = await site.ask(token, attempt.method, attempt.params, attempt.path)
            text = answer.text.lower()
            tally.answered += 1
            tally.done += not re.search(r'"iserror":true|"error":', text)
            foreign = [SECRETS[space] for space in VICTIMS]
            if any(secret in text for secret in (*foreign, SEALED)):
                tally.leaks.append(f"{name} {attempt}: {text}")
        tally.cancelled += scope.cancelled_caught
    except httpx2.TransportError:
        tally.broken += 1
    finally:
        tally.ended += 1


def kill_backends(owner: psycopg.Connection) -> int:
    """End every connection of the server if one is at work. Return how many were at work."""
    [(killed,)] = owner.execute(
        "with own as materialized (select pid, state = 'active' as works from pg_stat_activity"
        " where usename = 'textrawl_app' and datname = current_database())"
        " select count(*) filter (where works) from own"
        " where (select bool_or(works) from own) and pg_terminate_backend(pid)"
    )
    return killed
