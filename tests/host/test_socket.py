"""The socket of a memory: who may ask, and what a request can do."""

import json
import os
import re
import signal
import socket
import stat
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.hooks.sessions import Session
from tests.support.commands import Launch, Process, Run, wait_for
from tests.support.pages import ROOT
from tests.support.sockets import (
    NEEDS_ROOT,
    ask_as_another_user,
    connect,
    fact_of,
    is_answered,
    read_all,
    recall,
    remember,
)
from textrawl import __version__
from textrawl.errors import TextrawlError
from textrawl.host.entrance import find_address
from textrawl.host.framing import MOST_BYTES as MOST_BYTES_OF_MESSAGES
from textrawl.host.listener import may_ask
from textrawl.host.question import ask, build_call
from textrawl.host.requests import PING
from textrawl.values.word_lists import PROGRAM
from textrawl_client.unix_socket import (
    KEY_SETTINGS,
    MOST_BYTES,
    ResidentRefused,
    Unreachable,
    build_address,
)


def build_line(method: str, **program: object) -> bytes:
    """A request of this version, or of another one."""
    meta = {PROGRAM: {"version": __version__, **program}}
    return json.dumps({"method": method, "params": {"_meta": meta}}).encode() + b"\n"


BROKEN = [
    (b"garbage\n", "Request not understood"),
    (b"[]\n", "Request not understood"),
    (b"\xff\xfe\n", "Request not understood"),
    (b"[" * 100_000 + b"\n", "Request not understood"),
    (b"{}\n", "Another version of textrawl"),
    (b'{"version": "0.1.0", "op": "ping"}\n', "Another version of textrawl"),  # before JSON-RPC
    (b'{"params": {"_meta": {"textrawl/program": 5}}}\n', "Another version of textrawl"),
    (build_line("ping", client=5), "Invalid argument"),
    (build_line("tools/list"), "Unknown method"),
]


def test_the_socket_answers_like_the_tools(resident: Process, run: Run) -> None:
    stored = remember("Ada", "likes tea")
    found = recall("who likes tea?")
    again = recall("who likes tea?", known=found.short_ids)
    digest = ask(build_call("digest", {}), timeout=60)
    printed = run("recall", "who", "likes", "tea?")
    listed = json.loads(run("recall", "tea", "--json").out)
    log = "2026-11-25 10:11:12 INFO the worker sent a heartbeat\n" * 900
    pasted = run("recall", f"{log}who likes tea?")

    assert pasted.out == printed.out
    assert [stored] == found.ids == digest.ids
    assert found.text.splitlines()[0] == "Ada (concept)"
    assert again.ids == []
    assert digest.text == "Ada (concept)\n- likes tea"
    assert printed.out == f"{found.text}\n"
    assert [fact["fact"] for fact in listed["facts"]] == ["likes tea"]


@pytest.mark.slow
def test_a_broken_request_gets_an_error_and_hurts_nothing(launch: Launch, data_dir: Path) -> None:
    launch("serve", DATA_DIR=data_dir).open()
    wait_for(is_answered)

    for line, title in BROKEN:
        with connect() as connection:
            connection.sendall(line)
            assert json.loads(read_all(connection))["error"]["message"].startswith(title)
    assert is_answered()


