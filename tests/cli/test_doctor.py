"""`textrawl doctor`: what is well, what is not, what to do."""

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
import psycopg
import pytest

from tests.conftest import TOKEN, Databases
from tests.support.commands import Run
from tests.support.llm_server import LlmServer
from tests.support.provider_server import Fault
from textrawl.doctor.checks import judge_extension
from textrawl.embedded.cluster import run_embedded
from textrawl.embedded.postmaster import OWNER, SUPERUSER
from textrawl.postgres.inspection import Server
from textrawl.postgres.migrations import migrate

Examine = Callable[..., dict[str, tuple[str, str]]]


@pytest.fixture
def examine(run: Run) -> Examine:
    """Findings by name, as (verdict, told); the exit code is checked on the way."""

    def go(*words: str, **environment: Any) -> dict[str, tuple[str, str]]:
        given = {"ACCESS_TOKEN": TOKEN} if "DATABASE_URL" in environment else {}
        outcome = run("doctor", "--json", *words, **(given | environment))
        report = json.loads(outcome.out)
        findings = {item["name"]: (item["verdict"], item["told"]) for item in report["findings"]}
        broken = any(verdict == "broken" for verdict, _ in findings.values())
        assert (report["ok"], outcome.code) == (not broken, int(broken))
        return findings

    return go


@pytest.fixture
def without_vectors(postgres: Databases) -> Iterator[str]:
    """Connection string of an empty database without pgvector."""
    with postgres.create() as name:
        yield postgres.cluster.dsn(OWNER, name)


def test_all_is_well_with_a_database_that_is_up_to_date(
    examine: Examine, database_url: str
) -> None:
    findings = examine(DATABASE_URL=database_url)

    assert {name: verdict for name, (verdict, _) in findings.items()} == dict.fromkeys(
        (
            "settings", "database", "pgvector", "schema", "login", "access", "write", "model",
            "embeddings", "tokens",
        ),
        "ok",
    )  # fmt: skip
    assert findings["database"][1].startswith("PostgreSQL 18.")
    assert "256 dimensions, one text in " in findings["embeddings"][1]
    assert "o200k_base" in findings["tokens"][1]


def test_a_changed_table_is_named(
    examine: Examine, owner: psycopg.Connection, database_url: str
) -> None:
    owner.execute("alter table entity alter column name drop not null")
    verdict, message = examine(DATABASE_URL=database_url)["schema"]
    assert verdict == "broken"
    assert "the column entity.name differs" in message
    assert "`textrawl export memory.jsonl`" in message


def test_a_fact_is_stored_and_rolled_back(
    examine: Examine, owner: psycopg.Connection, database_url: str
) -> None:
    assert examine(DATABASE_URL=database_url)["write"] == (
        "ok",
        "a fact was stored in default and rolled back",
    )
    for table in ("entity", "observation", "event"):
        assert owner.execute(f"select count(*) from {table}").fetchone() == (0,)  # noqa: S608


def test_a_write_that_fails_is_told(
    examine: Examine, owner: psycopg.Connection, database_url: str
) -> None:
    owner.execute("revoke execute on function remember_fact from textrawl_app")
    verdict, message = examine(DATABASE_URL=database_url)["write"]
    assert verdict == "broken"
    assert "does not fit this version" in message
    assert "write" not in examine(DATABASE_URL=database_url, READ_ONLY="true")


def test_an_embedded_memory_that_the_next_start_refuses_is_broken(
    examine: Examine, data_dir: Path
) -> None:
    async def make() -> None:
        async with run_embedded(data_dir) as cluster:
            await migrate(cluster.dsn(OWNER))
            with psycopg.connect(cluster.dsn(OWNER), autocommit=True) as owner:
                owner.execute(
                    "update textrawl.migration set name = '0001_spaces' where name = '0001_actors'"
                )

    async def spoil() -> None:
        async with run_embedded(data_dir) as cluster:
            with psycopg.connect(cluster.dsn(OWNER), autocommit=True) as owner:
                owner.execute("alter table textrawl.entity alter column name drop not null")

    anyio.run(make)
    verdict, message = examine(DATA_DIR=data_dir)["schema"]
    assert (verdict, "run `textrawl migrate`, or start a server" in message) == ("note", True)
    anyio.run(spoil)
    verdict, message = examine(DATA_DIR=data_dir)["schema"]
    assert (verdict, "git worktree add" in message) == ("broken", True)


def test_each_finding_is_a_line_for_people(run: Run, database_url: str) -> None:
    outcome = run("doctor", DATABASE_URL=database_url, ACCESS_TOKEN=TOKEN)

    assert outcome.code == 0
    assert "ok\tschema\tup to date" in outcome.out.splitlines()


