"""No command hands a terminal what SQL planted in the memory."""

import json
from pathlib import Path

import psycopg
import pytest

from tests.conftest import Databases
from tests.support.commands import Run
from textrawl.embedded.postmaster import OWNER
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
