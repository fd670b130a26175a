"""A memory answers by meaning from its first minute, whatever a model hub does."""

import json
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.conftest import Databases
from tests.support.commands import FACT, Launch, Outcome, Process, launch, name_memory, wait_for
from tests.support.model_hub import MODEL, NAME, ModelHub, name_hub
from tests.support.upkeep import count
from textrawl.embedded.postmaster import OWNER
from textrawl.models.embeddings import find_known_weights, find_weights

__all__ = ["launch"]

LOCAL = "local:wordllama-l2-supercat-256"
ASKED = {"EMBEDDING_PROVIDER": "fastembed"}
DRINK = "Which drink does she prefer?"
MEGABYTE = 1_000_000

Serve = Callable[..., Process]
Command = Callable[..., Outcome]
Examine = Callable[[dict[str, str]], tuple[int, str, str]]


@pytest.fixture
def hub() -> Iterator[ModelHub]:
    with ModelHub() as hub:
        yield hub


@pytest.fixture
def no_hub(tmp_path: Path) -> dict[str, str]:
    """The environment of a process whose hub refuses connections."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    return name_hub(f"http://127.0.0.1:{port}", tmp_path)


@pytest.fixture
def serve(launch: Launch, database_url: str) -> Serve:
    """Starts a server over stdio."""

    def start(environment: dict[str, str], **more: str) -> Process:
        server = launch(**name_memory(database_url), **environment, **more)
        server.open()
        return server

    return start


@pytest.fixture
def command(launch: Launch, postgres: Databases, database: str) -> Command:
    """Runs a command as the owner."""

    def run(words: str, environment: dict[str, str], **more: str) -> Outcome:
        url = postgres.cluster.dsn(OWNER, database)
        return launch(*words.split(), DATABASE_URL=url, **environment, **more).end()

    return run


@pytest.fixture
def examine(launch: Launch, database_url: str) -> Examine:
    """The exit code of `textrawl doctor`, and its verdict on the embeddings with the reason."""

    def run(environment: dict[str, str]) -> tuple[int, str, str]:
        outcome = launch("doctor", "--json", **name_memory(database_url), **environment).end()
        findings = {found["name"]: found for found in json.loads(outcome.out)["findings"]}
        embeddings = findings["embeddings"]
        return outcome.code, embeddings["verdict"], embeddings["told"]

    return run


def call(server: Process, tool: str, **arguments: Any) -> str:
    params = {"name": tool, "arguments": arguments}
    server.say({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": params})
    while (heard := server.hear()).get("id") != 3:
        pass
    return json.dumps(heard["result"])


def remember(server: Process, observation: str = "Her favourite beverage is tea") -> None:
    answer = call(server, "remember_fact", **FACT | {"observation": observation})
    assert '"isError": true' not in answer, answer


def search(server: Process, query: str = "favourite tea", **more: Any) -> str:
    asked = {"mode": "search", "query": query, "searchMode": "semantic", **more}
    return call(server, "query_memory", **asked)


def read_models(owner: psycopg.Connection) -> list[tuple[str, str, str | None]]:
    rows = owner.execute("select name, status, stands_in_for from embedding_models()").fetchall()
    return [(name, status, waits) for name, status, waits in rows]


def read_obstacle(owner: psycopg.Connection) -> str:
    row = owner.execute("select coalesce(max(obstacle), '') from embedding_models()").fetchone()
    return row[0] if row else ""


def download(hub: ModelHub, cache: Path, command: Command) -> dict[str, str]:
    """The environment of a machine that has the files, by a command that asked for them."""
    environment = hub.name_it(cache)
    outcome = command("embed start --provider fastembed", environment)
    assert outcome.code == 0, outcome.err
    return environment


def test_without_a_hub_the_local_model_stands_in_and_everything_says_why(
    serve: Serve,
    command: Command,
    examine: Examine,
    no_hub: dict[str, str],
    owner: psycopg.Connection,
) -> None:
    server = serve(no_hub, **ASKED)
    remember(server)

    assert "favourite beverage" in search(server)
    assert read_models(owner) == [(LOCAL, "active", NAME)]
    assert count(owner, "embedding_1") == 1
    wait_for(lambda: "Connection refused" in read_obstacle(owner))
    assert "favourite beverage" in search(server)

    status = command("embed status", no_hub, **ASKED)
    assert f"{LOCAL} stands in for {NAME}." in " ".join(status.err.split())
    assert "Connection refused" in status.err
    code, verdict, told = examine(no_hub | ASKED)
    assert (code, verdict) == (0, "note")  # calls are answered by meaning
    assert told.startswith(LOCAL)
    assert "Connection refused" in told
    assert f"Meanwhile this memory uses {LOCAL}" in (log := server.end().err)
    assert "could not be downloaded ([Errno 111] Connection refused)" in log


def test_nothing_is_downloaded_that_nobody_asked_for(
    serve: Serve,
    examine: Examine,
    hub: ModelHub,
    tmp_path: Path,
    owner: psycopg.Connection,
) -> None:
    environment = hub.name_it(tmp_path)
    server = serve(environment)
    remember(server)

    assert "favourite beverage" in search(server)
    assert read_models(owner) == [(LOCAL, "active", None)]
    code, verdict, told = examine(environment)
    assert (code, verdict) == (0, "ok")
    assert "this memory has its vectors" in told
    assert hub.asked == []


def test_a_memory_answers_while_its_model_arrives_slowly_and_then_changes_to_it(
    serve: Serve, hub: ModelHub, tmp_path: Path, owner: psycopg.Connection
) -> None:
    hub.hold(15 * MEGABYTE)  # huggingface_hub writes ten at a time
    server = serve(hub.name_it(tmp_path), **ASKED)
    remember(server)
    remember(server, "A train leaves from platform nine")

    wait_for(lambda: "is being downloaded (11 of 90 MB)" in read_obstacle(owner))
    assert "favourite beverage" in search(server)
    assert read_models(owner) == [(LOCAL, "active", NAME)]
    hub.heal()

    wait_for(lambda: (NAME, "active", None) in read_models(owner))
    assert read_models(owner) == [(LOCAL, "previous", None), (NAME, "active", None)]
    wait_for(lambda: "platform nine" not in search(server, DRINK, limit=1))
    remember(server, "plays the theremin")
    assert count(owner, "embedding_2") == 3
    assert f"{NAME} is in use from now on" in server.end().err


@pytest.mark.slow
def test_a_download_that_breaks_off_fails_with_its_reason_and_goes_on_later(
    command: Command, hub: ModelHub, tmp_path: Path, owner: psycopg.Connection
) -> None:
    hub.cut(3 * MEGABYTE)
    failed = command("embed start --provider fastembed", hub.name_it(tmp_path))

    assert failed.code == 1
    assert f"Downloading {NAME} (90.0 MB)" in failed.err
    assert "could not be downloaded (peer closed connection" in failed.err
    assert count(owner, "embedding_model") == 0
    hub.heal()
    download(hub, tmp_path, command)
    assert read_models(owner) == [(NAME, "active", None)]


@pytest.mark.slow
def test_a_model_on_this_machine_is_the_first_choice_of_a_new_memory_only_if_it_is_whole(
    serve: Serve,
    examine: Examine,
    command: Command,
    hub: ModelHub,
    tmp_path: Path,
    owner: psycopg.Connection,
) -> None:
    environment = download(hub, tmp_path, command)
    asked = len(hub.asked)
    owner.execute("select drop_unused_model(%s)", [NAME])
    told = examine(environment)
    assert told[:2] == (0, "ok")
    assert f"{NAME}: 384 dimensions" in told[2]
    assert "the best model whose files are on this machine" in told[2]
    [weights] = (tmp_path / "models").glob("models--*/snapshots/*/model.onnx")

    blob = weights.resolve()
    whole = blob.read_bytes()
    blob.write_bytes(whole[:-1])
    told = examine(environment)
    assert told[2].startswith(f"{LOCAL}: ")
    assert f"{MODEL} is not here" in told[2]
    blob.write_bytes(whole)
    server = serve(environment)
    remember(server)
    wait_for(lambda: read_models(owner) == [(NAME, "active", None)])
    assert len(hub.asked) == asked


def test_a_model_that_never_made_a_vector_is_replaced_where_its_files_cannot_be_had(
    serve: Serve, no_hub: dict[str, str], owner: psycopg.Connection
) -> None:
    owner.execute("select remember_fact('Ada', 'person', 'is fond of green tea')")
    owner.execute("select register_embedding_model(%s, 384)", [NAME])
    server = serve(no_hub)

    remember(server)

    assert "favourite beverage" in search(server)
    assert read_models(owner) == [(LOCAL, "active", None)]
    wait_for(lambda: count(owner, "embedding_2") == 2)


def test_a_memory_whose_vectors_need_a_model_that_is_away_answers_by_words_at_once(
    serve: Serve,
    examine: Examine,
    no_hub: dict[str, str],
    owner: psycopg.Connection,
) -> None:
    owner.execute("select register_embedding_model(%s, 384)", [NAME])
    owner.execute("select remember_fact('Ada', 'person', 'is fond of green tea')")
    owner.execute(
        "insert into embedding_1 select space_id, id, (select array_agg(1) from "
        "generate_series(1, 384))::real[]::vector::halfvec from observation"
    )
    server = serve(no_hub)

    answer = call(server, "query_memory", mode="search", query="green tea")

    assert "fond of green tea" in answer
    assert "keyword only" in answer
    assert read_models(owner) == [(NAME, "active", None)]
    code, verdict, told = examine(no_hub)
    assert (code, verdict) == (1, "broken")
    assert "Connection refused" in told


def test_the_default_model_is_found_without_fastembed_where_fastembed_finds_it() -> None:
    assert find_known_weights(MODEL) == find_weights(MODEL)
