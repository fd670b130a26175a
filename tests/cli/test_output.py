"""Output that fits a terminal of 80 columns, and one that cannot show every character."""

import json
import os
import pty
import re
import subprocess
import sys

import psycopg

from tests.attacks.site import issue
from tests.support.commands import Launch
from textrawl.cli.administration import draw_rows
from textrawl.cli.console import open_console
from textrawl.settings import read_foreign_environment


def test_a_character_that_the_encoding_lacks_is_an_escape_and_json_stays_json(
    launch: Launch, owner: psycopg.Connection, database_url: str
) -> None:
    owner.execute("select remember_fact('Ada', 'person', 'likes 🍵 and Käse')")
    token = issue(owner, "ada", "default", "read")
    settings = {"DATABASE_URL": database_url, "ACCESS_TOKEN": token, "PYTHONIOENCODING": "ascii"}
    commands = (["show", "Ada"], ["recall", "tea Käse"], ["show", "Ada", "--json"])
    plain, recalled, listed = [launch(*words, **settings) for words in commands]

    for process in (plain, recalled):
        outcome = process.end()
        assert (outcome.code, r"likes \U0001f375 and K\xe4se" in outcome.out) == (0, True)
    assert json.loads(listed.end().out)["observations"][0]["content"] == "likes 🍵 and Käse"


def test_a_table_breaks_no_date_and_no_word_in_a_narrow_terminal() -> None:
    columns = ("prefix", "scopes", "created", "expires", "state")
    row = ("trl_abcdef", "read, write, forget, review, admin", "2026-11-25 12:00", "never", "ok")
    for width in (60, 80):
        console = open_console()
        console.width = width
        with console.capture() as shown:
            console.print(draw_rows(columns, [row, row]))
        lines = shown.get().splitlines()
        assert max(map(len, lines)) <= width
        assert all(shown.get().count(cell) >= 2 for cell in row)
        assert (len(lines) == 3) == (width == 80)


def test_an_error_in_a_terminal_is_wrapped_at_words() -> None:
    ours, theirs = pty.openpty()
    try:
        process = subprocess.Popen(
            [sys.executable, "-m", "textrawl", "connect", "claud"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=theirs,
            env=read_foreign_environment() | {"COLUMNS": "60"},
        )
        process.wait(timeout=60)
        written = os.read(ours, 10_000).decode()
    finally:
        os.close(ours)
        os.close(theirs)
    lines = written.splitlines()

    assert len(lines) > 2
    assert all(len(line) <= 60 for line in lines)
    assert "'claud' is not one of" in re.sub(r"\s+", " ", written)
