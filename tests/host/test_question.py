"""Questions: commands that one process answers, which has the memory open."""

import json
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from threading import Thread
from typing import get_args, get_origin, get_type_hints

import psutil
import psycopg
import pytest

from tests.support.commands import Launch, Process, Run, name_memory, wait_for
from tests.support.pages import ROOT
from tests.support.sockets import find_listener, remember
from textrawl.host.entrance import find_address
from textrawl.memory.commands import OPERATIONS
from textrawl.settings import read_foreign_environment

# Prints what a command did not need, because another process has the memory open.
LIGHTLY = """
import sys
from textrawl.__main__ import main
try:
    main(sys.argv[1:])
finally:
    heavy = {"psycopg", "numpy", "textrawl.settings", "mcp"}
    print(sorted(heavy & {*sys.modules}), file=sys.stderr)
"""
ANSWERED = {
    "search who likes tea": "likes tea",
    "recall who likes tea": "likes tea",
    "digest": "likes tea",
    "show Ada": "likes tea",
    "stats": "valid facts",
    "explain tea": "likes tea",
    "remember Ben likes_coffee": "Remembered about Ben",
}
HEAVY = {"forget Ben --yes": "Deleted Ben", "log": "created", "me Ada": "Ada", "entity same": ""}


def run_lightly(data_dir: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """A command in a process of its own, which says at the end what it has loaded."""
    return subprocess.run(
        [sys.executable, "-c", LIGHTLY, *words],
        env=read_foreign_environment() | {"TEXTRAWL_DATA_DIR": str(data_dir)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def find_residents(data_dir: Path) -> list[int]:
    """The processes that keep this memory open."""
    found = list[int]()
    for process in psutil.process_iter():
        try:
            if "host" not in process.cmdline()[-2:]:
                continue
            values = process.environ()
        except psutil.Error:
            continue
        found += [process.pid] * (values.get("TEXTRAWL_DATA_DIR") == str(data_dir))
    return found


def test_a_process_that_is_open_answers_commands_which_load_little(
    resident: Process, data_dir: Path
) -> None:
    remember("Ada", "likes tea", "person")

    for line, part in ANSWERED.items():
        done = run_lightly(data_dir, *line.split())
        assert (done.returncode, done.stderr) == (0, "[]\n"), line
        assert part in done.stdout, line
    for line, part in HEAVY.items():
        done = run_lightly(data_dir, *line.split())
        assert done.returncode == 0, done.stderr
        assert part in done.stdout + done.stderr, line
    assert find_listener(find_address().socket) == resident.popen.pid


def test_the_first_command_starts_a_process_and_the_next_one_finds_it(
    launch: Launch, data_dir: Path, postmasters: Callable[[], list[int]]
) -> None:
    stored = launch("remember", "Ada", "likes tea", TEXTRAWL_DATA_DIR=data_dir)
    asked = [launch("search", "tea", TEXTRAWL_DATA_DIR=data_dir) for _ in range(3)]
    outcomes = [process.end() for process in (stored, *asked)]
    found = launch("show", "Ada", TEXTRAWL_DATA_DIR=data_dir).end()

    assert [outcome.code for outcome in outcomes] == [0, 0, 0, 0], outcomes
    assert "likes tea" in found.out
    [process] = find_residents(data_dir)
    assert find_listener(find_address().socket) == process
    assert len(postmasters()) == 1


def test_a_memory_that_does_not_exist_is_not_made_by_a_question(run: Run, home: Path) -> None:
    for words in (["search", "tea"], ["show", "Ada"], ["forget", "Ada", "--yes"], ["recall", "x"]):
        refused = run(*words, DATA_DIR=home / "nothing", TEXTRAWL_DATA_DIR=home / "nothing")
        assert refused.complaint.startswith(f"There is no memory in {home / 'nothing'} yet")
    assert not (home / "nothing").exists()


def test_each_token_has_its_own_rights_through_one_process(
    resident: Process, run: Run, data_dir: Path
) -> None:
    grants = ("--space", "default", "--scope", "read")
    writer = run("token", "create", "--actor", "ana", *grants, "--scope", "write").out.strip()
    reader = run("token", "create", "--actor", "ben", *grants).out.strip()

    stored = run("remember", "Ada", "likes tea", ACCESS_TOKEN=writer)
    shown = json.loads(run("search", "tea", "--json", ACCESS_TOKEN=reader).out)
    refused = run("remember", "Ada", "likes coffee", ACCESS_TOKEN=reader)
    kept = run("forget", "Ada", "--yes", ACCESS_TOKEN=reader)
    unknown = run("search", "tea", ACCESS_TOKEN="trl_nobody")
    own = run("remember", "Cleo", "likes milk")
    authors = {row["author_name"] for row in json.loads(run("log", "--json").out)}

    assert stored.code == own.code == 0
    assert [(row["content"], row["author"]) for row in shown] == [("likes tea", "ana")]
    assert (refused.code, kept.code, unknown.code) == (1, 1, 1)
    assert "write" in refused.err
    assert "forget" in kept.err
    assert "Not authenticated" in unknown.err
    assert {"ana"} < authors
    assert "ben" not in authors
    assert find_listener(find_address().socket) == resident.popen.pid


def test_a_new_right_counts_at_once(resident: Process, run: Run) -> None:
    grants = ("--space", "default", "--scope", "read")
    token = run("token", "create", "--actor", "ana", *grants).out.strip()
    assert run("search", "tea", ACCESS_TOKEN=token).code == 0

    before = run("log", ACCESS_TOKEN=token)
    more = run("token", "create", "--actor", "ana", *grants, "--scope", "admin").out.strip()
    after = run("log", ACCESS_TOKEN=more)

    assert (before.code, after.code) == (1, 0)


def test_a_database_that_is_away_is_told_as_by_the_command_itself(run: Run, data_dir: Path) -> None:
    url = "postgresql://nobody@127.0.0.1:9/nothing"
    itself = run("export", DATABASE_URL=url, DATA_DIR=data_dir)
    asked = run("search", "tea", DATABASE_URL=url, DATA_DIR=data_dir)

    assert (asked.code, itself.code) == (1, 1)
    assert asked.complaint == itself.complaint


@pytest.fixture
def broken(data_dir: Path) -> Iterator[list[bytes]]:
    """A process that reads a request and ends before it answers."""
    read = list[bytes]()
    address = find_address()
    address.folder.mkdir(mode=0o700, exist_ok=True)
    with closing(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)) as listener:
        listener.bind(str(address.socket))
        listener.listen()

        def serve() -> None:
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                with connection:
                    read.append(connection.recv(1 << 16))

        thread = Thread(target=serve)
        thread.start()
        yield read
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()


def test_a_write_whose_process_ends_is_not_repeated_and_a_question_is(
    broken: list[bytes], run: Run
) -> None:
    written = run("forget", "Ada", "--yes")
    asked = run("search", "tea")

    assert written.code == 1
    assert "may be done or not" in written.complaint
    assert asked.code == 0
    assert "this command opens the memory itself" in asked.err
    assert [json.loads(line)["method"] for line in broken] == ["forget", "search"]


def test_a_command_that_is_interrupted_takes_its_work_back(
    launch: Launch, owner: psycopg.Connection, database_url: str, home: Path
) -> None:
    settings = name_memory(database_url, DATA_DIR=str(home))
    assert launch("remember", "Ada", "likes tea", **settings).end().code == 0
    waiting = "select 1 from pg_locks where not granted and database is not null"

    with owner.transaction():
        owner.execute("lock table textrawl.entity in access exclusive mode")
        command = launch("forget", "Ada", "--yes", **settings)
        wait_for(lambda: owner.execute(waiting).fetchone())
        outcome = command.end(signal.SIGINT)
        wait_for(lambda: not owner.execute(waiting).fetchone())
    found = launch("show", "Ada", **settings).end()

    assert (outcome.code, outcome.err) == (130, "textrawl: Interrupted by SIGINT\n")
    assert "likes tea" in found.out


def list_questions() -> set[tuple[str, str]]:
    """The operations that commands name, with the types of results that they expect."""
    folder = ROOT / "textrawl" / "cli"
    texts = [path.read_text("utf-8") for path in folder.rglob("*.py")]
    pattern = re.compile(r"\bask(?:_memory)?\(\s*\"(\w+)\",\s*([\w\[\]]+)")
    return {(found[1], found[2]) for text in texts for found in pattern.finditer(text)}


def test_commands_ask_for_operations_that_exist_and_expect_their_results() -> None:
    asked = list_questions()

    assert len(asked) > 30
    for name, kind in asked:
        found = get_type_hints(OPERATIONS[name].run)["return"]
        members = [one.__name__ for one in get_args(found)]
        one = members[0] if members else found.__name__
        assert kind == (f"list[{one}]" if get_origin(found) is list else one), name
