"""What a space holds reaches nobody of another, and no proposal counts, whatever is asked."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from math import ceil

import anyio
import httpx2
import psycopg
import pytest
from anyio import to_thread
from hypothesis import settings
from hypothesis import strategies as st

from tests.attacks.generation import Attempt, Loot, draw, list_attempts, list_tools
from tests.attacks.site import (
    CONTENT,
    GRAPHS,
    SEALED,
    SECRETS,
    SPACES,
    Site,
    add_graphs,
    add_spaces,
    digest,
    issue,
    open_site,
)
from tests.conftest import Databases
from textrawl.access.access_token import hash_token
from textrawl.embedded.postmaster import SUPERUSER
from textrawl.settings import Settings
from textrawl.tools.catalogue import find_toolsets

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

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


ATTACKERS = (
    ("read", "write", "forget"),
    ("read", "propose", "review"),
    ("read", "propose", "write", "forget", "review", "admin"),
)


def add_secrets(owner: psycopg.Connection, space: str) -> None:
    """A secret in facts that attackers look for, a proposal, an alias, a merge and a revision."""
    secret, agent = SECRETS[space], hash_token(issue(owner, f"agent of {space}", space, "propose"))
    number = "(select id from space where name = %(space)s)"
    for statement in (
        "select remember_fact('Ada', 'person', 'proposed ' || %(secret)s, credential => %(agent)s)",
        "select remember_fact(name, 'person', 'person hides what the vault of canary ' || %(space)s"
        " || ' knows: ' || %(secret)s, space => {})"
        " from unnest(array['Ada', 'Canary ' || %(space)s]) name",
        "select name_entity('Ada', 'alias ' || %(secret)s, space => {})",
        "select remember_fact('Ada ' || %(secret)s, 'person', 'is the same', space => {})",
        "select merge_entities('Ada', 'Ada ' || %(secret)s, space => {})",
        "select remember_fact('Ada', 'person', 'wrong', space => {})",
        "select revise_fact('Ada', 'wrong', 'because ' || %(secret)s, space => {})",
    ):
        given = {"space": space, "secret": secret, "agent": agent}
        owner.execute(statement.replace("{}", number).encode(), given)


@pytest.mark.timeout(1800)
async def test_no_attempt_at_anything_that_a_server_answers_reaches_another_space(
    owner: psycopg.Connection, settings: Callable[..., Settings], postgres: Databases, database: str
) -> None:
    add_spaces(owner)
    tokens = [
        issue(owner, f"{number} of {HOME}", HOME, *held) for number, held in enumerate(ATTACKERS)
    ]
    for space in SPACES:
        issue(owner, f"of {space}", space, "read")
        add_graphs(owner, space)
        add_secrets(owner, space)
    before = digest_victims(owner)
    loots = [collect_loot(owner, space) for space in VICTIMS]
    given = settings(embedding_provider="none", toolsets=list(find_toolsets()))

    with psycopg.connect(postgres.cluster.dsn(SUPERUSER, database), autocommit=True) as root:
        async with open_site(given) as site:
            tally = await cross(site, tokens, loots, lambda: kill_backends(root))

    count = (
        f"{tally.attempts:,} attempts, {tally.answered:,} answered, {tally.done:,} without error"
    )
    print(f"{count}, {len(tally.leaks)} leaks")  # noqa: T201
    assert tally.attempts >= ATTEMPTS
    assert tally.answered > tally.attempts / 2
    assert tally.done > tally.attempts / 20
    assert tally.killed
    assert tally.leaks == []
    assert tally.asked == set(list_attempts(loots[0]))
    assert digest_victims(owner) == before


SCOPES: dict[str, tuple[str, ...]] = {
    "propose": ("propose",),
    "read and propose": ("read", "propose"),
    "review without write": ("read", "propose", "review"),
    "write in a space whose writes are reviewed": ("read", "write"),
}


async def guess(site: Site, token: str, owner: psycopg.Connection, rounds: int) -> int:
    """Try every tool with what the space holds; how many calls were answered."""
    answered = 0
    for tool, arguments in draw(list_tools(collect_loot(owner, "red")).items(), rounds):
        answered += (await site.call(token, tool, arguments, "/mcp/red")).status_code == 200
    return answered


@pytest.mark.parametrize("held", SCOPES)
async def test_a_token_that_proposes_can_by_no_way_make_a_fact_count(
    owner: psycopg.Connection, settings: Callable[..., Settings], held: str
) -> None:
    add_spaces(owner)
    if held.startswith("write"):
        owner.execute("update space set reviewed = true where name = 'red'")
    token = issue(owner, "pip", "red", *SCOPES[held])
    before = digest(owner, CONTENT)
    given = settings(embedding_provider="none", toolsets=list(find_toolsets()), rate_limit=0)
    async with open_site(given) as site:
        answered = await guess(site, token, owner, rounds=8)

    assert answered > 8 * 60
    assert digest(owner, CONTENT) == before
    [waiting] = owner.execute(
        "select count(*) from proposal p join actor a on a.id = p.author_id where a.name = 'pip'"
    ).fetchone() or (0,)
    assert waiting > 0
