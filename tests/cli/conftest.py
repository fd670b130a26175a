"""Commands as a user runs them."""

import pytest

from tests.conftest import Databases
from tests.support.commands import data_dir, home, launch, postmasters, run, seed
from textrawl.embedded.postmaster import OWNER

__all__ = ["data_dir", "home", "launch", "postmasters", "run", "seed"]


@pytest.fixture
def url(postgres: Databases, database: str) -> str:
    """Connection string of the memory's owner."""
    return postgres.cluster.dsn(OWNER, database)