def test_the_model_that_the_memory_is_searched_with_is_told_whatever_the_settings_say(
    examine: Examine, owner: psycopg.Connection, database_url: str
) -> None:
    assert examine(DATABASE_URL=database_url)["model"] == ("ok", "no vectors yet")
    owner.execute("select register_embedding_model('openai:bge-m3', 1024)")
    verdict, message = examine(DATABASE_URL=database_url, EMBEDDING_PROVIDER="local")["model"]
    assert (verdict, message) == ("ok", "openai:bge-m3; `textrawl embed` changes it")


@pytest.mark.parametrize(
    ("state", "fault"),
    [
        ("missing", "drop index textrawl.embedding_1_vector_idx"),
        # As a build leaves it that was killed.
        ("unfinished", "update pg_index set indisvalid = false"
         " where indexrelid = 'textrawl.embedding_1_vector_idx'::regclass"),
    ],
)  # fmt: skip
def test_an_index_of_vectors_that_does_not_answer_is_told(
    examine: Examine, postgres: Databases, database: str, database_url: str, state: str, fault: str
) -> None:
    with psycopg.connect(postgres.cluster.dsn(SUPERUSER, database)) as superuser:
        superuser.execute("select textrawl.register_embedding_model('test:three', 3)")
        superuser.execute(fault.encode())

    verdict, message = examine(DATABASE_URL=database_url)["vector indexes"]

    assert verdict == "note"
    assert message == (
        f"embedding_1_vector_idx is {state}. If no build is running, run `textrawl migrate`"
    )


def test_migrate_builds_an_index_of_vectors_that_is_missing(
    run: Run, examine: Examine, postgres: Databases, database: str, database_url: str
) -> None:
    with psycopg.connect(postgres.cluster.dsn(OWNER, database)) as owner:
        owner.execute("select textrawl.register_embedding_model('test:three', 3)")
        owner.execute("drop index textrawl.embedding_1_vector_idx")

    assert run("migrate", DATABASE_URL=postgres.cluster.dsn(OWNER, database)).code == 0

    examined = examine(DATABASE_URL=database_url)
    assert examined["vector indexes"] == ("ok", "embedding_1_vector_idx, item_vector_1_idx")


def test_a_database_that_is_down_is_broken_and_the_reason_is_told(examine: Examine) -> None:
    verdict, message = examine(DATABASE_URL="postgresql://127.0.0.1:1/memory")["database"]

    assert verdict == "broken"
    assert "Start Postgres, or check TEXTRAWL_DATABASE_URL" in message
    assert "Connection refused" in message


def test_a_database_without_pgvector_is_broken_with_the_statement_to_run(
    examine: Examine, without_vectors: str
) -> None:
    findings = examine(DATABASE_URL=without_vectors)

    assert findings["pgvector"][0] == "broken"
    assert (
        "run `create extension vector` in this database as a superuser" in findings["pgvector"][1]
    )
    assert findings["schema"] == (
        "broken",
        "This database has no memory yet: run `textrawl migrate`",
    )


def test_a_server_without_pgvector_has_to_install_it() -> None:
    finding = judge_extension(Server("17.1", None, None))

    assert finding.verdict == "broken"
    assert finding.message == "missing: install 0.8 or newer on the database server"


def test_settings_that_cannot_be_used_are_the_only_finding(examine: Examine) -> None:
    findings = examine(DATABASE_TIMEOUT="soon")

    assert list(findings) == ["settings"]
    assert findings["settings"][0] == "broken"
    assert "DATABASE_TIMEOUT" in findings["settings"][1]


def test_a_memory_that_is_not_there_yet_is_no_fault_and_is_not_made(
    examine: Examine, home: Path
) -> None:
    findings = examine(DATA_DIR=home / "data")

    assert findings["data folder"] == (
        "note",
        f"{home / 'data'}: no database yet; the first `textrawl serve` creates it",
    )
    assert "database" not in findings
    assert list(home.iterdir()) == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_is_broken(examine: Examine, home: Path) -> None:
    home.chmod(0o500)

    findings = examine(DATA_DIR=home / "data")

    assert findings["data folder"][0] == "broken"


def test_a_data_folder_in_a_file_is_broken(examine: Examine, home: Path) -> None:
    (home / "file").write_text("", encoding="utf-8")

    verdict, message = examine(DATA_DIR=home / "file" / "data")["data folder"]

    assert (verdict, message) == (
        "broken",
        f"{home / 'file'} is not a folder: set TEXTRAWL_DATA_DIR to a writable folder, or "
        "set TEXTRAWL_DATABASE_URL",
    )


