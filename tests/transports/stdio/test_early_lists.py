"""The lists that a client gets from the file of an earlier start, before modules are loaded."""

import json
import os
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import anyio
import anyio.to_thread
import pytest

from textrawl import Settings, __version__, create_server, read_settings
from textrawl.environment import read_sources
from textrawl.resident.client import choose_address
from textrawl.server import early_lists
from textrawl.server.description import ServerDescription
from textrawl.server.early_lists import METHODS, SHAPING, EarlyLists, find_lists
from textrawl.server.early_reader import (
    CAPABILITIES,
    HANDSHAKE_VERSIONS,
    MODERN_VERSIONS,
    VERSION,
    EarlyReader,
    Greeter,
)
from textrawl.server.server import MemoryServer
from textrawl.server.stdio_session import ask_for_lists, serve_stdio

pytestmark = pytest.mark.anyio

OFFERS: list[dict[str, Any]] = [
    {}, {"toolsets": ["all"]}, {"toolsets": ["graph"], "read_only": True, "resources": False},
    {"toolsets": ["identity"], "structured_content": "off"},
]  # fmt: skip


def write(identity: int | str, method: str, params: object = None) -> bytes:
    members = {} if params is None else {"params": params}
    return json.dumps({"jsonrpc": "2.0", "id": identity, "method": method, **members}).encode()


def ask_everything(era: str) -> list[bytes]:
    """The lines of a client of this version."""
    if era in MODERN_VERSIONS:
        params: Any = {"_meta": {VERSION: era, CAPABILITIES: {}, "progressToken": 7}}
        return [write(f"\u00e4{method}", method, params) for method in METHODS]
    hello = {
        "protocolVersion": era, "capabilities": {}, "clientInfo": {"name": "c", "version": "1"},
    }  # fmt: skip
    initialized = b'{"jsonrpc":"2.0","method":"notifications/initialized"}'
    return [
        write(0, "initialize", hello),
        initialized,
        *(write(number, method) for number, method in enumerate(METHODS, 1)),
    ]


async def converse(
    server: MemoryServer,
    lines: list[bytes],
    expected: int,
    lists: EarlyLists | None = None,
    greeter: Greeter | None = None,
) -> list[bytes]:
    """The first lines that a real server writes to a client over pipes."""
    questions, ask = os.pipe()
    hear, answers = os.pipe()
    early_reader = EarlyReader(questions, answers)
    early_reader.greeter = greeter
    early_reader.start()
    heard = list[bytes]()

    def talk() -> None:
        os.write(ask, b"\n".join(lines) + b"\n")
        with os.fdopen(hear, "rb") as output:
            heard.extend(output.readline().rstrip(b"\n") for _ in range(expected))
        os.close(ask)

    async with anyio.create_task_group() as group:
        group.start_soon(serve_stdio, server, early_reader, lists)
        with anyio.fail_after(30):
            await anyio.to_thread.run_sync(talk, abandon_on_cancel=True)
    early_reader.output.close()
    os.close(questions)
    os.close(answers)
    return heard


def open_lists(folder: Path, key: bytes = b"key") -> EarlyLists:
    return EarlyLists(folder / "resident" / "some.lists", key)


async def test_the_file_holds_what_the_server_answers_to_the_byte(
    settings: Callable[..., Settings], tmp_path: Path
) -> None:
    for number, offer in enumerate(OFFERS):
        server = create_server(settings(**offer))
        lists = open_lists(tmp_path, str(number).encode())
        async with server.open():
            lists.write(await ask_for_lists(server))
            for era in (*HANDSHAKE_VERSIONS, *MODERN_VERSIONS):
                lines = ask_everything(era)
                expected = len([line for line in lines if b'"id"' in line])
                real = sorted(await converse(server, lines, expected))
                kept = open_lists(tmp_path, str(number).encode()).answers
                greeter = Greeter(__version__, server._description, kept)  # pyright: ignore[reportPrivateUsage]
                early = [greeting.answer for line in lines if (greeting := greeter.greet(line))]

                early, wanted = (
                    [one for one in answers if b'"error"' not in one and b'"id":0,' not in one]
                    for answers in (early, real)
                )
                assert sorted(early) == wanted, (offer, era)
                assert len(wanted) >= (1 if offer.get("resources") is False else 3)


def test_no_other_setting_shapes_a_list(tmp_path: Path) -> None:
    def describe(**changes: Any) -> object:
        server = create_server(read_settings(data_dir=tmp_path, toolsets=["all"], **changes))
        tools = anyio.run(server.list_tools)
        prompts = anyio.run(server.list_prompts)
        return tools, prompts, anyio.run(server.list_resource_templates)

    others: dict[str, object] = {}
    for name, field in Settings.model_fields.items():
        if field.annotation is bool:
            others[name] = not field.default
        elif get_origin(field.annotation) is Literal:
            others[name] = next(one for one in get_args(field.annotation) if one != field.default)
    changed = {name: other for name, other in others.items() if name not in SHAPING}
    assert len(changed) > 8
    assert {*others} - {*changed} >= {*SHAPING} - {"toolsets"}
    assert describe(**changed) == describe()


