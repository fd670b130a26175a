"""A cloned repository: what its files can decide about a user's memory."""

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters

from tests.support.commands import (
    Launch,
    Run,
    data_dir,
    find_socket_folder,
    home,
    launch,
    name_memory,
    run,
    seed,
    serve_over_stdio,
)
from tests.support.folders import write_env
from tests.support.hosts import read_logs
from tests.support.llm_server import LlmServer
from tests.support.providers import EmbeddingServer
from textrawl.connect.clients import find_script
from textrawl.environment import PROJECT_SETTINGS, find_user_file
from textrawl.settings import Settings, read_foreign_environment

__all__ = ["data_dir", "home", "launch", "run", "seed"]

LLM = """
TEXTRAWL_LLM_PROVIDER=openai
TEXTRAWL_LLM_BASE_URL={url}
TEXTRAWL_LLM_MODEL=m
TEXTRAWL_LLM_API_KEY=sk-theirs
TEXTRAWL_ENABLE_MEMORY_EXTRACTION=true
TEXTRAWL_CONSOLIDATE_JOURNAL=true
TEXTRAWL_TOOLSETS=memory,journal
"""
EMBEDDINGS = """
TEXTRAWL_EMBEDDING_PROVIDER=openai
TEXTRAWL_OPENAI_BASE_URL={url}
TEXTRAWL_OPENAI_API_KEY=sk-theirs
"""
PROXY = """
HTTP_PROXY={url}
ALL_PROXY={url}
http_proxy={url}
OPENAI_BASE_URL={url}
HF_ENDPOINT={url}
SSL_CERT_FILE=/nowhere
PGHOST=/nowhere
PGOPTIONS=-c search_path=public
"""
ENTRY = {
    "granularity": "daily", "date": "2026-05-12", "instanceId": "laptop",
    "content": "- Met Ada about the merger [chat:7]",
}  # fmt: skip
WEEK = {"granularity": "weekly", "all": True}


@pytest.fixture
def llm() -> Iterator[LlmServer]:
    """The LLM of whoever wrote the repository."""
    with LlmServer(lambda _: "- merger") as server:
        yield server


@pytest.fixture
def provider() -> Iterator[EmbeddingServer]:
    """The embedding provider of whoever wrote the repository."""
    with EmbeddingServer(dimensions=64) as server:
        yield server


async def consolidate(server: StdioServerParameters, *entries: dict[str, str]) -> bool:
    """Store entries in the user's journal and consolidate it; whether that worked."""
    async with Client(server) as client:
        for entry in entries:
            stored = await client.call_tool("memory_create", entry)
            assert not stored.is_error, stored.content
        done = await client.call_tool("memory_consolidate", WEEK)
    return not done.is_error


@pytest.mark.anyio
async def test_the_journal_is_not_sent_to_the_llm_of_a_repository_until_the_user_trusts_it(
    database_url: str, llm: LlmServer
) -> None:
    server = serve_over_stdio(database_url, TOOLSETS="memory,journal")
    write_env(LLM.format(url=llm.openai_url))

    done = await consolidate(server, ENTRY)
    sent = len(llm.requests)
    write_env(LLM.format(url=llm.openai_url), trusted=True)
    await consolidate(server, {**ENTRY, "date": "2026-05-05"})  # that week is still claimed

    assert (done, sent) == (False, 0)
    assert "merger" in llm.requests[0].user


def test_a_memory_that_begins_in_a_repository_does_not_get_its_embedding_provider(
    launch: Launch, database_url: str, provider: EmbeddingServer
) -> None:
    file = write_env(EMBEDDINGS.format(url=provider.openai_url))

    stored = launch("remember", "Ada", "likes tea", **name_memory(database_url)).end()
    doctor = launch("doctor", "--json", **name_memory(database_url)).end()

    assert stored.code == 0
    assert stored.err.splitlines()[0] == (
        f"textrawl: {file} sets TEXTRAWL_EMBEDDING_PROVIDER, TEXTRAWL_OPENAI_API_KEY, "
        "TEXTRAWL_OPENAI_BASE_URL, which textrawl ignores there, because a repository can bring "
        f"this file. If you trust it, run textrawl trust {file.parent}"
    )
    findings = json.loads(doctor.out)["findings"]
    [note] = [item["told"] for item in findings if item["name"] == ".env"]
    [model] = [item["told"] for item in findings if item["name"] == "model"]
    assert f"textrawl: {note}" == stored.err.splitlines()[0]
    assert model.startswith("local:")
    assert provider.requests == []
    assert "sk-theirs" not in stored.err + doctor.out


