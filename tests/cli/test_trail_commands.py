"""`textrawl undo` and `textrawl log`."""

import getpass
import json
import re
import select
import signal
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.support.commands import Launch, Run, type_answer, wait_for
from tests.support.sql_team import Team
from textrawl.access.access_token import hash_token, make_token
from textrawl.cli.commands.trail import find_start
from textrawl.embedded.postmaster import OWNER
from textrawl.errors import ArgumentInvalid


@pytest.fixture
def team(owner: psycopg.Connection) -> Team:
    """A memory in which eve corrected ana, repeated and was repeated."""
    team = Team(owner)
    tea = team.remember("ana", "Jeff", "drinks tea")
    team.remember("eve", "Jeff", "drinks coffee", tea.id)
    team.remember("eve", "Kim", "plays chess")
    team.remember("bob", "Kim", "plays chess")
    team.remember("eve", "Puppet", "is real")
    return team


def test_a_dry_run_shows_by_space_and_entity_what_would_happen_and_changes_nothing(
    run: Run, url: str, team: Team
) -> None:
    before = team.rows()

    outcome = run("undo", "--by", "eve", "--since", "1h", "--dry-run", DATABASE_URL=url)

    assert outcome.code == 0
    lines = [line.strip("│├└─ ") for line in outcome.out.splitlines()]
    assert lines[0].startswith("Undoing eve since 20")
    assert lines[0].endswith("UTC: 6 steps")
    because = re.compile(r"(because of \w+) at 20[\d-]+ [\d:]{5}")
    assert [because.sub(r"\1", line) for line in lines[1:]] == [
        "team",
        "Jeff", "remove: drinks coffee", "revive: drinks tea",
        "Kim", "kept, because of eve: entity", "kept, because of bob: plays chess",
        "Puppet (is removed too)", "remove: is real",
    ]  # fmt: skip
    assert team.rows() == before


def test_a_long_plan_is_cut_and_counted(run: Run, url: str, team: Team) -> None:
    for number in range(30):
        team.remember("eve", f"Puppet {number:02}", "is real")
        team.remember("eve", "Hydra", f"has {number} heads")

    outcome = run("undo", "--by", "eve", "--since", "1h", "--dry-run", DATABASE_URL=url)

    assert "… 25 more" in outcome.out
    assert "… 14 more entities, 28 steps" in outcome.out
    assert len(outcome.out.splitlines()) < 60


def test_undo_says_how_it_is_reverted_and_that_brings_everything_back(
    run: Run, url: str, team: Team
) -> None:
    before = team.rows()

    done = run("undo", "--by", "eve", "--since", "1h", "--yes", DATABASE_URL=url)
    after = team.rows()
    undo = done.err.splitlines()[0].partition("Undo ")[2].partition(" ")[0]
    back = run("undo", "--revert", undo, "--space", "team", DATABASE_URL=url)

    assert done.err == (
        f"Undo {undo} in team: 2 removed, 1 valid again, 1 entity dropped, 2 kept. "
        f"To put it back: textrawl undo --revert {undo}\n"
    )
    assert after != before
    assert back.err == f"Reverted undo {undo} in team: 4 restored.\n"
    assert team.rows() == before


def test_one_event_is_undone_by_the_cursor_that_the_log_writes(
    run: Run, url: str, team: Team
) -> None:
    before = team.rows()
    team.remember("ana", "Jeff", "sings")
    events = json.loads(
        run("log", "--json", "--by", "ana", "--space", "team", DATABASE_URL=url).out
    )
    undo = ("undo", "--event", events[0]["cursor"], "--space", "team")
    done = run(*undo, DATABASE_URL=url)
    again = run(*undo, DATABASE_URL=url)

    assert (done.code, "1 removed. To put it back" in done.err) == (0, True), done.err
    assert (again.code, "undone already" in again.err) == (1, True)
    assert team.rows() == before


