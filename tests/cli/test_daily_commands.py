"""`textrawl search`, `show`, `remember` and `forget`: the memory for a person at a terminal."""

import getpass
import json
import os
import pty
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.conftest import ACTOR, TOKEN, Connect
from tests.support.commands import Launch, Outcome, Run, read_terminal, type_answer
from tests.support.providers import EmbeddingServer, Fault
from textrawl import __version__
from textrawl.access.access_token import hash_token, make_token
from textrawl.settings import read_foreign_environment

Ask = Callable[..., Outcome]


@pytest.fixture
def ask(run: Run, database_url: str) -> Ask:
    """Runs a command on the fresh database, with a token that may do everything."""

    def go(*words: str, **environment: object) -> Outcome:
        return run(*words, **{"DATABASE_URL": database_url, "ACCESS_TOKEN": TOKEN, **environment})

    return go


@pytest.fixture
def ollama() -> Iterator[EmbeddingServer]:
    with EmbeddingServer(dimensions=768) as server:
        yield server


def show_on_terminal(words: list[str], columns: int, **environment: str) -> str:
    """Return the output of a command in a terminal of `columns`, without styles and spinners."""
    first, second = pty.openpty()
    variables = {"COLUMNS": str(columns), "TERM": "xterm", **environment}
    done = subprocess.run(
        [sys.executable, "-m", "textrawl", *words],
        stdin=subprocess.DEVNULL,
        stdout=second,
        stderr=subprocess.PIPE,
        env=read_foreign_environment() | variables,
        check=False,
    )
    os.close(second)
    shown = read_terminal(first)
    assert done.returncode == 0, done.stderr
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown.decode()).replace("\r\n", "\n")


@pytest.mark.anyio
async def test_what_a_person_remembers_a_client_finds(
    launch: Launch, database_url: str, connect: Connect
) -> None:
    access = {"DATABASE_URL": database_url, "ACCESS_TOKEN": TOKEN}
    done = launch("remember", "Ada", "likes tea", "--type", "people", **access).end()
    client = await connect()

    answer = await client.call_tool("query_memory", {"query": "who likes tea?"})

    assert re.fullmatch(r"Remembered about Ada \(person\): [0-9a-f]{8}\n", done.out)
    assert '"likes tea"' in str(answer.content)


@pytest.mark.slow
@pytest.mark.anyio
async def test_what_a_client_remembers_a_person_finds_and_sees(
    launch: Launch, database_url: str, connect: Connect
) -> None:
    access = {"DATABASE_URL": database_url, "ACCESS_TOKEN": TOKEN}
    client = await connect()
    fact = {"entityName": "Ada", "entityType": "person", "observation": "likes tea"}
    await client.call_tool("remember_fact", fact)

    found = launch("search", "who", "likes", "tea?", **access).end()
    shown = launch("show", "ada", **access).end()

    [line] = found.out.splitlines()
    score, entity, kind, space, identity, time, author, content = line.split("\t")
    assert int(score) > 50
    assert (entity, kind, space, author, content) == (
        "Ada", "person", "default", ACTOR, "likes tea",
    )  # fmt: skip
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", time)
    head, first = shown.out.splitlines()
    assert head.split("\t") == ["entity", "Ada", "person", "default", ""]
    assert first.split("\t")[:2] == ["fact", identity]
    assert first.endswith("likes tea")


def test_a_command_names_a_secret_and_the_trail_names_the_command(
    ask: Ask, owner: psycopg.Connection
) -> None:
    told = ask("remember", "Ada", "says: my password is Tulpe!42").out
    ask("forget", "Ada", "--yes")

    rows = owner.execute("select distinct tool, client from event order by 1").fetchall()
    author = owner.execute("select distinct a.name from event join actor a on a.id = actor_id")

    assert rows == [
        ("textrawl forget", f"textrawl {__version__}"),
        ("textrawl remember", f"textrawl {__version__}"),
    ]
    assert author.fetchall() == [(ACTOR,)]
    assert told.splitlines()[-1] == "It looks like a secret: password (masked)"


