"""The commands entity and me: names, descriptions and merges of entities, and which one you are."""

import json
from pathlib import Path

import psycopg

from tests.cli.test_daily_commands import show_on_terminal
from tests.conftest import TOKEN, Databases
from tests.support.commands import Run, type_answer
from textrawl.embedded.postmaster import OWNER


def test_aliases_and_merges_at_a_terminal(run: Run, database_url: str) -> None:
    known = {"DATABASE_URL": database_url, "ACCESS_TOKEN": TOKEN}
    for name, fact in (("Jeff Miller", "drinks tea"), ("jmiller", "drinks tea")):
        run("remember", name, fact, **known)

    same = run("entity", "same", "--json", **known)
    plan = run("entity", "merge", "Jeff Miller", "jmiller", "--dry-run", **known)
    merged = run("entity", "merge", "Jeff Miller", "jmiller", "--json", **known)
    added = run("entity", "alias", "add", "jmiller", "Jeffrey", **known)
    listed = run("entity", "alias", "list", "Jeff Miller", "--json", **known)
    split = run("entity", "split", "jmiller", **known)
    removed = run("entity", "alias", "remove", "jeffrey", **known)
    unknown = run("entity", "split", "jmiller", **known)

    [pair] = json.loads(same.out)
    assert (pair["entity_name"], pair["other_name"]) == ("Jeff Miller", "jmiller")
    assert plan.out.splitlines()[0].startswith("Would merge jmiller")
    assert plan.out.splitlines()[-1] == "  drinks tea"
    assert json.loads(merged.out)["duplicate_facts"] == 1
    assert added.out == "Jeffrey is a name of Jeff Miller\n"
    aliases = {row["alias"]: row["merged"] for row in json.loads(listed.out)}
    assert aliases == {"jmiller": True, "Jeffrey": False}
    assert split.out.splitlines()[0] == "Split jmiller from Jeff Miller"
    assert removed.out == "Jeffrey is no longer a name of Jeff Miller\n"
    assert unknown.code != 0
    assert "Nothing was merged as jmiller" in unknown.err


def read_description(url: str) -> tuple[str | None, list[str]]:
    """What the memory says about Ada: her description and her facts."""
    with psycopg.connect(url) as owner:
        [(text, facts)] = owner.execute(
            "select description, jsonb_path_query_array(observations, '$[*].content')"
            " from textrawl.describe_entity('Ada')"
        ).fetchall()
        listed = owner.execute("select description from textrawl.memory_entities").fetchall()
        assert listed == [(text,)]
    return text, sorted(facts)


def test_a_description_is_shown_found_undone_exported_and_imported(
    run: Run, postgres: Databases, tmp_path: Path
) -> None:
    file = tmp_path / "memory.jsonl"
    with postgres.create("migrated") as first, postgres.create("migrated") as second:
        url, other = (postgres.cluster.dsn(OWNER, name) for name in (first, second))
        run("remember", "Ada", "likes tea", DATABASE_URL=url)
        described = run("entity", "describe", "ada", "head of QA", DATABASE_URL=url)
        run("entity", "describe", "Ada", "head of sales in Riga", DATABASE_URL=url)
        shown, found = run("show", "Ada", DATABASE_URL=url), run("search", "Riga", DATABASE_URL=url)
        screen = show_on_terminal(["show", "Ada"], 80, TEXTRAWL_DATABASE_URL=url)
        assert (screen.count("head of sales in Riga"), screen.count("likes tea")) == (1, 1)
        trail = run("log", "--action", "described", "--json", DATABASE_URL=url)
        missing = run("entity", "describe", "Eve", "somebody", DATABASE_URL=url)
        assert run("export", str(file), DATABASE_URL=url).code == 0
        assert run("import", str(file), DATABASE_URL=other).code == 0
        imported = read_description(other)
        author = json.loads(trail.out)[0]["author_name"]
        undone = run("undo", "--by", author, "--since", "1h", "--yes", DATABASE_URL=url)
        after = run("show", "Ada", DATABASE_URL=url)

    assert (described.code, described.out) == (0, "Ada: head of QA\n")
    assert "head of sales in Riga" in shown.out.splitlines()[1]
    assert "head of sales in Riga" in found.out
    assert trail.out.count('"described"') == 2
    assert missing.code != 0
    assert "Eve" in missing.err
    assert imported == ("head of sales in Riga", ["head of sales in Riga", "likes tea"])
    assert undone.code == 0, undone.err
    assert "head of" not in after.out


def test_a_person_says_who_they_are_and_asks_about_me(run: Run, database_url: str) -> None:
    known = {"DATABASE_URL": database_url, "ACCESS_TOKEN": TOKEN}
    for name, fact in (("Jeff", "lives in Riga"), ("Ada", "lives in Oslo")):
        run("remember", name, fact, "--type", "person", **known)

    early = run("remember", "I", "swim", **known)
    unset = run("me", **known)
    unknown = run("me", "Jef", **known)
    chosen = run("me", "jeff", **known)
    about = run("remember", "me", "keeps bees", **known)
    shown = run("me", "--json", **known)
    asked = run("recall", "where do I live?", **known)
    cleared = run("me", "--clear", **known)

    assert early.out.endswith("nobody has said: textrawl me NAME\n")
    assert about.out.startswith("Remembered about Jeff (person)")
    assert "does not know who you are" in unset.err
    assert (unknown.code, "did you mean Jeff?" in unknown.err) == (1, True)
    assert chosen.out == "You are now Jeff (person) in default\n"
    assert [row["entity_name"] for row in json.loads(shown.out)] == ["Jeff"]
    assert asked.out.splitlines()[0].startswith("Jeff")
    assert cleared.out == "You are no longer Jeff (person) in default\n"


def test_the_first_connection_asks_who_you_are_and_a_second_one_does_not(
    data_dir: Path, home: Path
) -> None:
    place = {"HOME": str(home), "DATA_DIR": str(data_dir)}

    first = type_answer("y\nNina Brandt", "connect", "cursor", **place)
    own = type_answer("", "me", "--json", **place)
    second = type_answer("y", "connect", "gemini-cli", **place)

    assert (first.code, second.code) == (0, 0)
    assert "You are Nina Brandt in default" in first.err
    assert [row["entity_name"] for row in json.loads(own.out)] == ["Nina Brandt"]
    assert "Who are you?" not in second.err
