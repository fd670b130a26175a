"""What a host loads, in processes of their own: this one has loaded everything already."""

import json
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.commands import PING
from textrawl.settings import read_foreign_environment

HELLO = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "raw", "version": "1"},
    },
}
SERVE = """
import json, sys
from textrawl.__main__ import main

try:
    main(["host"])
finally:
    json.dump(list(sys.modules), sys.stderr)
"""
FOREIGN = (
    "openai", "ollama", "wordllama", "tokenizers", "tiktoken", "requests", "jwt",
    "prometheus_client",
)  # fmt: skip


def serve(folder: Path, **environment: str) -> list[str]:
    """The modules that a host has at its end, having shaken hands, in the order of loading."""
    place = {"DATA_DIR": str(folder / "data"), "HOST_IDLE": "0.02"}
    values = read_foreign_environment() | place | environment
    host = subprocess.Popen(
        [sys.executable, "-c", SERVE], stderr=subprocess.PIPE, text=True, cwd=folder, env=values
    )
    pipe = subprocess.run(
        [sys.executable, "-m", "textrawl"],
        input=f"{json.dumps(HELLO)}\n{json.dumps(PING)}\n",
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        cwd=folder,
        env=values,
    )
    assert {json.loads(line)["id"] for line in pipe.stdout.splitlines()} == {0, 2}, pipe.stderr
    return json.loads(host.communicate(timeout=120)[1].splitlines()[-1])


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """What is loaded where there is no memory."""
    return set(serve(tmp_path_factory.mktemp("off"), ENABLE_MEMORY="off"))


def test_a_host_never_imports_what_others_need(loaded: set[str]) -> None:
    assert not set(FOREIGN) & loaded


def test_a_host_does_not_load_what_other_commands_need(loaded: set[str]) -> None:
    commands = {name for name in loaded if name.startswith(("textrawl.cli.", "textrawl.doctor."))}

    assert commands == {
        "textrawl.cli.foreground",
        "textrawl.cli.host",
        "textrawl.cli.hosting",
        "textrawl.cli.process_start",
        "textrawl.cli.start",
        "textrawl.doctor.setting_mistakes",
    }
    assert not {"typer", "rich.progress", "rich.table", "textrawl.cli.demo"} & loaded


def test_a_host_loads_the_tools_that_it_offers_alone(loaded: set[str], tmp_path: Path) -> None:
    graph = serve(tmp_path, ENABLE_MEMORY="off", TOOLSETS="graph")

    assert "textrawl.tools.memory.query_memory" in loaded
    assert "textrawl.tools.graph.tools" not in loaded
    assert "textrawl.tools.graph.tools" in graph


def test_a_server_without_a_provider_and_webhooks_imports_nothing_for_them(tmp_path: Path) -> None:
    """With a memory, which is away: an embedder would be made nevertheless."""
    modules = serve(
        tmp_path,
        EMBEDDING_PROVIDER="none",
        DATABASE_TIMEOUT="1",
        DATABASE_URL="postgresql://nobody@127.0.0.1:9/none",
    )

    unused = {"openai", "ollama", "textrawl.models.local", "httpx", "textrawl.server.webhooks"}
    assert not unused & set(modules)


def test_a_server_with_local_embeddings_loads_no_package_of_another_provider(
    tmp_path: Path,
) -> None:
    modules = serve(
        tmp_path,
        EMBEDDING_PROVIDER="local",
        DATABASE_TIMEOUT="1",
        DATABASE_URL="postgresql://nobody@127.0.0.1:9/none",
    )

    assert "textrawl.models.local" in modules
    assert not {"openai", "ollama", "wordllama"} & set(modules)


def test_what_opens_a_memory_is_there_before_what_speaks_mcp(tmp_path: Path) -> None:
    """It waits for Postgres meanwhile, and the two threads never load the same."""
    modules = serve(
        tmp_path,
        EMBEDDING_PROVIDER="local",
        DATABASE_TIMEOUT="1",
        DATABASE_URL="postgresql://nobody@127.0.0.1:9/none",
    )

    opening = ("textrawl.memory.opening", "textrawl.models.local", "psycopg_pool", "numpy")
    assert max(map(modules.index, opening)) < modules.index("mcp")


def test_what_the_package_offers_is_loaded_when_it_is_asked_for() -> None:
    output = subprocess.run(
        [sys.executable, "-c",
         "import sys, textrawl; print('mcp' in sys.modules, textrawl.Settings.__name__,"
         " textrawl.create_server.__name__, 'mcp' in sys.modules, hasattr(textrawl, 'nothing'))"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip

    assert output.stdout.split() == ["False", "Settings", "create_server", "True", "False"]


WITHOUT_SDK = """
import sys
from importlib import import_module

for name in sys.argv[1:]:
    import_module(f"textrawl.{name}")
    if "mcp" in sys.modules:
        sys.exit(f"{name} loads the SDK")
"""


def test_what_commands_and_an_open_memory_need_does_without_the_mcp_sdk() -> None:
    modules = (
        "settings", "errors", "postgres.database", "postgres.migrations", "wire.token_counter",
        "tools.catalogue", "tools.memory.search_replies", "memory.facts", "memory.opening",
        "embedded.cluster", "models.local", "host.listener", "client.local",
    )  # fmt: skip
    ran = subprocess.run(
        [sys.executable, "-c", WITHOUT_SDK, *modules], capture_output=True, text=True, check=False
    )

    assert (ran.returncode, ran.stderr) == (0, "")


FREED = """
import sys
from pathlib import Path
from textrawl.cli.hosting import return_freed_memory

def read_resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 1e6

if "give back" in sys.argv:
    return_freed_memory()
before = read_resident()
vocabulary = bytearray(b"x" * 30_000_000)
del vocabulary  # glibc takes its size for the measure of what to keep
pieces = [bytearray(b"x" * 3_000_000) for _ in range(8)]
pin = bytearray(b"x" * 100_000)
del pieces
print(read_resident() - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C library")
def test_memory_that_is_freed_goes_back_to_the_system() -> None:
    kept, given_back = (
        float(
            subprocess.run(
                [sys.executable, "-c", FREED, *arguments],
                capture_output=True, text=True, check=True,
            ).stdout
        )
        for arguments in ([], ["give back"])
    )  # fmt: skip

    assert kept > 10
    assert given_back < 3
