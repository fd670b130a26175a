"""A server that an editor starts in a project, whose own .env is about other things."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from mcp import Client

from tests.cli.test_serve import describe
from tests.conftest import TOKEN
from tests.support.commands import FACT, Run
from tests.support.providers import EmbeddingServer

PROJECT = """
DATABASE_URL=postgresql://app:s3cret@127.0.0.1:1/shop
OPENAI_API_KEY=sk-s3cret
OPENAI_BASE_URL={url}
EMBEDDING_PROVIDER=openai
READ_ONLY=true
"""
IGNORED = "DATABASE_URL, OPENAI_API_KEY, OPENAI_BASE_URL, EMBEDDING_PROVIDER, READ_ONLY"


@pytest.fixture
def openai(tmp_path: Path) -> Iterator[EmbeddingServer]:
    """The provider of the project in the working directory."""
    with EmbeddingServer(dimensions=64) as server:
        (tmp_path / ".env").write_text(PROJECT.format(url=server.openai_url), encoding="utf-8")
        yield server


@pytest.mark.anyio
async def test_a_server_over_stdio_uses_neither_the_projects_database_nor_its_key(
    openai: EmbeddingServer, database_url: str
) -> None:
    ours = {"TEXTRAWL_DATABASE_URL": database_url, "TEXTRAWL_ACCESS_TOKEN": TOKEN}
    async with Client(describe(**ours)) as client:
        stored = await client.call_tool("remember_fact", FACT)
        found = await client.call_tool("query_memory", {"query": "who likes tea?"})

    assert not stored.is_error
    assert found.structured_content is not None
    assert found.structured_content["entities"][0]["entityName"] == "Ada"
    assert openai.requests == []


@pytest.mark.usefixtures("openai")
def test_doctor_says_once_which_names_of_the_file_are_left_to_the_project(
    run: Run, tmp_path: Path, home: Path
) -> None:
    outcome = run("doctor", "--json", DATA_DIR=home / "data")

    [note] = [item for item in json.loads(outcome.out)["findings"] if item["name"] == ".env"]
    said = f"{tmp_path / '.env'} sets {IGNORED}, which textrawl ignores there: "
    assert (outcome.code, outcome.err) == (0, "")
    assert (note["verdict"], note["told"].startswith(said)) == ("note", True)
    assert "s3cret" not in outcome.out
    assert run("settings").err == ""


@pytest.mark.usefixtures("openai")
def test_the_same_file_named_by_an_option_is_used(run: Run) -> None:
    outcome = run("--env-file", ".env", "doctor")

    flat = " ".join(outcome.out.split())
    assert outcome.code == 1
    assert "TEXTRAWL_OPENAI_API_KEY=(set, not shown) (.env, as OPENAI_API_KEY)" in flat
    assert "TEXTRAWL_DATABASE_URL=user=app host=127.0.0.1 port=1 dbname=shop" in flat
    assert "which textrawl ignores there" not in flat
    assert "s3cret" not in flat