def test_a_fact_is_stored_as_manual_until_its_day_and_in_place_of_another(
    ask: Ask, owner: psycopg.Connection
) -> None:
    first = json.loads(ask("remember", "Ada", "lives in Bonn", "--json").out)
    second = ask(
        "remember",
        "Ada",
        "lives in Ulm",
        "--until",
        "2999-01-01",
        "--replaces",
        first["observation_id"][:8],
    )

    rows = owner.execute(
        "select content, source, valid_until::date::text from observation order by created_at"
    ).fetchall()

    assert second.code == 0, second.err
    assert rows[1] == ("lives in Ulm", "manual", "2999-01-01")
    assert first["entity_type"] == "concept"
    [line] = ask("search", "lives").out.splitlines()
    assert line.endswith("lives in Ulm")


def test_a_search_can_be_narrowed(ask: Ask) -> None:
    ask("remember", "Ada", "likes tea", "--type", "person")
    ask("remember", "Tea", "grows in Assam", "--type", "concept")

    people = ask("search", "tea", "--type", "person")
    one = ask("search", "tea", "--limit", "1", "--json")
    before = ask("search", "tea", "--as-of", "2020-01-01")
    missed = [ask(*words) for words in (
        ("recall", "a zebra"), ("search", "a zebra"), ("search", "a zebra", "--json"),
        ("recall", "a zebra", "--json"),
    )]  # fmt: skip

    assert [line.split("\t")[1] for line in people.out.splitlines()] == ["Ada"]
    [row] = json.loads(one.out)
    assert row.keys() >= {"entity_name", "content", "score", "observation_id", "created_at"}
    assert (before.code, before.out, before.err) == (0, "", "Nothing found.\n")
    absence = "Nothing found.\nNo fact has: zebra.\n"
    assert [each.err for each in missed] == [absence, absence, absence, ""]
    assert json.loads(missed[3].out)["missing"] == ["zebra"]


def test_space_chooses_where_is_read_and_written(ask: Ask, owner: psycopg.Connection) -> None:
    owner.execute("select create_space('team')")
    owner.execute("select grant_access(%s, 'team', '{read,write,forget}')", (ACTOR,))
    ask("remember", "Ada", "likes tea")
    ask("remember", "Ada", "likes rum", "--space", "team")

    everywhere = ask("search", "likes")
    team = ask("search", "likes", "--space", "team")
    nowhere = ask("search", "likes", "--space", "teem")

    assert {line.split("\t")[3] for line in everywhere.out.splitlines()} == {"default", "team"}
    assert [line.split("\t")[-1] for line in team.out.splitlines()] == ["likes rum"]
    assert nowhere.complaint == f"Space not found: Spaces that {ACTOR} may use: default, team"


def test_forget_shows_what_would_go_and_deletes_after_a_yes(
    ask: Ask, owner: psycopg.Connection
) -> None:
    for fact in ("likes tea", "leads QA", "sings", "lives in Ulm"):
        ask("remember", "Ada", fact)

    dry = ask("forget", "Ada", "--dry-run")
    unasked = ask("forget", "Ada")
    unasked_json = ask("forget", "Ada", "--json")
    kept = owner.execute("select count(*) from observation").fetchone()
    one = ask("forget", "Ada", "likes tea", "--yes")
    rest = json.loads(ask("forget", "ada", "--yes", "--json").out)

    assert dry.out.splitlines() == [
        "This deletes Ada with 4 facts and 0 relations:",
        "  lives in Ulm", "  sings", "  leads QA", "  and 1 more fact",
    ]  # fmt: skip
    assert (unasked.code, unasked.out) == (1, dry.out)
    assert (unasked_json.out, unasked_json.err) == ("", dry.out + unasked.err)
    assert unasked.err == ("textrawl: Nothing was deleted: without a terminal, add --yes\n")
    assert kept == (4,)
    assert one.err == "Deleted one fact about Ada.\n"
    assert rest["facts"] == 3
    assert owner.execute("select count(*) from entity").fetchone() == (0,)


