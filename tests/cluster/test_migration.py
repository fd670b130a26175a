"""`textrawl migrate` of a cluster: what it refuses, and the rights of what it makes."""

import pytest

from tests.support.cluster import CitusCluster, ClusterMemory
from textrawl import migrate
from textrawl.cluster.migration import migrate_distributed
from textrawl.embedded.postmaster import OWNER, SUPERUSER
from textrawl.errors import StartRefused

pytestmark = pytest.mark.anyio


async def test_a_cluster_is_needed(citus: CitusCluster) -> None:
    """The refusal names the step that is missing."""
    with (
        citus.create_database("vector") as name,
        pytest.raises(StartRefused, match="extension Citus is missing"),
    ):
        await migrate_distributed(citus.coordinator.dsn(SUPERUSER, name))
    with citus.create_database("vector", "citus") as name:
        with pytest.raises(StartRefused, match="no workers yet"):
            await migrate_distributed(citus.coordinator.dsn(SUPERUSER, name))
        citus.join_workers(name)
        with pytest.raises(StartRefused, match="Only a superuser"):
            await migrate_distributed(citus.coordinator.dsn(OWNER, name))
        with pytest.raises(StartRefused, match="This node is a worker"):
            await migrate_distributed(citus.workers[0].dsn(SUPERUSER, name))
        with citus.coordinator.open(name) as session:
            session.execute("create schema textrawl")
        with pytest.raises(StartRefused, match="already has a memory on one Postgres"):
            await migrate_distributed(citus.coordinator.dsn(SUPERUSER, name))


async def test_one_node_alone_is_not_migrated(memory: ClusterMemory) -> None:
    with pytest.raises(StartRefused, match="textrawl migrate --distributed"):
        await migrate(memory.dsn(SUPERUSER))


async def test_a_version_with_other_tables_is_refused(memory: ClusterMemory) -> None:
    with memory.open(SUPERUSER) as coordinator:
        coordinator.execute("delete from textrawl.migration where name = '0009_proposals'")

    with pytest.raises(StartRefused, match="textrawl export"):
        await migrate_distributed(memory.dsn(SUPERUSER))


def test_functions_have_the_rights_of_the_owner_unless_citus_needs_more(
    memory: ClusterMemory,
) -> None:
    """Otherwise the owner of the memory, whose triggers they call, could become a superuser."""
    for node in memory.cluster.nodes:
        with memory.open(SUPERUSER, node) as session:
            rows = session.execute("""
                select proname from pg_proc p join pg_roles r on r.oid = p.proowner
                where rolsuper and pronamespace = 'textrawl_content'::regnamespace """)
            assert {name for (name,) in rows} == {
                "detach_vectors",
                "distribute_models",
                "drop_models",
                "register_actors",
            }