def test_the_file_is_another_one_for_other_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    def find() -> str:
        sources = read_sources()
        address = choose_address(sources)
        lists = find_lists(address.folder, address.key, sources)
        return str(lists._path)  # pyright: ignore[reportPrivateUsage]

    usual = find()
    monkeypatch.setenv("LOG_LEVEL", "ERROR")
    monkeypatch.setenv("RATE_LIMIT", "7")
    assert find() == usual
    seen = {usual}
    for name in (*SHAPING, "data_dir", "database_url"):
        monkeypatch.setenv(f"TEXTRAWL_{name.upper()}", "x")
        seen.add(find())
    packages = early_lists._list_packages()  # pyright: ignore[reportPrivateUsage]
    for name in ("mcp", "pydantic", "pydantic_core", "mcp_types"):
        assert f"{name}-{version(name)}.dist-info" in packages
    code = [*early_lists._list_code()]  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setattr(early_lists, "_list_code", lambda: [(n, t + 1, s) for n, t, s in code])
    seen.add(find())

    assert len(seen) == len(SHAPING) + 4
    assert len([name for name, _, _ in code if name.endswith((".py", ".txt"))]) > 300


def test_a_damaged_or_foreign_file_is_ignored_and_replaced(tmp_path: Path) -> None:
    answers = {"tools/list": {"2025-11-25": b"{}", "2025-06-18": b"{}"}, "prompts/list": {}}
    open_lists(tmp_path).write(answers)
    [file] = (tmp_path / "resident").iterdir()
    good = file.read_bytes()
    assert file.stat().st_mode & 0o777 == 0o600
    assert open_lists(tmp_path).answers == answers
    assert not open_lists(tmp_path, b"another").answers

    def link() -> None:
        (tmp_path / "other").write_bytes(good)
        (tmp_path / "other").chmod(0o600)
        file.unlink()
        file.symlink_to(tmp_path / "other")

    spoilings: list[Callable[[], object]] = [
        lambda: file.write_bytes(good[:-1]), lambda: file.write_bytes(b""),
        lambda: file.write_bytes(good.replace(b"{}", b"[]")), lambda: file.chmod(0o640),
        lambda: file.parent.chmod(0o755), link, file.unlink,
        lambda: (file.unlink(), os.mkfifo(file, 0o600)),
    ]  # fmt: skip
    for spoil in spoilings:
        spoil()
        spoiled = open_lists(tmp_path)
        assert not spoiled.answers
        file.parent.chmod(0o700)
        spoiled.write(answers)
        assert open_lists(tmp_path).answers == answers
        assert [one.name for one in file.parent.iterdir()] == [file.name]


def test_the_files_that_were_not_used_for_longest_are_deleted(tmp_path: Path) -> None:
    for number in range(20):
        path = tmp_path / "resident" / f"{number}.lists"
        EarlyLists(path, b"").write({"tools/list": {}})
        os.utime(path, (number, number))
        assert EarlyLists(tmp_path / "resident" / "0.lists", b"").answers

    left = {path.stem for path in (tmp_path / "resident").iterdir()}
    assert left == {"0", *map(str, range(5, 20))}


async def test_a_client_learns_that_the_list_it_got_early_was_old(
    settings: Callable[..., Settings], tmp_path: Path
) -> None:
    server = create_server(settings())
    lists = open_lists(tmp_path)
    lists.write({"resources/list": {"2025-11-25": b'{"resources":[]}'}})
    greeter = Greeter(__version__, ServerDescription(), lists.answers)
    lines = [line for line in ask_everything("2025-11-25") if b"l" in line]
    for line in lines:
        greeter.greet(line)
    assert [*greeter.listed] == ["resources/list"]
    lines[0] = write("hello", "initialize", json.loads(lines[0])["params"])
    async with server.open():
        heard = await converse(server, lines, 6, lists, greeter)

    notes = [message for line in heard if "id" not in (message := json.loads(line))]
    assert notes == [{"jsonrpc": "2.0", "method": "notifications/resources/list_changed"}]
    assert len(open_lists(tmp_path).answers["resources/list"]) == 5


def test_a_list_is_answered_from_the_file_only_if_it_is_plain_and_the_version_known() -> None:
    answers = {"tools/list": {"2025-11-25": b"{}", "2026-07-28": b"{}"}}
    modern: dict[str, Any] = {"_meta": {VERSION: "2026-07-28", CAPABILITIES: {}}}
    programs: dict[str, Any] = {"textrawl/program": {}}
    metas: list[Any] = [programs, {"progressToken": True}, [], None]
    others = [{"cursor": "x"}, *({"_meta": meta} for meta in metas)]
    [hello, *_] = ask_everything("2025-11-25")

    def greet(greeter: Greeter, params: object = None, method: str = "tools/list") -> bool:
        return greeter.greet(write(1, method, params)) is not None

    def build() -> Greeter:
        return Greeter("1", ServerDescription(), answers)

    assert not greet(build())
    assert greet(build(), modern)
    assert not greet(build(), {"_meta": modern["_meta"] | programs})
    assert not greet(build(), {"_meta": modern["_meta"] | {VERSION: "2025-11-25"}})
    old = build()
    assert old.greet(hello)
    assert greet(old)
    assert not greet(old, {"name": "query_memory"}, "tools/call")
    assert greet(old, {"_meta": {"progressToken": "a"}})
    assert not any(greet(old, params) for params in (*others, modern))
    assert not greet(old, method="prompts/list")
    old.end_lists()
    assert not greet(old)
    fallen_back = build()
    assert greet(fallen_back, modern)
    assert fallen_back.greet(hello)