@pytest.mark.slow
@pytest.mark.parametrize(("answer", "left"), [("y", 0), ("n", 1), ("", 1)])
def test_forget_asks_at_a_terminal(
    ask: Ask, owner: psycopg.Connection, database_url: str, answer: str, left: int
) -> None:
    ask("remember", "Ada", "likes tea")
    access = {"DATABASE_URL": database_url, "ACCESS_TOKEN": TOKEN}

    done = type_answer(answer, "forget", "Ada", **access)

    assert done.out.startswith("This deletes Ada with 1 fact and 0 relations:\n  likes tea\n")
    assert "Delete it for good? [y/N]" in done.err
    assert (done.code == 0) == (left == 0)
    assert owner.execute("select count(*) from entity").fetchone() == (left,)


def test_a_wrong_argument_is_one_line_and_code_2(ask: Ask) -> None:
    for words, complaint in (
        (("remember", "Ada", "x", "--type", " "), "'--type': the text is empty."),
        (("remember", " ", "x"), "'NAME': the text is empty."),
        (("remember", "Ada", ""), "FACT: the text is empty."),
        (("remember", "Ada", "x" * 2001), "FACT: use at most 2,000 characters; these are 2,001."),
        (("remember", "Ada", "x", "--until", "soon"), "'--until': it must be ISO 8601"),
        (("show", "Ada", "--as-of", "then"), "'--as-of': it must be ISO 8601"),
        (("search", " "), "QUERY: the text is empty."),
        (("forget", "Ada", "--yes", "--dry-run"), "give --dry-run or --yes, not both."),
        (("ingest", ""), "'PATH...': the name is empty."),
        (("import", ""), "'[PATH|-]': the name is empty."),
    ):
        outcome = ask(*words)

        assert outcome.code == 2
        assert complaint in outcome.complaint


