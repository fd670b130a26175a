"""Writers in each other's way all get through, and make nothing twice."""

from collections.abc import Callable

import psycopg
import pytest

from tests.attacks.contention import ENTITIES, contend
from tests.attacks.site import issue, open_site
from textrawl.settings import Settings

pytestmark = pytest.mark.anyio


@pytest.mark.slow
async def test_sixteen_writers_of_the_same_entities_in_opposite_orders_all_get_through(
    owner: psycopg.Connection, settings: Callable[..., Settings]
) -> None:
    token = issue(owner, "ana", "default", "write")
    async with open_site(settings(embedding_provider="none")) as site:
        # Each writer takes all its steps once.
        ends = await contend(site, token, lambda ends: ends.total() >= 160)

    assert set(ends) == {"ok"}
    assert ends["ok"] >= 160
    names = owner.execute("select count(*), count(distinct name_key) from entity").fetchone()
    assert names is not None
    assert names[0] == names[1] <= ENTITIES
    twice = owner.execute(
        "select count(*) from (select from observation group by entity_id, content_hash"
        " having count(*) > 1) o"
    ).fetchone()
    assert twice == (0,)