def test_a_file_sets_nothing_for_the_libraries_of_a_process_even_if_it_is_trusted(
    launch: Launch, database_url: str, provider: EmbeddingServer
) -> None:
    with EmbeddingServer(dimensions=64) as theirs:
        write_env(PROXY.format(url=theirs.openai_url), trusted=True)
        own = {
            "OPENAI_BASE_URL": provider.openai_url,
            "OPENAI_API_KEY": "k",
            "EMBEDDING_MODEL": "m",
        }
        memory = name_memory(database_url, EMBEDDING_PROVIDER="openai", **own)

        stored = launch("remember", "Ada", "likes tea", **memory).end()

        assert (stored.code, stored.err) == (0, "")
        assert theirs.requests == []
    assert {request.authorization for request in provider.requests} == {"Bearer k"}


def test_only_formats_and_sizes_count_in_a_file_that_nobody_trusts(run: Run) -> None:
    """A setting that is added counts there only if somebody adds it to PROJECT_SETTINGS too."""
    values = {"compact_responses": "lines", "structured_content": "off", "log_format": "json"}
    numbers = dict.fromkeys(PROJECT_SETTINGS - {*values, "close_facts"}, "777")
    values |= {"close_facts": "false", **numbers}
    lines = [f"TEXTRAWL_{name.upper()}={values.get(name, 'x')}" for name in Settings.model_fields]
    file = write_env("\n".join(lines))

    outcome = run("settings", "--json")

    rows = {row["name"]: row for row in json.loads(outcome.out)}
    taken = {name for name, row in rows.items() if row["source"] == str(file)}
    assert taken == {f"TEXTRAWL_{name.upper()}" for name in PROJECT_SETTINGS}
    [line] = outcome.err.splitlines()
    assert {word for word in rows if word in line.replace(",", " ").split()} == {*rows} - taken
    assert not {name for name in PROJECT_SETTINGS if name.endswith(("_url", "_key", "_dir"))}


WRONG = {
    "close_facts": ("maybe", "2"),
    "compact_responses": ("tiny",),
    "digest_tokens": ("99", "5001", "many", "1e3"),
    "log_format": ("xml", "JSON "),
    "max_graph_tokens": ("49", "200001", "-1"),
    "max_recall_tokens": ("-1", "100001", "1.5"),
    "max_response_tokens": ("49", "1000000", "\udcff"),
    "structured_content": ("on", "FULL"),
}
"""Values that the settings of PROJECT_SETTINGS cannot have."""

UNUSABLE = {
    "latin": ("TEXTRAWL_LOG_FORMAT=caf\xe9\n".encode("latin-1"), "is not UTF-8 (line 1)"),
    "utf-16": ("TEXTRAWL_LOG_FORMAT=json\n".encode("utf-16-le"), "is not UTF-8 but UTF-16"),
    "unreadable": (b"", "cannot be read"),
}
"""Files that cannot be read as a whole, with their fault."""


@pytest.mark.parametrize(
    ("name", "text"), [(name, text) for name, texts in WRONG.items() for text in texts]
)
def test_a_wrong_value_in_a_file_that_nobody_trusts_is_named_and_ignored(
    run: Run, name: str, text: str
) -> None:
    variable = f"TEXTRAWL_{name.upper()}"
    content = f"{variable}={text}\nTEXTRAWL_READ_ONLY=x\n"
    file = write_env(content.encode("utf-8", "surrogateescape"))

    outcome = run("settings", "--json")

    rows = {row["name"]: row for row in json.loads(outcome.out)}
    assert (outcome.code, rows[variable]["source"]) == (0, "default")
    assert str(file) in outcome.err
    assert (variable in outcome.err) == (text != "\udcff")  # the file is not UTF-8 then
    assert set(WRONG) == PROJECT_SETTINGS