def test_undo_tells_scripts_what_it_did(run: Run, url: str, team: Team) -> None:
    arguments = ("undo", "--by", "eve", "--since", "1h", "--json")

    plan = json.loads(run(*arguments, "--dry-run", DATABASE_URL=url).out)
    [done] = json.loads(run(*arguments, "--yes", DATABASE_URL=url).out)
    again = run(*arguments, "--yes", DATABASE_URL=url)

    assert len(plan) == 6
    assert plan[0].keys() >= {"space_name", "action", "entity_name", "kind", "id", "content"}
    assert (done["space_name"], done["removed"], done["dropped"]) == ("team", 2, 1)
    assert json.loads(again.out) == []
    assert "nothing was undone" in again.err


def test_without_a_terminal_nothing_is_undone_unless_told(run: Run, url: str, team: Team) -> None:
    before = team.rows()

    outcomes = [
        run("undo", "--by", "eve", "--since", "1h", DATABASE_URL=url),
        run("undo", "--purge", DATABASE_URL=url),
    ]

    assert [outcome.code for outcome in outcomes] == [1, 1]
    assert "add --yes" in outcomes[0].err
    assert team.rows() == before


@pytest.mark.parametrize(("answer", "undone"), [("n", False), ("y", True)])
def test_on_a_terminal_it_asks_first(url: str, team: Team, answer: str, undone: bool) -> None:
    before = team.rows()
    done = type_answer(answer, "undo", "--by", "eve", "--since", "1h", DATABASE_URL=url)

    assert "Undo this?" in done.err
    assert done.code == (0 if undone else 130)
    assert (team.rows() != before) is undone


def test_what_is_purged_cannot_be_reverted(run: Run, url: str, team: Team) -> None:
    assert team.plan("eve", team.now() - timedelta(hours=1))
    run("undo", "--by", "eve", "--since", "1h", "--yes", DATABASE_URL=url)

    kept = run("undo", "--purge", "--older-than", "30d", "--yes", DATABASE_URL=url)
    gone = run("undo", "--purge", "--yes", "--json", DATABASE_URL=url)
    refused = run("undo", "--revert", "1", DATABASE_URL=url)

    assert kept.err == "There was nothing to purge.\n"
    assert json.loads(gone.out) == [{"space_name": "team", "undos": 1, "rows": 4}]
    assert refused.code == 1
    assert "No such undo" in refused.complaint


def test_undo_does_one_thing_at_a_time(run: Run, url: str) -> None:
    for arguments in (
        (),
        ("--by", "eve"),
        ("--since", "1h"),
        ("--by", "eve", "--since", "1h", "--purge"),
        ("--revert", "1", "--older-than", "1d"),
    ):
        outcome = run("undo", *arguments, DATABASE_URL=url)
        assert (outcome.code, "--revert" in outcome.complaint) == (2, True)


def test_a_name_nobody_has_is_told_from_nothing_to_do(run: Run, url: str, team: Team) -> None:
    nobody = run("undo", "--by", "evee", "--since", "1h", "--dry-run", DATABASE_URL=url)
    nowhere = run("log", "--space", "teem", DATABASE_URL=url)

    assert "No such author" in nobody.complaint
    assert (
        nowhere.complaint == f"Space not found: Spaces that {OWNER} may use: default, {team.name}"
    )


def test_the_trail_needs_the_scope_admin(run: Run, database_url: str, team: Team) -> None:
    tokens = {scope: make_token() for scope in ("write", "admin")}
    for scope, token in tokens.items():
        team.sql.execute(
            "update token set hash = %s where hash = %s",
            (hash_token(token), team.credential(scope, scope)),
        )
    calls = [("log",), ("undo", "--by", "eve", "--since", "1h", "--yes"), ("undo", "--revert", "1")]
    before = team.rows()

    for arguments in calls:
        refused = run(*arguments, DATABASE_URL=database_url, ACCESS_TOKEN=tokens["write"])
        assert "scope admin" in refused.complaint
    assert team.rows() == before
    for arguments in calls:
        done = run(*arguments, DATABASE_URL=database_url, ACCESS_TOKEN=tokens["admin"])
        assert done.code == 0, done.err
    who = "select distinct a.name from undo join actor a on a.id = actor_id"
    assert team.fetch(who) == "admin"


