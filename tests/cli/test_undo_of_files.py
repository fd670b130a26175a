"""`textrawl undo` and `textrawl log` of identity files."""

import json
from typing import Any

import psycopg
import pytest

from tests.support.commands import Run
from tests.support.sql_team import Team


@pytest.fixture
def team(owner: psycopg.Connection) -> Team:
    """ana's file, which eve replaced, labelled and deleted; and a file of eve's own."""
    team = Team(owner)
    for actor, call in (
        ("ana", "write_identity('custom', 'garden.md', E'Roses.\r\n'"),
        ("ana", "label_identity('custom', 'garden.md', 'garden'"),
        ("eve", "write_identity('custom', 'garden.md', 'Weeds.'"),
        ("eve", "label_identity('custom', 'garden.md', 'mess'"),
        ("eve", "delete_identity('garden.md'"),
        ("eve", "write_identity('custom', 'own.md', 'secret'"),
    ):
        statement = f"select {call}, credential => %s, space => %s)"
        owner.execute(statement, (team.credential(actor), team.space))  # pyright: ignore
    return team


def look(team: Team) -> list[Any]:
    """Names, texts and labels of the files."""
    return team.sql.execute(
        "select filename, content, prompt_label from read_identity(space => %s)", (team.space,)
    ).fetchall()


def test_an_undo_brings_back_text_and_label_and_its_revert_takes_them_again(
    run: Run, url: str, team: Team
) -> None:
    done = run("undo", "--by", "eve", "--since", "1h", "--yes", DATABASE_URL=url)
    undone = look(team)
    undo = done.err.partition("Undo ")[2].partition(" ")[0]
    back = run("undo", "--revert", undo, "--space", "team", DATABASE_URL=url)

    assert (done.code, back.code) == (0, 0), done.err + back.err
    assert undone == [("garden.md", "Roses.\r\n", "garden")]
    assert look(team) == [("own.md", "secret", "own")]


def test_a_purge_deletes_the_texts_that_an_undo_took_back(run: Run, url: str, team: Team) -> None:
    run("undo", "--by", "eve", "--since", "1h", "--yes", DATABASE_URL=url)

    purged = run("undo", "--purge", "--yes", "--json", DATABASE_URL=url)

    assert purged.code == 0, purged.err
    texts = team.sql.execute("select distinct content from document_version").fetchall()
    assert texts == [("Roses.\r\n",)]
    assert look(team) == [("garden.md", "Roses.\r\n", "garden")]


def test_the_log_names_each_change_but_no_text(run: Run, url: str, team: Team) -> None:
    del team
    outcome = run("log", "--json", DATABASE_URL=url)

    actions = [row["action"] for row in json.loads(outcome.out)]
    assert actions == [
        "written", "deleted", "snapshot", "written", "written", "snapshot", "written", "written"
    ]  # fmt: skip
    assert "Roses" not in outcome.out
    assert "secret" not in outcome.out
