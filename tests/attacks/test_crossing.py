"""What a space holds reaches nobody of another and stays as it is, whatever a server is asked."""

from collections.abc import Callable

import psycopg
import pytest

from tests.attacks.crossing import (
    ATTEMPTS,
    HOME,
    VICTIMS,
    collect_loot,
    cross,
    digest_victims,
    kill_backends,
)
from tests.attacks.generation import list_attempts
from tests.attacks.site import SECRETS, SPACES, add_graphs, add_spaces, issue, open_site
from tests.conftest import Databases
from textrawl.access.access_token import hash_token
from textrawl.embedded.postmaster import SUPERUSER
from textrawl.settings import Settings
from textrawl.tools.catalogue import find_toolsets

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

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