def test_an_embedded_memory_is_started_looked_at_and_stopped(
    examine: Examine, data_dir: Path, postmasters: Callable[[], list[int]]
) -> None:
    findings = examine(DATA_DIR=data_dir)

    assert findings["data folder"][1].endswith("Postgres was stopped before the check")
    assert findings["schema"] == ("ok", "up to date")
    assert postmasters() == []


async def age(data_dir: Path) -> None:
    """Makes it a memory whose functions an older textrawl made."""
    async with run_embedded(data_dir) as cluster:
        with psycopg.connect(cluster.dsn(OWNER)) as connection:
            connection.execute("update textrawl.code set fingerprint = 'of another'")


def test_an_embedded_memory_of_an_older_textrawl_is_no_fault(
    examine: Examine, data_dir: Path
) -> None:
    anyio.run(age, data_dir)

    verdict, message = examine(DATA_DIR=data_dir)["schema"]

    assert verdict == "note"
    assert message.endswith("run `textrawl migrate`, or start a server, which does the same")


def test_a_provider_without_its_key_is_broken(examine: Examine, database_url: str) -> None:
    verdict, message = examine(DATABASE_URL=database_url, EMBEDDING_PROVIDER="openai")["embeddings"]

    assert verdict == "broken"
    assert message.startswith("TEXTRAWL_OPENAI_API_KEY is not set")


def test_a_provider_that_is_down_leaves_keywords(examine: Examine, database_url: str) -> None:
    verdict, message = examine(
        DATABASE_URL=database_url,
        EMBEDDING_PROVIDER="ollama",
        OLLAMA_BASE_URL="http://127.0.0.1:1",
    )["embeddings"]

    assert verdict == "note"
    assert message.startswith(
        "ollama:nomic-embed-text cannot be used: Embedding service unavailable"
    )
    assert "search uses only keywords" in message


def test_a_model_that_textrawl_no_longer_runs_is_broken_and_names_the_commands(
    examine: Examine, database_url: str, owner: psycopg.Connection
) -> None:
    owner.execute("select register_embedding_model('fastembed:BAAI/bge-small-en-v1.5', 384)")

    verdict, message = examine(DATABASE_URL=database_url)["embeddings"]

    assert verdict == "broken"
    assert "run `textrawl embed start --provider encoder`, then `textrawl embed switch`" in message
    assert "search uses only keywords" in message


def test_going_without_embeddings_or_memory_is_worth_a_note(
    examine: Examine, database_url: str
) -> None:
    findings = examine(DATABASE_URL=database_url, EMBEDDING_PROVIDER="none", ENABLE_MEMORY="off")

    assert findings["embeddings"] == ("note", "none: search uses only keywords")
    assert findings["memory"] == ("note", "off: set TEXTRAWL_ENABLE_MEMORY=true to offer it")


def test_a_login_that_is_refused_is_broken(
    examine: Examine, postgres: Databases, owner: psycopg.Connection
) -> None:
    verdict, message = examine(DATABASE_URL=postgres.cluster.dsn(SUPERUSER, "no_such"))["database"]

    assert verdict == "broken"
    assert 'database "no_such" does not exist' in message


def test_each_setting_is_shown_with_where_it_was_found(run: Run, home: Path) -> None:
    outcome = run(
        "doctor", TEXTRAWL_DATA_DIR=home / "data", SPACE="team", OPENAI_API_KEY="sk-s3cret"
    )

    flat = " ".join(outcome.out.split())
    assert f"TEXTRAWL_DATA_DIR={home / 'data'} (environment)" in flat
    assert "TEXTRAWL_SPACE=team (environment, as SPACE)" in flat
    assert "TEXTRAWL_OPENAI_API_KEY=(set, not shown) (environment, as OPENAI_API_KEY)" in flat
    assert "all other settings have their defaults" in flat
    assert "s3cret" not in flat


def test_an_llm_is_asked_for_a_word_and_a_fault_of_it_is_only_noted(
    examine: Examine, database_url: str
) -> None:
    for provider in ("openai", "ollama"):
        with LlmServer(lambda _: "yes") as server:
            given: dict[str, Any] = {
                "DATABASE_URL": database_url,
                "LLM_PROVIDER": provider,
                "LLM_MODEL": "m",
                "LLM_BASE_URL": server.openai_url if provider == "openai" else server.url,
            }
            good = examine(**given)["llm"]
            server.fail(Fault.MODEL_MISSING)
            bad = examine(**given)["llm"]

        assert good[0] == "ok"
        assert good[1].startswith("The LLM server m: " if provider == "openai" else "Ollama m: ")
        assert bad[0] == "note"
        assert "LLM_MODEL_MISSING" in bad[1]
        assert "Until it works, the journal is not consolidated" in bad[1]