def test_the_log_is_newest_first_and_filtered(run: Run, url: str, team: Team) -> None:
    table = run("log", "--by", "eve", DATABASE_URL=url).out
    rows: list[dict[str, Any]] = json.loads(
        run("log", "--entity", "kim", "--action", "repeated", "--json", DATABASE_URL=url).out
    )
    none = json.loads(run("log", "--since", "1s", "-n", "1", "--json", DATABASE_URL=url).out)

    assert table.index("Puppet") < table.index("Kim") < table.index("Jeff")
    assert "bob" not in table
    assert [(row["author_name"], row["tool"]) for row in rows] == [("bob", "sql")]
    assert len(none) <= 1
    assert team.name in table


def test_a_log_without_events_says_so(run: Run, url: str, team: Team) -> None:
    outcome = run("log", "--action", "remembred", DATABASE_URL=url)

    assert (outcome.code, outcome.out, outcome.err) == (0, "", "No events match.\n")
    assert json.loads(run("log", "--by", "nobody", "--json", DATABASE_URL=url).out) == []


def test_the_log_follows_on_after_a_cursor_until_a_signal(
    run: Run, launch: Launch, url: str, team: Team
) -> None:
    first = json.loads(run("log", "--action", "replaced", "--json", DATABASE_URL=url).out)
    process = launch("log", "--follow", "--json", "--after", first[0]["cursor"], DATABASE_URL=url)

    lines = [process.hear() for _ in range(5)]
    team.remember("ana", "Zoe", "sings")
    lines += [process.hear() for _ in range(2)]
    outcome = process.end(signal.SIGTERM)

    assert [(row["action"], row["entity_name"]) for row in lines] == [
        ("created", "Kim"), ("remembered", "Kim"), ("repeated", "Kim"),
        ("created", "Puppet"), ("remembered", "Puppet"),
        ("created", "Zoe"), ("remembered", "Zoe"),
    ]  # fmt: skip
    assert len({row["cursor"] for row in lines}) == 7
    assert (outcome.code, outcome.out) == (143, "")


def test_the_log_follows_what_happens_from_now_on(launch: Launch, url: str, team: Team) -> None:
    process = launch("log", "--follow", "--space", "team", DATABASE_URL=url)
    looking = (
        "select from pg_stat_activity where query ~ 'read_events' and pid <> pg_backend_pid()"
        " and datname = current_database()"
    )
    wait_for(lambda: team.sql.execute(looking).rowcount)

    team.remember("ana", "Zoe", "sings")
    assert process.popen.stdout
    # What another transaction of the cluster has held back until now may come first.
    line = next(line for line in process.popen.stdout if "Zoe" in line)

    assert line.split("\t")[1:] == ["team", "ana", "created", "Zoe", "sql", "", "\n"]


def test_the_log_is_a_line_an_event_on_a_terminal(run: Run, url: str, team: Team) -> None:
    team.remember("ana", "The committee for the names of all other committees", "sings")
    team.sql.execute(
        "select remember_fact('Kim', 'person', 'sings', client => 'Claude Code of the night shift')"
    )
    for columns in (80, 120):
        lines = run("log", DATABASE_URL=url, FORCE_COLOR="1", COLUMNS=columns).out.splitlines()
        shown = [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in lines]
        events = json.loads(run("log", "--json", DATABASE_URL=url).out)

        assert len(shown) == len(events)
        assert max(map(len, shown)) <= columns
        for line, event in zip(shown, events, strict=True):
            assert re.match(r"(\d{4}-)?\d\d-\d\d \d\d:\d\d", line)
            assert f" {event['author_name'][:11]}" in line
            assert f" {event['action']} " in line
            assert (event["entity_name"] or "")[:20] in line
            assert (event["client"] or "")[:11] in line