def test_the_answer_to_a_hook_has_only_facts(
    launch: Launch, data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nowhere = {"EMBEDDING_PROVIDER": "ollama", "OLLAMA_BASE_URL": "http://127.0.0.1:9"}
    for name, value in nowhere.items():
        monkeypatch.setenv(f"TEXTRAWL_{name}", value)
    process = launch("host", DATA_DIR=data_dir, **nowhere)
    wait_for(is_answered)
    remember("Ada", "likes tea")

    other = recall("tea").text.splitlines()
    hook = recall("tea", "textrawl hook (codex)").text.splitlines()
    process.end(signal.SIGTERM)

    assert other[-1].startswith("note keyword only")
    assert hook == other[:-1]


def refuse(request: dict[str, Any]) -> TextrawlError:
    """The error that answers a request."""
    with pytest.raises(TextrawlError) as refused:
        ask(request, timeout=30)
    return refused.value


@pytest.mark.slow
def test_wrong_arguments_and_slow_clients_do_not_stop_others(resident: Process) -> None:
    slow = [connect() for _ in range(70)]  # more than are served at the same time

    wrong = refuse(build_call("query_memory", {"query": "x", "limit": 0, "minScore": 2}))
    empty = refuse(fact_of("Ada", "\u202e"))
    unknown = refuse(build_call("drop", {}))

    for connection in slow:
        assert read_all(connection) == b""
        connection.close()
    assert "limit (given '0'): must be an integer from 1 to 50" in wrong.fix
    assert "least_score" in wrong.fix
    assert "fact" in empty.fix
    assert unknown.title == "Unknown tool"


def test_the_socket_is_its_owners_alone_and_no_line_too_long_reader_or_switch_gets_through(
    resident: Process, run: Run
) -> None:
    address = find_address()
    folder, file = address.folder.lstat(), address.socket.lstat()
    assert stat.S_IMODE(folder.st_mode) == 0o700
    assert stat.S_IMODE(file.st_mode) == stat.S_IMODE(address.lock.lstat().st_mode) == 0o600
    assert folder.st_uid == file.st_uid == os.geteuid()

    refused = run("remember", "Ada", "likes tea", READ_ONLY="true")
    assert "TEXTRAWL_READ_ONLY" in refused.complaint
    assert recall("tea").ids == [], "a reader changed the memory"

    off = run("recall", "tea", ENABLE_MEMORY="false")
    assert off.complaint == "Memory not enabled: Set ENABLE_MEMORY=true"

    with connect() as connection, suppress(OSError):  # the other end may close at any byte
        connection.sendall(b"x" * (MOST_BYTES + 2) + b"\n")
        assert read_all(connection) == b""

    assert is_answered()
    with pytest.raises(ResidentRefused):
        recall("x" * MOST_BYTES)


@NEEDS_ROOT
def test_a_process_of_another_os_user_is_refused_even_if_it_can_open_the_socket(
    resident: Process,
) -> None:
    assert ask_as_another_user(find_address().socket, build_line("ping")) in ("b''\n", "")


@NEEDS_ROOT
@pytest.mark.parametrize("mode", [0o700, 0o755])
def test_a_folder_that_others_own_or_can_enter_is_refused(data_dir: Path, mode: int) -> None:
    address = find_address()
    address.folder.mkdir(mode=mode)
    if mode == 0o700:
        os.chown(address.folder, 65534, 65534)
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(str(address.socket))
        other.listen()

        with pytest.raises(Unreachable, match="private"):
            ask(PING, timeout=1)


@NEEDS_ROOT
@pytest.mark.parametrize("mode", [0o700, 0o755])
def test_a_foreign_folder_is_named_by_all_that_would_use_it(
    data_dir: Path, launch: Launch, run: Run, mode: int
) -> None:
    folder = find_address().folder
    folder.mkdir(mode=mode)
    if mode == 0o700:
        os.chown(folder, 65534, 65534)
    told = f"sharing of a server are off, because {folder} "

    values = {"TEXTRAWL_DATA_DIR": str(data_dir)}
    answered = launch("recall", "anything", **values).end()
    doctor = json.loads(run("doctor", "--json").out)
    asked = Session("claude-code", data_dir, values).tell("prompt", prompt="Who leads QA?")
    server = launch("serve", **values)
    server.open()
    logged = server.end().err

    assert told in answered.err
    assert answered.code == 0
    [note] = [each for each in doctor["findings"] if each["name"] == "sharing"]
    assert (note["verdict"], told in note["told"]) == ("note", True)
    assert (asked.code, told in asked.err) == (0, True)
    assert told in logged


def test_the_page_says_how_long_a_request_can_be() -> None:
    page = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")

    [through_socket] = re.findall(r"A request has at most (\d+) MiB and two seconds", page)
    [of_server] = re.findall(r"size of a request: at most (\d+) MiB \| server", page)

    assert int(through_socket) << 20 == MOST_BYTES
    assert int(of_server) << 20 == MOST_BYTES_OF_MESSAGES


def test_both_ends_of_a_connection_see_the_same_user() -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX)
    with ours, theirs:
        assert may_ask(ours)
        assert may_ask(theirs)


def test_other_settings_have_another_socket_and_a_long_path_another_folder() -> None:
    folder = Path("/data")  # a folder of pytest can be too long for a socket
    plain = build_address(folder, {})
    others = [build_address(folder, {name: "x"}) for name in KEY_SETTINGS]
    far = build_address(folder / ("long" * 30), {})
    farther = build_address(folder / ("Long" * 30), {})

    assert len({address.socket for address in (plain, *others)}) == 1 + len(KEY_SETTINGS)
    assert build_address(folder, {"space": "x", "access_token": "x"}) == plain
    assert plain.folder == folder / "resident"
    assert len(os.fsencode(far.socket)) < 104
    assert far.folder != farther.folder


@pytest.mark.slow
def test_only_one_host_stays(launch: Launch, data_dir: Path, resident: Process) -> None:
    late = launch("host", DATA_DIR=data_dir).end()

    assert (late.code, late.err) == (0, "")
    assert resident.popen.poll() is None


@pytest.mark.slow
def test_a_host_that_nobody_asks_ends_and_leaves_no_socket(launch: Launch, data_dir: Path) -> None:
    process = launch("host", DATA_DIR=data_dir, TEXTRAWL_HOST_IDLE=0.001)

    assert process.popen.wait(timeout=60) == 0
    assert list(find_address().folder.iterdir()) == []


@pytest.mark.slow
def test_another_version_is_refused_and_the_host_goes_on(resident: Process) -> None:
    with connect() as connection:
        connection.sendall(build_line("ping", version="99"))
        answer = json.loads(read_all(connection))

    assert answer["version"] == __version__
    assert "99" in answer["error"]["message"]
    assert is_answered()
    assert resident.popen.poll() is None


def test_a_command_starts_a_host_where_only_a_stale_socket_is(run: Run, data_dir: Path) -> None:
    folder = find_address().folder
    folder.mkdir(mode=0o700)
    with socket.socket(socket.AF_UNIX) as stale:
        stale.bind(str(find_address().socket))

    stored = run("remember", "Ada", "likes tea")
    found = run("recall", "tea")

    assert stored.code == found.code == 0
    assert "likes tea" in found.out
