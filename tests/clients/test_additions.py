"""`… mcp add` of the pages, run by the program itself, writes what the program then starts."""

import json
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from tests.clients.catalogue import CLAUDE_CODE, CODEX, COPILOT_CLI, GEMINI_CLI, QWEN_CODE
from tests.clients.programs.program import Place, Server
from tests.clients.snippets import provide
from tests.support.pages import PAGES, read_commands

pytestmark = [pytest.mark.clients, pytest.mark.usefixtures("uncovered")]

NAMES = {
    "claude": CLAUDE_CODE, "codex": CODEX, "copilot": COPILOT_CLI, "gemini": GEMINI_CLI,
    "qwen": QWEN_CODE,
}  # fmt: skip
OWN = "TEXTRAWL_DATABASE_URL="  # a line with a password to fill in, for a shell
LINES = sorted(
    {
        line
        for page in PAGES
        for line in read_commands(page)
        if " mcp add " in line and OWN not in line and "https:" not in line
    }
)


def find_entries(value: Any) -> Iterator[dict[str, Any]]:
    """Every server called textrawl in a program's settings."""
    if isinstance(value, dict):
        for key, part in cast("dict[str, Any]", value).items():
            if key == "textrawl":
                yield part
            yield from find_entries(part)


def read_entries(home: Path) -> list[dict[str, Any]]:
    """The servers called textrawl in all files of a home."""
    files = [path for path in home.rglob("*") if path.suffix in {".json", ".toml"}]
    read = {".json": json.loads, ".toml": tomllib.loads}
    return [
        entry
        for file in files
        for entry in find_entries(read[file.suffix](file.read_text(encoding="utf-8")))
    ]


@pytest.mark.parametrize("line", LINES)
def test_the_command_of_a_page_that_adds_textrawl_is_understood(line: str, tmp_path: Path) -> None:
    name, *words = line.split()
    program = NAMES[name]
    installed = provide(program)
    place = Place(installed, tmp_path, tmp_path, Server("", (), {}), "http://127.0.0.1:9")

    done = subprocess.run(
        [*program.locate(installed), *words],
        env=program.write_environment(place),
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    [entry] = read_entries(tmp_path)
    if "--transport" in words:
        assert entry["url"] == words[-1]
    else:
        assert [entry["command"], *entry["args"]] == words[-5:]
        assert entry["env"] == {"TEXTRAWL_STRUCTURED_CONTENT": "off"}


def test_every_program_that_has_a_command_for_it_is_on_the_pages() -> None:
    assert {line.split()[0] for line in LINES} == set(NAMES)
