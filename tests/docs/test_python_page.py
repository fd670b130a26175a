"""docs/python.md: its programs run, and its table has the methods and their options."""

import re
import subprocess
import sys
from inspect import signature

import pytest

from tests.conftest import TOKEN
from tests.support.pages import ROOT, read_blocks
from textrawl_client import Client

PAGE = ROOT / "docs" / "python.md"


def test_the_programs_of_the_page_run(database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEXTRAWL_DATABASE_URL", database_url)
    monkeypatch.setenv("TEXTRAWL_ACCESS_TOKEN", TOKEN)
    programs = [block.body for block in read_blocks(PAGE) if block.language == "python"]
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
    rows = re.findall(r"^\| `(\w+)\((.*?)\)`", PAGE.read_text("utf-8"), re.MULTILINE)
    methods = [name for name, value in vars(Client).items() if callable(value) and name[0] != "_"]

    assert sorted(name for name, _ in rows) == sorted(methods)
    for name, parameters in rows:
        options = re.findall(r"\w+", parameters)
        assert options == list(signature(getattr(Client, name)).parameters)[1:]
