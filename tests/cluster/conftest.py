"""A distributed memory on a real cluster, fresh for each test."""

from collections.abc import Iterator

import pytest

from tests.cluster.settlers import Settlers
from tests.support.cluster import CitusCluster, ClusterMemory


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of this folder that need the cluster. It starts slowly."""
    for item in items:
        here = item.nodeid.startswith("tests/cluster/")
        if here and "citus" in getattr(item, "fixturenames", ()):
            item.add_marker("citus")
            item.add_marker("slow")


@pytest.fixture
def memory(citus: CitusCluster) -> Iterator[ClusterMemory]:
    """A fresh distributed memory with four cells on two workers."""
    with citus.create_memory() as memory:
        yield memory


@pytest.fixture
def settlers(memory: ClusterMemory) -> Settlers:
    """Somebody with grants in several spaces, which are spread over all cells."""
    return Settlers(memory)