def test_an_import_from_a_stdin_that_is_closed_names_the_other_way(
    ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", None)  # so Python starts after `<&-`

    assert ask("import", "-").complaint == "There is no stdin to read: name a file"


def test_a_fact_that_has_ended_is_remembered_as_such(ask: Ask) -> None:
    stored = ask("remember", "Ada", "worked at Acme", "--until", "2020-01-01")

    assert "it has ended" in stored.out
    assert "worked at Acme" not in ask("show", "Ada").out
    assert "worked at Acme" in ask("show", "Ada", "--as-of", "2020-01-01").out


def test_a_name_that_is_not_there_names_those_that_are_close(ask: Ask) -> None:
    ask("remember", "Grace Hopper", "wrote a compiler", "--type", "person")
    for command in ("show", "forget"):
        close = ask(command, "Grace Hoper")
        far = ask(command, "Zoe")

        assert close.complaint == "There is no entity Grace Hoper: did you mean Grace Hopper?"
        assert far.complaint == "There is no entity Zoe: try `textrawl search`"


def test_what_the_token_may_not_do_is_refused(ask: Ask, owner: psycopg.Connection) -> None:
    token = make_token()
    owner.execute(
        "select create_token(%s, 'trl_read', %s, 'default', '{read}')", (hash_token(token), "ben")
    )
    ask("remember", "Ada", "likes tea")

    found = ask("search", "tea", ACCESS_TOKEN=token)
    written = ask("remember", "Ada", "likes rum", ACCESS_TOKEN=token)
    deleted = ask("forget", "Ada", "--yes", ACCESS_TOKEN=token)

    assert found.out.endswith("likes tea\n")
    assert written.complaint.startswith("Not allowed: This needs the scope write, but ben has read")
    assert deleted.complaint.startswith("Not allowed: This needs the scope forget, but ben has")
    assert owner.execute("select count(*) from observation").fetchone() == (1,)


def test_ever_shows_what_has_ended_with_its_period(ask: Ask) -> None:
    for words in (("lives in Graz", "--until", "2024-05-01"), ("lives in Linz",)):
        assert ask("remember", "Ada", *words).code == 0
    shown = {
        command: ask(*command, "--as-of", "ever").out
        for command in (("search", "where does Ada live"), ("show", "Ada"))
    }
    now = ask("search", "where does Ada live").out

    for text in shown.values():
        assert re.search(r"lives in Graz \([\d-]+ to 2024-05-01\)", text)
        assert re.search(r"lives in Linz \(from [\d-]+\)", text)
    assert "lives in Linz\n" in now
    assert "Graz" not in now
    assert "returned" in ask("explain", "lives in Graz", "--as-of", "ever").out
    assert ask("search", "Ada", "--as-of", "sometime").code == 2


def test_a_login_that_reads_nothing_is_told_to_set_a_token(run: Run, database_url: str) -> None:
    outcome = run("search", "tea", DATABASE_URL=database_url)

    assert outcome.code == 1
    assert (
        "set TEXTRAWL_ACCESS_TOKEN to a token that `textrawl token create` made"
        in outcome.complaint
    )


def test_switches_hold_for_commands_as_for_tools(ask: Ask) -> None:
    for name, complaint in (
        ("READ_ONLY", "Memory is read-only: TEXTRAWL_READ_ONLY is on"),
        ("ENABLE_MEMORY", "not enabled"),
    ):
        value = "true" if name == "READ_ONLY" else "false"

        refused = ask("remember", "Ada", "likes tea", **{name: value})

        assert refused.code == 1
        assert complaint in refused.complaint


def test_no_command_of_an_administrator_changes_a_read_only_memory(
    run: Run, tmp_path: Path
) -> None:
    file, memory = tmp_path / "export.jsonl", tmp_path / "memory"
    file.write_text('{"textrawl": "export", "version": 1}\n', encoding="utf-8")
    for line in (
        "space create team",
        "space decay default --reset",
        "space archive default",
        "webhook resume 12345678",
        "embed drop model2vec",
        f"import {file} --yes",
        f"restore {file}",
    ):
        refused = run(*line.split(), READ_ONLY="true", DATA_DIR=memory)

        assert refused.complaint.startswith("Memory is read-only: TEXTRAWL_READ_ONLY is on"), line
    assert not memory.exists()
    for line in (
        "space list",
        "space decay default",
        "token list",
        "webhook list",
        "analyst create ada --space default",
        "analyst drop ada",
    ):
        passed = run(*line.split(), READ_ONLY="true", DATA_DIR=memory)

        assert passed.complaint.startswith("There is no memory in"), line


def test_without_its_provider_a_fact_is_stored_and_a_search_goes_by_keywords(
    ask: Ask, launch: Launch, database_url: str, owner: psycopg.Connection, ollama: EmbeddingServer
) -> None:
    provider: dict[str, Any] = {
        "EMBEDDING_PROVIDER": "ollama", "OLLAMA_BASE_URL": ollama.url,
    }  # fmt: skip
    ask("remember", "Ada", "likes tea", **provider)
    ollama.fail(Fault.FAILING)

    stored = launch(
        "remember", "Ada", "likes rum", DATABASE_URL=database_url, ACCESS_TOKEN=TOKEN, **provider
    ).end()
    found = ask("search", "likes", **provider)

    assert (stored.code, stored.err) == (0, "")
    assert owner.execute("select count(*) from embedding_pending").fetchone() == (1,)
    assert found.err == "Keywords only: embedding service unavailable.\n"
    assert len(found.out.splitlines()) == 2


def test_without_any_provider_keywords_are_no_news(ask: Ask) -> None:
    ask("remember", "Ada", "likes tea", EMBEDDING_PROVIDER="none")

    found = ask("search", "tea", EMBEDDING_PROVIDER="none")

    assert found.err == ""
    assert found.out.endswith("likes tea\n")


@pytest.mark.slow
def test_an_empty_memory_is_no_fault_of_the_model(ask: Ask) -> None:
    first, second = ask("search", "tea"), ask("search", "tea")

    vectors = "Keywords only: no vectors are stored yet.\n"  # until the host has stored its model
    said = [each.err.removeprefix(vectors) for each in (first, second)]
    assert (first.code, said) == (0, ["Nothing found.\nNo fact has: tea.\n"] * 2)


@pytest.mark.slow
def test_a_terminal_of_80_columns_gets_whole_facts_in_lines_that_fit(
    ask: Ask, database_url: str
) -> None:
    fact = "cares for the release process of the whole company, from the freeze to the last mile"
    ask("remember", "Ada", fact, "--type", "person")
    ask("remember", "Ada", "likes tea")
    access = {"DATABASE_URL": database_url, "ACCESS_TOKEN": TOKEN}

    for words in (["search", "release process"], ["show", "Ada"]):
        shown = show_on_terminal(words, 80, **access)
        lines = shown.splitlines()
        assert max(map(len, lines)) <= 80
        assert any(line.strip() == "Ada (person)" for line in lines)
        assert all(word in shown for word in fact.split())
        assert "\t" not in shown


@pytest.mark.slow
def test_on_a_bare_machine_remembering_makes_the_memory_and_all_of_them_work(
    launch: Launch, home: Path
) -> None:
    place = {"DATA_DIR": home / "data"}

    nothing = launch("search", "tea", **place).end()
    stored = launch("remember", "Ada", "likes tea", **place).end()
    found = launch("search", "who drinks tea?", "--json", **place).end()
    gone = launch("forget", "Ada", "--yes", **place).end()

    assert nothing.code == 1
    assert "the first `textrawl serve` create it" in nothing.err
    assert stored.code == 0, stored.err
    [row] = json.loads(found.out)
    assert (row["author"], row["content"]) == (getpass.getuser(), "likes tea")
    assert gone.err == "Deleted Ada with 1 fact and 0 relations.\n"


def test_a_fact_that_is_close_is_named_and_one_that_is_told_again_updated(
    ask: Ask, owner: psycopg.Connection
) -> None:
    ask("remember", "Ada", "is married to Eve")

    close = ask("remember", "Ada", "was married to Eve").out
    again = ask("remember", "Ada", "was married to Eve", "--until", "2999-01-01").out

    first, second = close.splitlines()
    assert first.startswith("Remembered about Ada (concept): ")
    assert re.fullmatch(r"Over on [\d-]{10}: [0-9a-f]{8} is married to Eve", second)
    assert again.startswith("Updated what is known about Ada (concept): ")
    report = json.loads(ask("remember", "Ada", "was married to Eve", "--json").out)
    assert (report["duplicate"], report["updated"], report["closest"]) == (True, False, None)
    assert owner.execute("select count(*), count(valid_until) from observation").fetchall() == [
        (2, 1)
    ]


def store_meals(owner: psycopg.Connection, tokens: int) -> None:
    """Store a source in a graph that the caller can read."""
    owner.execute(
        "select create_space('handbook', tier => 'personal', recall_tokens => %s)", [tokens]
    )
    owner.execute("select grant_access('ada', 'handbook', array['read'])")
    owner.execute(
        "select store_source('handbook', 'file/meals.md', 'meals.md',"
        " E'Tea at four.\\nCoffee at nine.',"
        " '[[1, 0, 13, 5], [2, 13, 15, 4]]', repeat('0', 64))"
    )


def test_documents_are_searched_beside_facts_or_alone(ask: Ask, owner: psycopg.Connection) -> None:
    ask("remember", "Ben", "drinks coffee")
    store_meals(owner, 900)

    facts, documents = ask("search", "coffee"), ask("search", "coffee", "--documents", "-n", "1")
    answer = json.loads(ask("search", "coffee", "--documents", "--json").out)

    assert "Ben" in facts.out
    assert "meals.md" in facts.out
    cells = documents.out.rstrip("\n").split("\t")
    assert [*cells[1:4], cells[-1]] == ["meals.md", "document", "handbook", "Coffee at nine."]
    assert cells[4].endswith(":2")
    assert cells[4].startswith(answer[0]["document_id"])
    assert ask("search", "x", "--documents", "--type", "person").code == 2


def test_chunks_over_a_limit_are_counted(ask: Ask, owner: psycopg.Connection) -> None:
    store_meals(owner, 5)

    outcome = ask("search", "coffee tea", "--documents")

    assert len(outcome.out.splitlines()) == 1
    assert "Left out by the limits of graphs: 1 chunk." in outcome.err
