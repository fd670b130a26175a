"""Output fits a terminal, and hands it nothing that SQL planted in the memory."""

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

from tests.attacks.site import issue
from tests.conftest import TOKEN, Databases
from tests.support.commands import Launch, Run
from textrawl.cli.console import draw_rows, open_console
from textrawl.embedded.postmaster import APP, OWNER
from textrawl.settings import read_foreign_environment
from textrawl.values.text import escape_hidden, escape_json

ATTACKS = {
    "title": "\x1b]0;PWNED\x07", "clear": "\x1b[2J", "c1": "\x9b2J", "bidi": "\u202e",
    "isolate": "\u2066", "zero width": "\u200b", "delete": "\x7f", "return": "\rx",
    "tag": "\U000e0041",
}  # fmt: skip
POISON = "".join(ATTACKS.values())


@pytest.fixture
def url(postgres: Databases, database: str, owner: psycopg.Connection) -> str:
    """Of the owner of a memory that an attacker has written to by SQL."""
    owner.execute(
        "select remember_fact(entity => 'Ada', type => 'person', observation => 'likes tea')"
    )
    owner.execute(
        "select relate_entities(from_entity => 'Ada', relation => 'knows', to_entity => 'Ben')"
    )
    plant = [
        "update observation set content = content || %(poison)s",
        "update entity set name = name || %(poison)s, description = %(poison)s",
        "update relation set relation_type = relation_type || %(poison)s",
        "update actor set name = name || %(poison)s",
        "update embedding_model set name = name || %(poison)s",
        "insert into recall (space_id, at, mode, format, structured, tokens, budget, items,"
        " dropped, query, query_hash, score, hits, milliseconds) select default_space(), now(),"
        " 'search', 'lines', false, 10, 50, 0, 0, 'tea' || %(poison)s, 'a', 0, 0, 3",
    ]
    for statement in plant:
        owner.execute(statement.encode(), {"poison": POISON})
    return postgres.cluster.dsn(OWNER, database)


COMMANDS = [
    "search tea", "search tea --json", "log", "log --json", "stats", "stats --json", "space list",
    "grant list", "grant list --json", "token list", "token list --json", "embed status",
    "embed status --json", "export", "cost tea", "cost tea --json", "settings", "doctor",
]  # fmt: skip


def test_nothing_that_was_planted_reaches_a_terminal(run: Run, url: str) -> None:
    for command in COMMANDS:
        for terminal in (True, False):
            colour = {"FORCE_COLOR": "1", "COLUMNS": "200"} if terminal else {}

            outcome = run(*command.split(), DATABASE_URL=url, **colour)

            output = outcome.out + outcome.err
            # doctor is told to be the owner
            assert outcome.code == (1 if command == "doctor" else 0), output
            assert [name for name, text in ATTACKS.items() if text in output] == []


LISTS = {
    "doctor": "ok\tdatabase\tPostgreSQL 18",
    "stats": "memory\tentities\t2\t",
    "token list": "trl_",
    "grant list": "default\t",
    "space list": "default\t",
    "space decay default": "half_life",
    "embed status": "",
    "settings": "TEXTRAWL_ENABLE_MEMORY\ttrue\tdefault",
    "search tea": "",
    "log": "",
    "show Ada": "entity\tAda\tperson",
    "connect --list": "claude-code\t",
    "trust --list": "",
    "webhook list": "",
}
"""Commands that list things, with the beginning of a line."""


def test_a_list_in_a_pipe_has_a_line_for_each_thing_with_tabs_between_cells(
    run: Run, owner: psycopg.Connection, database: str, postgres: Databases
) -> None:
    owner.execute(
        "select remember_fact(entity => e, type => 'person', observation => 'likes tea')"
        " from (values ('Ada'), ('Ben')) as given(e)"
    )
    for command, beginning in LISTS.items():
        role = APP if command == "doctor" else OWNER
        place = {"DATABASE_URL": postgres.cluster.dsn(role, database), "ACCESS_TOKEN": TOKEN}

        outcome = run(*command.split(), COLUMNS="40", **place)

        lines = outcome.out.splitlines()
        assert outcome.code == 0, (command, outcome.err)
        odd = [line for line in lines if "\t" not in line or line.startswith((" ", "\t"))]
        assert odd == [], command
        assert not beginning or any(line.startswith(beginning) for line in lines), command


def test_nor_by_a_command_that_names_what_was_planted(
    run: Run, url: str, owner: psycopg.Connection
) -> None:
    owner.execute("update entity set name = 'Ada' where name like 'Ada%%'")
    owner.execute("update actor set name = 'eve' where id in (select actor_id from event)")
    for command in ("show", "forget", "undo"):
        arguments = {
            "show": ["show", "Ada"],
            "forget": ["forget", "Ada", "--dry-run"],
            "undo": ["undo", "--by", "eve", "--since", "1h", "--dry-run"],
        }[command]

        for colour in ({"FORCE_COLOR": "1"}, {}):
            outcome = run(*arguments, DATABASE_URL=url, COLUMNS=200, **colour)
            output = outcome.out + outcome.err
            assert outcome.code == 0, output
            assert "likes tea\\x1b]0;PWNED" in output
            assert [name for name, text in ATTACKS.items() if text in output] == []


def test_a_page_of_stats_shows_what_was_planted_as_text(run: Run, url: str, tmp_path: Path) -> None:
    file = tmp_path / "memory.html"
    run("stats", "--html", str(file), DATABASE_URL=url)

    page = file.read_text(encoding="utf-8")

    assert "tea\\x1b]0;PWNED" in page
    assert [name for name, text in ATTACKS.items() if text in page] == []


def test_an_error_says_what_was_planted_as_text(
    run: Run, url: str, owner: psycopg.Connection
) -> None:
    outcome = run("show", "Adaa", DATABASE_URL=url)

    assert "Ada\\x1b]0;PWNED" in outcome.complaint
    assert [name for name, text in ATTACKS.items() if text in outcome.err] == []


def test_what_is_meant_to_be_seen_stays_as_it_is() -> None:
    text = "naïve 👩‍👩‍👧 🏴󠁧󠁢󠁥󠁮󠁧󠁿 क्‍ष a\tb\nc"

    assert escape_hidden(text) == text
    document = json.dumps({"a": text + POISON}, ensure_ascii=False)
    assert json.loads(escape_json(document)) == json.loads(document)
    assert POISON not in escape_json(document)
    assert [name for name, part in ATTACKS.items() if part in escape_json(document)] == []


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
