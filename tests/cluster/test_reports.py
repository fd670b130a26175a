"""Reports of a distributed memory: of one space they work, of several cells they say so."""

import pytest

from tests.cluster.settlers import Settlers
from tests.support.cluster import ClusterMemory
from tests.support.commands import Outcome, Run, data_dir, run
from textrawl.access.access_token import hash_token, make_token
from textrawl.embedded.postmaster import OWNER

__all__ = ["data_dir", "run"]


@pytest.mark.parametrize("command", ["stats", "cost"])
def test_a_report_needs_one_space(
    run: Run, memory: ClusterMemory, settlers: Settlers, command: str
) -> None:
    one = settlers.spaces[0]
    other = next(each for each in settlers.spaces if settlers.cells[each] != settlers.cells[one])
    token = make_token()
    with memory.open(OWNER) as owner:
        owner.execute("set search_path = textrawl, public")
        query = "select create_token(%s, 'trl_cy', 'cy', %s, array['read', 'write'])"
        owner.execute(query, (hash_token(token), settlers.names[one]))
        owner.execute("select grant_access('cy', %s, array['read'])", (settlers.names[other],))
    memory.send_directory()

    def report(*words: str) -> Outcome:
        return run(command, "--json", *words, DATABASE_URL=memory.dsn(), ACCESS_TOKEN=token)

    refused, allowed = report(), report("--space", settlers.names[other])

    assert "name one space" in refused.out + refused.err
    assert "name one space" not in allowed.out + allowed.err
    assert allowed.code == 0
