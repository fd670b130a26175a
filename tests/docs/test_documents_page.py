"""docs/documents.md: its commands run, and its table has the kinds of files that are taken."""

import re
import shlex
from pathlib import Path

import pytest

from tests.support.commands import Run, data_dir, home, run, seed
from tests.support.pages import ROOT, read_commands
from textrawl.memory.chunking import DOCUMENTS

__all__ = ["data_dir", "home", "run", "seed"]

PAGE = ROOT / "docs" / "documents.md"


def test_the_commands_of_the_page_store_the_files(
    run: Run, data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / PAGE.name).write_bytes(PAGE.read_bytes())
    monkeypatch.chdir(tmp_path)

    commands = [shlex.split(line)[1:] for line in read_commands(PAGE)]
    outcomes = [run(*words, DATA_DIR=data_dir, EMBEDDING_PROVIDER="local") for words in commands]

    assert [words[0] for words in commands] == ["space", "ingest"]
    assert [outcome.err for outcome in outcomes if outcome.code] == []
    assert outcomes[-1].err.startswith("Files in handbook: 1 added.")


def test_the_table_names_only_endings_that_are_taken() -> None:
    endings = re.findall(r"`(\.[a-z]+)`", PAGE.read_text(encoding="utf-8"))

    assert len(endings) > 20
    assert set(endings) <= DOCUMENTS