@pytest.mark.parametrize(
    "given", ["values", *(pytest.param(one, marks=pytest.mark.slow) for one in UNUSABLE)]
)
def test_no_file_that_nobody_trusts_ends_a_command_or_a_server(
    launch: Launch, database_url: str, given: str
) -> None:
    values = "".join(f"TEXTRAWL_{name.upper()}={texts[0]}\n" for name, texts in WRONG.items())
    content, fault = UNUSABLE.get(given, (values, "has values that textrawl ignores: "))
    file = write_env(content)
    if given == "unreadable":
        file.unlink()
        file.symlink_to("/proc/self/mem")

    memory = name_memory(database_url, EMBEDDING_PROVIDER="none")
    commands = ("remember Ada tea", "search tea", "recall tea", "stats", "settings", "doctor")
    ended = {words: launch(*words.split(), **memory).end() for words in commands}
    server = launch("serve", **memory)
    server.open()
    hook = launch("hook", **memory).end()

    assert {words: end.code for words, end in ended.items()} == dict.fromkeys(commands, 0)
    named = (" ".join(end.err.split()) for words, end in ended.items() if words != "doctor")
    assert all(fault in text and str(file) in text for text in named)
    assert fault in " ".join(ended["doctor"].out.split())
    server.end()
    assert fault in " ".join(read_logs(Path(find_socket_folder())).split())
    assert (hook.code, hook.err) == (0, "")


def test_a_wrong_value_of_a_repository_leaves_the_users_own(run: Run) -> None:
    find_user_file().parent.mkdir(parents=True)
    find_user_file().write_text("DIGEST_TOKENS=300\n", encoding="utf-8")
    write_env("TEXTRAWL_DIGEST_TOKENS=1\n")

    rows = json.loads(run("settings", "--json").out)

    assert [row["value"] for row in rows if row["name"] == "TEXTRAWL_DIGEST_TOKENS"] == ["300"]


def test_trust_ends_with_a_change_of_the_file_and_when_the_user_takes_it_back(
    run: Run, tmp_path: Path
) -> None:
    def read_space() -> str:
        rows = json.loads(run("settings", "--json").out)
        return next(row["value"] for row in rows if row["name"] == "TEXTRAWL_SPACE")

    file = write_env("TEXTRAWL_SPACE=team\n")
    before = read_space()
    said = run("trust", ".").err
    trusted, listed = read_space(), run("trust", "--list").out
    write_env("TEXTRAWL_SPACE=theirs\n")
    changed, seen = read_space(), run("trust", "--list").out
    again = run("trust")
    renewed = read_space()
    taken = run("distrust", str(tmp_path)).err

    assert (before, trusted, changed, renewed, read_space()) == ("", "team", "", "theirs", "")
    assert said == f"{file} is trusted until it changes. It now sets TEXTRAWL_SPACE.\n"
    assert (listed, seen) == (f"trusted\t{file}\n", f"changed\t{file}\n")
    assert again.code == 0
    assert taken == f"{file} is no longer trusted.\n"
    assert run("distrust").err == f"{file} is not trusted.\n"
    assert run("trust", "--list").out == ""


def test_trust_is_for_one_folder_and_is_not_in_it(run: Run, tmp_path: Path) -> None:
    mine, theirs = tmp_path / "mine", tmp_path / "theirs"
    mine.mkdir()
    (mine / ".env").write_text("TEXTRAWL_SPACE=team\n", encoding="utf-8")

    code = run("trust", str(mine)).code
    shutil.copytree(mine, theirs)

    assert (code, [path.name for path in theirs.iterdir()]) == (0, [".env"])
    assert run("trust", "--list").out == f"trusted\t{mine / '.env'}\n"
    assert run("trust", str(tmp_path)).complaint == (
        f"{tmp_path / '.env'} cannot be read: No such file or directory"
    )
    shutil.rmtree(mine)
    assert json.loads(run("trust", "--list", "--json").out) == [
        {"file": str(mine / ".env"), "state": "missing"}
    ]
    assert run("distrust", str(mine)).err == f"{mine / '.env'} is no longer trusted.\n"


def test_a_quick_command_says_what_it_ignores(run: Run, database_url: str) -> None:
    file = write_env("TEXTRAWL_SERVER_URL=http://127.0.0.1:9/mcp\n")
    for command in ("recall tea", "digest"):
        outcome = run(*command.split(), **name_memory(database_url))

        assert outcome.code == 0
        assert outcome.err.startswith(
            f"textrawl: {file} sets TEXTRAWL_SERVER_URL, which textrawl ign"
        )


def test_the_process_that_reads_files_does_not_load_modules_of_the_working_folder(
    tmp_path: Path, data_dir: Path
) -> None:
    (tmp_path / "pickle.py").write_text("open('loaded', 'w').close()\n", encoding="utf-8")
    (tmp_path / "notes.md").write_text("Ada likes tea\n", encoding="utf-8")
    settings = {"DATA_DIR": str(data_dir), "EMBEDDING_PROVIDER": "none"}

    # The program as it is installed. `python -m textrawl` would load the module itself.
    done = subprocess.run(
        [*find_script(), "ingest", "notes.md"],
        env=read_foreign_environment() | settings,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "loaded").exists()
