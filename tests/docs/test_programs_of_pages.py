"""docs/python.md and docs/bring-what-you-have.md: their programs run, their tables are whole."""

import re
import shlex
import subprocess
import sys
from inspect import signature
from pathlib import Path

import pytest

from tests.conftest import TOKEN
from tests.support.commands import Run, data_dir, home, run, seed
from tests.support.pages import ROOT, read_blocks, read_commands
from textrawl.memory.chunking import DOCUMENTS
from textrawl_client import Client

PYTHON = ROOT / "docs" / "python.md"


def test_the_programs_of_the_page_run(database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEXTRAWL_DATABASE_URL", database_url)
    monkeypatch.setenv("TEXTRAWL_ACCESS_TOKEN", TOKEN)
    programs = [block.body for block in read_blocks(PYTHON) if block.language == "python"]
    program = "\n".join(programs)
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    assert result.stderr == ""
    [found, related, missing] = result.stdout.splitlines()
    assert re.fullmatch(r"0\.\d\d Ada: leads QA at Acme", found)
    assert related == "works_at→Acme"
    assert missing == "There is no entity named Nobody"


def test_the_table_has_every_method_with_its_options() -> None:
    rows = re.findall(r"^\| `(\w+)\((.*?)\)`", PYTHON.read_text("utf-8"), re.MULTILINE)
    methods = [name for name, value in vars(Client).items() if callable(value) and name[0] != "_"]

    assert sorted(name for name, _ in rows) == sorted(methods)
    for name, parameters in rows:
        options = re.findall(r"\w+", parameters)
        assert options == list(signature(getattr(Client, name)).parameters)[1:]


__all__ = ["data_dir", "home", "run", "seed"]

DOCUMENTS_PAGE = ROOT / "docs" / "bring-what-you-have.md"


def test_the_commands_of_the_page_store_the_files(
    run: Run, data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / DOCUMENTS_PAGE.name).write_bytes(DOCUMENTS_PAGE.read_bytes())
    monkeypatch.chdir(tmp_path)

    commands = [shlex.split(line)[1:] for line in read_commands(DOCUMENTS_PAGE)]
    outcomes = [run(*words, DATA_DIR=data_dir, EMBEDDING_PROVIDER="local") for words in commands]

    assert [words[0] for words in commands] == ["import", "recall", "space", "ingest"]
    assert [outcome.err for outcome in outcomes if outcome.code] == []
    assert outcomes[-1].err.startswith("Files in handbook: 1 added.")
    assert "All that is left out is named" in outcomes[1].out


def test_the_table_names_only_endings_that_are_taken() -> None:
    endings = re.findall(r"`(\.[a-z]+)`", DOCUMENTS_PAGE.read_text(encoding="utf-8"))

    assert len(endings) > 20
    assert set(endings) <= DOCUMENTS
