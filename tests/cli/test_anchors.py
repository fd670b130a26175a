"""Facts that speak of files: stored and shown by commands and a client over stdio in a folder."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.conftest import TOKEN, Databases
from tests.support.commands import Launch, Outcome, Process, Run
from tests.support.pipes import call, call_of
from tests.values.test_repository import make_repository
from textrawl import __version__
from textrawl.embedded.postmaster import OWNER
from textrawl.values.word_lists import PROGRAM

Say = Callable[..., Outcome]

_FILES, _CHANGED = 250, 100
_PARSER = {"entityName": "Parser", "entityType": "concept"}


@pytest.fixture
def say(run: Run, database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Say:
    """Runs a command in a folder: of the repository `api`, of another one, or of none."""
    for name in ("api", "other"):
        make_repository(tmp_path / name, f"https://github.com/acme/{name}")
        write(tmp_path / name, 0)
    (tmp_path / "plain").mkdir()

    def go(folder: str, *words: str) -> Outcome:
        monkeypatch.chdir(tmp_path / folder)
        return run(*words, DATABASE_URL=database_url, ACCESS_TOKEN=TOKEN)

    return go


def write(repository: Path, number: int, lines: int = 20) -> Path:
    path = repository / f"src/part_{number}.py"
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(f"value_{number}_{line} = {line}\n" for line in range(lines)))
    return path


def open_session(launch: Launch, database_url: str, folder: Path) -> Process:
    os.chdir(folder)
    process = launch("serve", DATABASE_URL=database_url, ACCESS_TOKEN=TOKEN)
    process.open()
    return process


def ask(process: Process, number: int, tool: str, **arguments: Any) -> tuple[str, Any]:
    """Return the text and the structured content of an answer."""
    result = call(process, number, tool, **arguments)["result"]
    assert not result.get("isError"), result
    return result["content"][0]["text"], result["structuredContent"]


def edit(path: Path, number: int) -> None:
    """Change, move or delete the file, or change it where no fact speaks of it, or not at all."""
    lines = path.read_text().splitlines(keepends=True)
    if number < 40:
        lines[3] = lines[17] = "value = None\n"
    elif number < 70:
        path.rename(path.with_name(f"renamed_{number}.py"))
        return
    elif number < _CHANGED:
        path.unlink()
        return
    elif number < 150:
        lines.insert(0, "import os\n")
    elif number < 200:
        lines[10] = "value = None\n"
    path.write_text("".join(lines))


def test_of_500_facts_exactly_those_of_changed_moved_and_deleted_files_are_marked(
    say: Say, launch: Launch, database_url: str, tmp_path: Path
) -> None:
    session = open_session(launch, database_url, tmp_path / "api")
    files = [write(tmp_path / "api", number) for number in range(_FILES)]
    for batch in range(10):
        facts = [
            f"Part {number} {verb} in src/part_{number}.py{lines}"
            for number in range(batch, _FILES, 10)
            for verb, lines in (("begins", ":3-5"), ("ends", ":18"))
        ]
        told = [{**_PARSER, "observation": fact} for fact in facts]
        ask(session, 10 + batch, "build_knowledge", facts=told)
    for number, path in enumerate(files):
        edit(path, number)

    checked = say("api", "check-anchors", "--json")
    _, shown = ask(session, 90, "query_memory", mode="entity", entityName="Parser", maxObs=100)
    rows = json.loads(checked.out)

    assert "Of 500 facts with anchors, 200 have changed" in checked.err
    marked = {(row["content"].split()[1], row["change"].rpartition(": ")[2]) for row in rows}
    assert marked == {
        (str(number), "source changed" if number < 40 else "file gone")
        for number in range(_CHANGED)
    }
    for fact in shown["observations"]:
        number = int(fact["content"].split()[1])
        state = "source changed" if number < 40 else "file gone" if number < _CHANGED else None
        assert fact.get("change") == state, fact


def test_a_changed_source_is_marked_wherever_the_fact_is_shown(
    say: Say, launch: Launch, database_url: str, tmp_path: Path
) -> None:
    session = open_session(launch, database_url, tmp_path / "api")
    path = write(tmp_path / "api", 1)
    fact = "the parser begins in src/part_1.py:3"
    ask(session, 10, "remember_fact", observation=fact, **_PARSER)
    commands = (("search", "parser"), ("show", "Parser"), ("here",), ("recall", "parser"))
    commands = (*commands, ("digest",))

    def show() -> list[str]:
        texts = [say("api", *words).out for words in commands]
        for number, arguments in enumerate(
            ({"mode": "search", "query": "parser"}, {"mode": "entity", "entityName": "Parser"}), 20
        ):
            text, content = ask(session, number, "query_memory", **arguments)
            texts += [text, json.dumps(content)]
        return texts

    assert [text for text in show() if fact not in text or "change" in text] == []
    path.write_text("")
    assert [text for text in show() if "source changed" not in text] == []
    path.unlink()
    assert [text for text in show() if "file gone" not in text] == []
    assert f"{fact} (file gone)" in say("api", "recall", "parser").out
    # Elsewhere, nobody can say what became of the file.
    for folder, *words in (
        ("plain", "recall", "parser"),
        ("other", "search", "api parser"),
        ("other", "search", "parser", "--everywhere"),
        ("other", "show", "Parser", "--everywhere"),
    ):
        out = say(folder, *words).out
        assert fact in out
        assert "gone" not in out


def test_a_fact_that_is_put_right_speaks_of_the_files_that_it_names(
    say: Say, tmp_path: Path
) -> None:
    path = write(tmp_path / "api", 1)
    wrong, right = "begins in src/part_0.py:3", "begins in src/part_1.py:3"
    for folder, name in (("api", "Parser"), ("plain", "Reader")):
        assert say(folder, "remember", name, wrong, "--type", "concept").code == 0
        revised = say("api", "revise", name, wrong, "--reason", "moved", "--instead", right)
        assert revised.code == 0, revised.err
    path.write_text("")

    assert f"{right} (source changed)" in say("api", "show", "Parser").out
    # It belongs to no repository, so its paths could be those of any.
    assert "changed" not in say("api", "show", "Reader").out


def test_a_message_that_names_a_folder_lets_nobody_read_it(
    say: Say, launch: Launch, database_url: str, tmp_path: Path
) -> None:
    path = write(tmp_path / "api", 1)
    fact = "the parser begins in src/part_1.py"
    assert say("api", "remember", "Parser", fact, "--type", "concept").code == 0
    path.unlink()
    place = {"repository": "github.com/acme/api", "checkout": str(tmp_path / "api")}
    for number, folder in enumerate(("plain", "other"), 10):
        session = open_session(launch, database_url, tmp_path / folder)
        asked = call_of(number, "query_memory", mode="search", query="api parser")
        asked["params"]["_meta"] = {PROGRAM: {"version": __version__, **place}}
        session.say(asked)
        while (answer := session.hear()).get("id") != number:
            pass
        told = json.dumps(answer)
        assert fact in told
        assert "file gone" not in told


def test_at_names_what_a_fact_speaks_of_and_refuses_what_cannot_be_read(
    say: Say, tmp_path: Path
) -> None:
    write(tmp_path / "api", 1)
    (tmp_path / "api/src/pipe").symlink_to("/etc/passwd")
    remember = ("remember", "Parser", "--type", "concept")
    places = ("--at", "part_1.py:3-5", "--at", "https://acme.org/spec")

    assert say("api/src", *remember, "is slow", *places).code == 0
    [row] = json.loads(say("api", "here", "--json").out)["rows"]
    anchors = [anchor.split(" ")[0] for anchor in row["anchors"]]
    assert anchors == ["src/part_1.py:3-5", "https://acme.org/spec"]
    for place in ("../../other/src/part_0.py", "part_1.py:90", "none.py", "pipe", "/etc/passwd"):
        refused = say("api/src", *remember, "is fast", "--at", place)
        assert (refused.code, "cannot be read" in refused.err) == (2, True), place
    assert "no Git repository" in say("plain", *remember, "is fast", "--at", "x.py").err
    assert len(json.loads(say("api", "here", "--json").out)["rows"]) == 1


def test_an_imported_rule_belongs_to_the_repository_of_its_file_and_says_when_the_file_changed(
    say: Say, run: Run, databases: Databases, database: str, tmp_path: Path
) -> None:
    path = tmp_path / "api/CLAUDE.md"
    rules = [
        "# Rules of Api",
        "",
        "- Run the tests before each push",
        "- Never commit a secret",
        "",
    ]
    path.write_text("\n".join(rules))
    url = databases.cluster.dsn(OWNER, database)
    assert run("import", str(path), "--yes", DATABASE_URL=url).code == 0

    rows = json.loads(say("api", "here", "--json").out)["rows"]
    path.write_text("\n".join(["", *rules]).replace("secret", "key"))
    out = say("api", "here").out

    assert {row["content"]: row["anchors"][0].split(" ")[0] for row in rows} == {
        "Run the tests before each push": "CLAUDE.md:3-3",
        "Never commit a secret": "CLAUDE.md:4-4",
    }
    assert "Never commit a secret (source changed)\n" in out
    assert "Run the tests before each push\n" in out
    assert say("other", "recall", "tests before push").out == ""


def test_what_changed_is_proposed_once_and_what_is_said_again_is_as_it_is_now(
    say: Say, owner: psycopg.Connection, tmp_path: Path
) -> None:
    path = write(tmp_path / "api", 1)
    facts = [f"part one {verb} in src/part_1.py:3" for verb in ("begins", "ends", "waits")]
    for fact in facts:
        assert say("api", "remember", "Parser", fact, "--type", "concept").code == 0
    path.write_text("")
    assert say("api", "remember", "Parser", facts[0], "--at", "src/part_1.py").code == 0

    checked = [say("api", "check-anchors", *words) for words in ((), ("--apply",), ("--apply",))]
    found = json.loads(say("api", "review", "list", "--json").out)

    assert [one.out.count("src/part_1.py:3-3: source changed") for one in checked] == [2, 2, 2]
    assert ["Proposed: 2" in one.err for one in checked] == [False, True, False]
    # The evidence ends with a hash of the file.
    assert {(each["content"], each["finding"], each["evidence"][:-9]) for each in found} == {
        (fact, "anchor", "src/part_1.py:3-3: source changed") for fact in facts[1:]
    }
    accept = "select textrawl.decide_proposals(%s, 'accept')"
    owner.execute(accept, ([each["id"] for each in found],))
    assert "Of 1 fact with anchors, 0 have changed" in say("api", "check-anchors").err


def test_a_rejected_finding_is_proposed_again_only_if_its_file_changes_again(
    say: Say, owner: psycopg.Connection, tmp_path: Path
) -> None:
    path = write(tmp_path / "api", 1)
    fact = "part one begins in src/part_1.py:3"
    assert say("api", "remember", "Parser", fact, "--type", "concept").code == 0
    waiting = "array(select id::text from textrawl.proposal where decision is null)"
    reject = f"select textrawl.decide_proposals({waiting}, 'reject', 'no')"
    for text, proposed in (("", 1), ("", 0), ("new\n", 1), (None, 1), (None, 0)):
        path.write_text(text or "")
        if text is None:
            path.unlink()
        told = say("api", "check-anchors", "--apply").err
        assert f"Proposed: {proposed}." in told, text
        assert "Proposed: 0." in say("api", "check-anchors", "--apply").err, text
        if proposed:
            owner.execute(reject)


def test_facts_of_other_spaces_are_neither_shown_nor_proposed(
    say: Say, owner: psycopg.Connection, tmp_path: Path
) -> None:
    path = write(tmp_path / "api", 1)
    owner.execute("select textrawl.create_space('lab')")
    grant = "select textrawl.grant_access(name, 'lab', '{read,write}') from textrawl.actor"
    owner.execute(grant)
    told = ("remember", "Parser", "part one begins in src/part_1.py", "--type", "concept")
    for space in ("default", "lab"):
        assert say("api", *told, "--space", space).code == 0
    path.unlink()

    assert len(json.loads(say("api", "here", "--json").out)["rows"]) == 2
    for words in ((), ("--space", "lab")):
        checked = say("api", "check-anchors", "--apply", *words).err
        assert "Of 1 fact with anchors, 1 have changed" in checked
        assert "Proposed: 1." in checked


def test_an_anchor_is_stored_without_hidden_characters_and_secrets(say: Say) -> None:
    url = "https://acme.org/\u202espec\x9b?token=ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
    told = ("remember", "Parser", "is slow", "--type", "concept", "--at", url)
    assert say("api", *told).code == 0
    [row] = json.loads(say("api", "here", "--json").out)["rows"]
    [anchor] = row["anchors"]
    assert anchor.startswith("https://acme.org/spec?token=[masked ")
    assert "a1B2" not in anchor