def test_the_log_that_is_piped_has_every_column_whole_with_tabs(
    run: Run, url: str, team: Team
) -> None:
    long = "The committee for the names of all other committees"
    team.remember("ana", long, "sings")

    first = run("log", "--limit", "1", DATABASE_URL=url, COLUMNS=40).out
    [event] = json.loads(run("log", "--limit", "1", "--json", DATABASE_URL=url).out)

    cells = first.removesuffix("\n").split("\t")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", cells[0])
    assert cells[1:] == [team.name, "ana", event["action"], long, "sql", "", ""]


def test_the_log_follows_only_what_was_asked_for(launch: Launch, url: str, team: Team) -> None:
    process = launch(
        "log",
        "--follow",
        "--after",
        "0:0",
        "--by",
        "eve",
        "--entity",
        "kim",
        "--json",
        DATABASE_URL=url,
    )

    lines = [process.hear() for _ in range(2)]
    team.remember("ana", "Kim", "sings")
    team.remember("eve", "Kim", "dances")
    lines.append(process.hear())
    process.end(signal.SIGTERM)

    assert [row["author_name"] for row in lines] == ["eve"] * 3
    assert [row["action"] for row in lines] == ["created", "remembered", "remembered"]


def test_options_of_the_log_that_exclude_each_other_are_told(run: Run, url: str) -> None:
    for arguments in (
        ("--follow", "--since", "1h"),
        ("--follow", "--limit", "5"),
        ("--after", "0:0"),
    ):
        assert run("log", *arguments, DATABASE_URL=url).code == 2


@pytest.mark.slow
def test_the_log_follows_on_the_embedded_postgres(run: Run, launch: Launch, data_dir: Path) -> None:
    process = launch("log", "--follow", "--after", "0:0", "--json", DATA_DIR=data_dir)
    run("remember", "Ada", "likes tea", DATA_DIR=data_dir)
    lines = [process.hear() for _ in range(2)]
    process.end(signal.SIGTERM)

    now = launch("log", "--follow", "--json", DATA_DIR=data_dir)
    assert now.popen.stdout
    heard = list[Any]()
    while not heard:  # what was told before it listened is not for it
        run("remember", "Ada", f"drinks cup {time.monotonic()}", DATA_DIR=data_dir)
        if select.select([now.popen.stdout], [], [], 0)[0]:
            heard.append(now.hear())
    outcome = now.end(signal.SIGTERM)

    assert [row["action"] for row in lines] == ["created", "remembered"]
    assert heard[0]["entity_name"] == "Ada"
    assert outcome.err == "textrawl: Interrupted by SIGTERM\n"


def test_on_the_embedded_postgres_it_is_the_person_at_the_machine_who_takes_back(
    run: Run, data_dir: Path
) -> None:
    log = run("log", "--json", DATA_DIR=data_dir)
    unknown = run("undo", "--by", "eve", "--since", "1h", "--yes", DATA_DIR=data_dir)

    assert (log.code, json.loads(log.out)) == (0, [])
    assert "No such author" in unknown.complaint
    nothing = run(
        "undo", "--by", getpass.getuser(), "--since", "1h", "--yes", "--json", DATA_DIR=data_dir
    )
    assert json.loads(nothing.out) == []


def test_since_is_an_instant_the_beginning_of_a_day_or_a_span() -> None:
    assert find_start("2026-08-01") == datetime(2026, 8, 1, tzinfo=UTC)
    assert find_start("2026-08-01T12:00+02:00") == datetime(2026, 8, 1, 10, tzinfo=UTC)
    start = find_start("2h")
    ago = datetime.now(UTC) - start
    assert timedelta(hours=2) <= ago < timedelta(hours=2, minutes=1)
    assert datetime.now(UTC) - find_start("yesterday") < timedelta(days=2)
    for wrong in ("whenever", "2h ago", "2999-01-01", "2026-13-01", ""):
        with pytest.raises(ArgumentInvalid):
            find_start(wrong)
