"""A server with the explorer, and the people who use it."""

from collections.abc import AsyncIterator, Callable, Iterator

import psycopg
import pytest

from tests.conftest import Databases, hide_settings
from tests.explorer.chromium import chromium
from tests.explorer.material import fill, propose_all, write_texts
from tests.explorer.siege import Siege, besiege
from tests.explorer.visiting import Place, open_place
from tests.support.sources import store
from textrawl import read_settings
from textrawl.access.access_token import hash_token
from textrawl.embedded.postmaster import APP
from textrawl.settings import Settings

__all__ = ["chromium"]


@pytest.fixture
async def place(
    settings: Callable[..., Settings], owner: psycopg.Connection
) -> AsyncIterator[Place]:
    """A server without an embedding provider, which starts faster."""
    async with open_place(settings(embedding_provider="none"), owner) as place:
        yield place


@pytest.fixture
async def siege(
    settings: Callable[..., Settings], owner: psycopg.Connection
) -> AsyncIterator[Siege]:
    """A team whose pages and forms are tried by people with different rights."""
    async with open_place(settings(embedding_provider="none", rate_limit=0), owner) as place:
        yield besiege(place)


@pytest.fixture
async def filled(place: Place) -> Place:
    """A server with a memory to look at, proposals, and a second space to share with."""
    fill(place.owner)
    propose_all(place.owner, place.tokens["proposer"])
    write_texts(place.owner, "drinks green tea in Oslo", hash_token(place.tokens["keeper"]))
    place.owner.execute(
        "select create_space('other'), grant_access('keeper', 'other', '{read,write}'),"
        " create_space('handbook', tier => 'personal'),"
        " grant_access('keeper', 'handbook', '{read,write}'),"
        " grant_access('writer', 'handbook', '{read,write}')"
    )
    store(place.owner, "handbook")
    return place


@pytest.fixture(scope="module")
def empty_memory(
    postgres: Databases, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Settings, psycopg.Connection]]:
    """A database for the tests of a module, and its owner."""
    with postgres.create("migrated") as name, postgres.open(name) as owner:
        with pytest.MonkeyPatch.context() as monkeypatch:
            hide_settings(monkeypatch, tmp_path_factory.mktemp("shared"))
            url = postgres.cluster.dsn(APP, name)
            settings = read_settings(database_url=url, embedding_provider="none")
        yield settings, owner


@pytest.fixture(scope="module")
async def shared_place(
    empty_memory: tuple[Settings, psycopg.Connection],
) -> AsyncIterator[Place]:
    """A server for all tests of a module that store nothing. It starts once."""
    async with open_place(*empty_memory) as place:
        yield place
