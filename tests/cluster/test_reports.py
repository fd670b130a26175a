"""Calls on a distributed memory: of one space they work, of several cells they ask for one."""

from tests.cluster.settlers import Settlers
from tests.support.cluster import ClusterMemory
from tests.support.commands import Outcome, Run, data_dir, run
from textrawl.access.access_token import hash_token, make_token
from textrawl.embedded.postmaster import OWNER

__all__ = ["data_dir", "run"]

SCOPES = ["read", "write", "forget", "review", "admin", "propose"]
COMMANDS = [
    "cost --json",
    "erase Ada --dry-run",
    "explain tea",
    "log",
    "me Ada",
    "review list",
    "stats --json",
    "undo --by cy --since 1h --dry-run",
]


def test_a_call_needs_one_space(run: Run, memory: ClusterMemory, settlers: Settlers) -> None:
    one = settlers.spaces[0]
    other = next(each for each in settlers.spaces if settlers.cells[each] != settlers.cells[one])
    token = make_token()
    with memory.open(OWNER) as owner:
        owner.execute("set search_path = textrawl, public")
        query = "select create_token(%s, 'trl_cy', 'cy', %s, %s)"
        owner.execute(query, (hash_token(token), settlers.names[one], SCOPES))
        owner.execute("select grant_access('cy', %s, %s)", (settlers.names[other], SCOPES))
    memory.send_directory()

    def call(*words: str) -> Outcome:
        return run(*words, DATABASE_URL=memory.dsn(), ACCESS_TOKEN=token)

    space = ("--space", settlers.names[other])
    assert call("remember", "Ada", "drinks tea", *space).code == 0
    for command in COMMANDS:
        refused, allowed = call(*command.split()), call(*command.split(), *space)

        assert "whole spaces of one cell" in refused.out + refused.err, command
        assert "whole spaces of one cell" not in allowed.out + allowed.err, command
        assert allowed.code == 0, command
