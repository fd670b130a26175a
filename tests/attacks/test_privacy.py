"""Nothing leaves the machine: no name is asked for, and a home that is empty stays empty."""

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cli.conftest import data_dir, home, seed
from tests.support import lone_network
from tests.support.commands import HELLO, wait_for
from textrawl.models.encoder import PACKAGED

__all__ = ["data_dir", "home", "seed"]

PYTHON = shlex.quote(sys.executable)
"""The program that the tests run on, in words of a shell."""

PROMPT = '{"hook_event_name":"UserPromptSubmit","session_id":"s","prompt":"who likes tea?"}'
PAGE = '<link href="https://example.org/a.css"><img src="https://example.org/a.png"><p>Ben drives'

COMMANDS = (
    "remember Ada 'likes tea' --type person",
    "ingest page.html code.py",
    "recall 'what does Ada like?'",
    "digest",
    "search 'who liked tea last week?'",
    "explain 'who likes tea?'",
    "show Ada",
    "hook",
    "tidy",
    "stats",
    "cost",
    "doctor",
    "log",
    "backup memory.dump",
    "connect --list",
)
"""A part of each kind of command: for every day, of a hook, and for the whole memory."""

QUESTION = {
    "jsonrpc": "2.0", "id": 3, "method": "tools/call",
    "params": {"name": "query_memory", "arguments": {"query": "who likes tea?"}},
}  # fmt: skip
"""A call of a server that loads the encoder."""

CONTROL = "import onnxruntime, sys; sys.stdin.read()"
"""A process with ONNX Runtime whose telemetry nobody switched off."""

ENCODE = """
import anyio
from textrawl.models.choice import choose_embedder
from textrawl.settings import read_settings
embedder = choose_embedder(read_settings())
anyio.run(embedder.embed_query, "tea")
print(embedder.name)
"""


def find_obstacle() -> str:
    """Return why a process cannot have a network of its own here, or an empty string."""
    if shutil.which("unshare") is None:
        return "only util-linux can give a process a network of its own"
    tried = subprocess.run([*ENTER, "true"], capture_output=True, text=True, check=False)
    return tried.stderr.strip()


ENTER = ["unshare", "--net", "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"])]
LEAVE = ["unshare", "--user", f"--map-user={os.geteuid()}", f"--map-group={os.getegid()}"]
"""Where only root of a new user namespace may mount, programs are the ordinary user again."""


@contextmanager
def run_alone(record: Path, words: list[str], home: Path) -> Generator[subprocess.Popen[str]]:
    """Run a program in a network of its own, with a clean environment."""
    drop = LEAVE if os.geteuid() else []
    process = subprocess.Popen(
        [*ENTER, sys.executable, lone_network.__file__, str(record), *drop, *words],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=home / "work",
        env=describe_environment(home),
    )  # fmt: skip
    try:
        yield process
    finally:
        process.communicate(timeout=60)


def describe_environment(home: Path) -> dict[str, str]:
    """The environment of a user who has set nothing. In CI, ONNX Runtime would be silent."""
    for name in ("user", "tmp", "work"):
        (home / name).mkdir(exist_ok=True)
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home / "user"),
        "TMPDIR": str(home / "tmp"),
        "TEXTRAWL_DATA_DIR": str(home / "data"),
    }


def list_written(home: Path) -> list[str]:
    """What a program left in the user's home and among temporary files."""
    return [str(path) for name in ("user", "tmp") for path in (home / name).rglob("*")]


def write_script(home: Path) -> str:
    """A script of the shell: all commands, then a client over stdio, with a host beside."""
    (home / "work").mkdir()
    (home / "work/page.html").write_text(PAGE, encoding="utf-8")
    (home / "work/code.py").write_text("def pour(): return 'tea'\n", encoding="utf-8")
    textrawl = f"{PYTHON} -m textrawl"
    lines = [f"echo {shlex.quote(PROMPT)} | {textrawl} {words} >>said" for words in COMMANDS]
    host, stop = f"{textrawl} host >>said &", f"{textrawl} stop >>said"
    return "\n".join(["set -e", lines[0], host, *lines[1:], textrawl, stop, "wait"])


@pytest.mark.slow
def test_no_command_hook_or_server_asks_for_a_name_or_writes_into_the_users_home(
    home: Path, data_dir: Path
) -> None:
    if obstacle := find_obstacle():
        pytest.skip(obstacle)
    other, asked, control = home / "other", home / "asked", home / "control"
    other.mkdir()
    with run_alone(asked, ["sh", "-c", write_script(home)], home) as process:
        assert process.stdin
        assert process.stdout
        for message in (HELLO, QUESTION):
            process.stdin.write(f"{json.dumps(message)}\n")
            process.stdin.flush()
        answers = [json.loads(process.stdout.readline()) for _ in (HELLO, QUESTION)]
        with run_alone(control, [sys.executable, "-c", CONTROL], other):
            wait_for(lambda: control.exists() and control.read_text("ascii"))

    assert "likes tea" in json.dumps(answers[1])
    assert process.returncode == 0
    assert list_written(other) != []
    assert list_written(home) == []
    assert asked.read_text("utf-8") == ""


@pytest.mark.parametrize("model", [model.name for model in PACKAGED])
def test_a_sentence_encoder_writes_nothing_into_the_users_home(model: str, home: Path) -> None:
    environment = describe_environment(home) | {"TEXTRAWL_EMBEDDING_MODEL": model}
    words = [sys.executable, "-c", ENCODE]
    said = subprocess.check_output(words, env=environment, cwd=home / "work", text=True)

    assert said.startswith("encoder:")
    assert list_written(home) == []
