"""Sensitive graphs in the explorer: shown and searched by `textrawl explore`, and by no server."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest
from anyio import to_thread

from tests.conftest import Databases
from tests.explorer.markup import Document
from tests.explorer.test_grants_page import own_browser
from tests.explorer.visiting import Browser, Place
from tests.support.commands import Launch, Outcome, launch
from textrawl.embedded.postmaster import OWNER
from textrawl.memory.key_files import KeyFiles

__all__ = ["launch", "own_browser"]
pytestmark = pytest.mark.anyio
WORD = "quixotabel"


async def look(browser: Browser, page: str = "encrypted", **given: str) -> Document:
    """A page about the graph, or what its search finds."""
    shown = await (browser.post if given else browser.get)(page, space="diary", **given)
    assert shown.status_code == 200, shown.text
    document = Document(shown.text)
    assert (document.faults, shown.headers["cache-control"]) == ([], "no-store")
    return document


@pytest.fixture
def diary(
    owner: psycopg.Connection, postgres: Databases, database: str, launch: Launch, tmp_path: Path
) -> Callable[[], Outcome]:
    """Stores a document in a sensitive graph of the owner, who has no key yet."""
    owner.execute(
        "select create_space('diary', tier => 'sensitive'),"
        " grant_access('textrawl_owner', 'diary', '{read,write,admin}')"
    )
    file, url = tmp_path / "notes.md", postgres.cluster.dsn(OWNER, database)
    file.write_text(f"# Tea\n\nTea is served by <{WORD}>.\n", encoding="utf-8")
    words = ("ingest", str(file), "--graph", "diary", "--json")
    return lambda: launch(*words, DATABASE_URL=url, EMBEDDING_PROVIDER="none").end()


@pytest.mark.slow
async def test_the_owner_reads_and_searches_a_sensitive_graph_on_the_own_machine(
    diary: Callable[[], Outcome], own_browser: Browser
) -> None:
    empty = await look(own_browser)
    assert json.loads((await to_thread.run_sync(diary)).out)["added"] == 1
    listed, all_graphs = await look(own_browser), await own_browser.get("documents")
    found = await look(own_browser, q=f"served {WORD}")
    nothing = await look(own_browser, q="coffee")

    assert "It has no documents" in empty.prose
    assert "notes.md" in listed.prose
    assert "/explore/encrypted?space=diary" in all_graphs.text
    assert f"Tea is served by <{WORD}>." in found.prose
    assert "No document has these words" in nothing.prose


@pytest.mark.slow
async def test_without_the_right_key_a_sensitive_graph_is_not_shown(
    diary: Callable[[], Outcome], own_browser: Browser, tmp_path: Path
) -> None:
    await to_thread.run_sync(diary)
    key, other = Path(KeyFiles(None).place), tmp_path / "other" / "encryption.key"
    KeyFiles(f"file:{other}").create()
    await own_browser.get("home")
    shutil.move(key, tmp_path / "kept.key")
    missing = await own_browser.get("encrypted", space="diary")
    shutil.copy(other, key)
    wrong = await own_browser.post("encrypted", space="diary", q="tea")

    assert (missing.status_code, wrong.status_code) == (409, 409)
    for page in (missing, wrong):
        assert "The key of the graph cannot be used" in page.text
        assert WORD not in page.text


async def test_a_server_shows_no_sensitive_graph_to_anybody(place: Place) -> None:
    place.owner.execute(
        "select create_space('diary', tier => 'sensitive'),"
        " grant_access('keeper', 'diary', '{read,write,admin}')"
    )
    async with place.browse("keeper") as browser:
        codes = [
            (await browser.get("encrypted", space="diary")).status_code,
            (await browser.post("encrypted", space="diary", q="tea")).status_code,
        ]
        graphs = (await browser.get("documents")).text

    assert (codes, "diary" in graphs) == ([404, 404], False)
