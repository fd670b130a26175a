"""Greetings, which are answered without the SDK, are answered as the SDK would."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import anyio
import pytest
from mcp.shared.message import SessionMessage
from mcp.types import jsonrpc_message_adapter
from mcp.types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS

from tests.support.folders import write_env
from textrawl import Settings, __version__, create_server, read_settings
from textrawl.cli.stdio import guess_description
from textrawl.environment import find_user_file, read_sources
from textrawl.server.description import ServerDescription, describe_server
from textrawl.server.early_reader import HANDSHAKE_VERSIONS, MODERN_VERSIONS, Greeter
from textrawl.server.server import MemoryServer
from textrawl.tools.catalogue import choose_names

pytestmark = pytest.mark.anyio

Message = dict[str, Any]

ENVELOPE = "io.modelcontextprotocol/"
CLIENT: Message = {
    "name": "client", "version": "1", "title": "Client", "description": "one",
    "websiteUrl": "https://example.com",
    "icons": [{"src": "https://example.com/i.png", "mimeType": "image/png", "sizes": ["48x48"],
               "theme": None}],
}  # fmt: skip
CAPABILITIES: Message = {
    "elicitation": {"form": {"applyDefaults": True}, "url": {}},
    "experimental": {"this": {"that": [1]}},
    "extensions": {"com.example/one": {}},
    "roots": {"listChanged": True},
    "sampling": {"context": {}, "tools": {}},
    "tasks": {"list": {}, "cancel": {}, "requests": {"elicitation": {"create": {}}}},
    "unknown": 1,
}
OFFERS = [
    {}, {"toolsets": ["graph"]}, {"toolsets": ["all"]}, {"read_only": True},
    {"enable_memory": False}, {"structured_content": "off"}, {"resources": False},
    {"toolsets": ["graph", "identity"]}, {"toolsets": ["mind"]},
]  # fmt: skip


def initialize(version: object = "2025-11-25", **members: Any) -> Message:
    params: Message = {
        "protocolVersion": version,
        "capabilities": CAPABILITIES,
        "clientInfo": CLIENT,
    }
    return {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params} | members


def discover(version: object = "2026-07-28", **members: Any) -> Message:
    meta: Message = {
        f"{ENVELOPE}protocolVersion": version,
        f"{ENVELOPE}clientCapabilities": CAPABILITIES,
        f"{ENVELOPE}clientInfo": CLIENT,
        f"{ENVELOPE}logLevel": None,
        "example.com/own": {"a": 1},
    }
    params = {"_meta": meta}
    request: Message = {"jsonrpc": "2.0", "id": 0, "method": "server/discover", "params": params}
    return request | members


def build_greeter(settings: Settings) -> Greeter:
    return Greeter(__version__, describe(settings))


def describe(settings: Settings) -> ServerDescription:
    offered = choose_names(settings.toolsets)
    return describe_server(offered, enabled=settings.enable_memory, resources=settings.resources)


def greet(greeter: Greeter, message: Message) -> Message | None:
    greeting = greeter.greet(json.dumps(message).encode())
    return json.loads(greeting.answer) if greeting else None


async def ask_sdk(server: MemoryServer, message: Message) -> Message:
    """What the SDK answers to the first message of a connection."""
    low = server._lowlevel_server  # pyright: ignore[reportPrivateUsage]
    ask, questions = anyio.create_memory_object_stream[SessionMessage | Exception](1)
    answers, hear = anyio.create_memory_object_stream[SessionMessage](1)
    question = jsonrpc_message_adapter.validate_python(message)
    async with ask, hear, anyio.create_task_group() as group:
        group.start_soon(low.run, questions, answers, low.create_initialization_options())
        await ask.send(SessionMessage(question))
        answer = await hear.receive()
        group.cancel_scope.cancel()
        return answer.message.model_dump(by_alias=True, mode="json", exclude_unset=True)
    raise AssertionError


def test_the_versions_are_those_of_the_sdk() -> None:
    assert tuple(HANDSHAKE_PROTOCOL_VERSIONS) == HANDSHAKE_VERSIONS
    assert tuple(MODERN_PROTOCOL_VERSIONS) == MODERN_VERSIONS


async def test_a_greeting_is_what_the_sdk_would_say(settings: Callable[..., Settings]) -> None:
    known = (*HANDSHAKE_VERSIONS, *MODERN_VERSIONS, "1999", "")
    unknown = (*MODERN_VERSIONS, "2025-11-25", "2999-01-01", "", 7)
    for offer in OFFERS:
        chosen = settings(**offer)
        server = create_server(chosen)
        meta: Message = discover()["params"]["_meta"]
        without = {name: value for name, value in meta.items() if "Capabilities" not in name}
        messages = [
            *(initialize(version) for version in known),
            initialize(id="text"),
            *(discover(version) for version in unknown),
            discover(params={}), discover(params=None), discover(params={"_meta": {}}),
            discover(params={"_meta": without}), discover(id=""),
        ]  # fmt: skip

        async with server.open():
            for message in messages:
                assert greet(build_greeter(chosen), message) == await ask_sdk(server, message), (
                    message
                )


CHANGES: list[object] = [None, 1, 1.5, True, "x", [], {}, ["x"], {"x": 1}, {"x": {"y": None}}]


def change(value: object) -> Iterator[Any]:
    """`value` with one of its members, at any depth, changed or left out."""
    yield from CHANGES
    if isinstance(value, dict):
        members = cast("Message", value)
        yield from (members | {"progressToken": token} for token in (None, 1, "a", 1.5))
        for name, member in members.items():
            yield {other: members[other] for other in members if other != name}
            yield from (members | {name: other} for other in change(member))
    if isinstance(value, list):
        items = cast("list[object]", value)
        yield from ([other] for item in items for other in change(item))


@pytest.mark.parametrize("message", [initialize(), discover()], ids=["initialize", "discover"])
async def test_what_is_not_plain_is_left_to_the_sdk(tmp_path: Path, message: Message) -> None:
    """It may refuse it: no client is greeted, and refused afterwards."""
    chosen = read_settings(enable_memory=False, data_dir=tmp_path)
    server = create_server(chosen)
    greeted = 0

    for params in change(message["params"]):
        changed = message | {"params": params}
        answer = greet(build_greeter(chosen), changed)
        if answer is not None:
            greeted += 1
            assert answer == await ask_sdk(server, changed), params

    assert greeted > 50


@pytest.mark.parametrize("line", [
    b"{", b"[]", b"7", b'{"jsonrpc":"1.0","id":1,"method":"server/discover"}',
    b'{"jsonrpc":"2.0","id":1.5,"method":"server/discover"}',
    b'{"jsonrpc":"2.0","id":1,"method":"server/discover","params":[]}',
    b'{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"a":NaN}}',
    b'{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"a":1e999}}',
    rb'{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"a":"\ud83d"}}',
    b'{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"a":"\xff"}}',
    b'{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"a":'
    + b"[" * 300 + b"]" * 300 + b"}}",
])  # fmt: skip
def test_a_line_that_may_be_broken_is_left_to_those_who_find_out(line: bytes) -> None:
    assert Greeter("1", ServerDescription()).greet(line) is None


def test_nothing_is_a_greeting_after_the_first_other_request() -> None:
    greeter = Greeter("1", ServerDescription())
    notification = b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":0}}'

    assert greet(greeter, discover()) is not None
    assert greeter.greet(notification) is None
    assert greet(greeter, discover()) is not None
    assert greet(greeter, {"jsonrpc": "2.0", "id": 5, "method": "tools/list"}) is None
    assert greet(greeter, initialize()) is None
    assert greet(greeter, discover()) is None


def test_the_sdk_learns_of_a_handshake_under_an_id_that_no_client_has() -> None:
    greeter = Greeter("1", ServerDescription())
    greeting = greeter.greet(json.dumps(initialize()).encode())
    assert greeting is not None
    assert greeting.passed is not None
    passed = json.loads(greeting.passed)

    assert passed == initialize() | {"id": passed["id"]}
    assert not greeter.hides(1)
    assert greeter.hides(passed["id"])
    assert not greeter.hides(passed["id"])


ENVIRONMENTS: list[dict[str, str]] = [
    {}, {"TOOLSETS": "graph"}, {"toolsets": "memory"}, {"TOOLSETS": "graph, memory"},
    {"TOOLSETS": "all"}, {"TOOLSETS": ""}, {"ENABLE_MEMORY": "OFF"}, {"ENABLE_MEMORY": "1"},
    {"ENABLE_MEMORY": "false", "TOOLSETS": "graph"}, {"RESOURCES": "off"},
    {"TEXTRAWL_TOOLSETS": "graph"},
    {"TEXTRAWL_TOOLSETS": "graph", "TOOLSETS": "memory"}, {"textrawl_enable_memory": "no"},
    {"TEXTRAWL_TOOLSETS": "", "TOOLSETS": "graph"}, {"TOOLSETS": "memory", "Toolsets": "graph"},
]  # fmt: skip


@pytest.mark.parametrize("environment", ENVIRONMENTS, ids=str)
def test_what_is_known_before_the_settings_are_read_is_what_they_say(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str]
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    # Neither is ours: bare names of a folder, and a setting that no greeting needs.
    write_env("TOOLSETS=graph\nTEXTRAWL_LOG_LEVEL=ERROR\n")

    settings = read_settings()

    assert guess_description(read_sources()) == describe(settings)


@pytest.mark.parametrize("file", ["textrawl_toolsets=graph", "export TEXTRAWL_ENABLE_MEMORY=off"])
def test_what_a_file_says_is_known_before_the_settings_are_read(file: str) -> None:
    write_env(file, trusted=True)

    assert guess_description(read_sources()) == describe(read_settings())
    default = describe_server(["memory"], enabled=True, resources=True)
    assert guess_description(read_sources()) != default


@pytest.mark.parametrize("environment", [
    {"TOOLSETS": "memory,"}, {"TOOLSETS": "poetry"}, {"ENABLE_MEMORY": "n"}, {"RESOURCES": "t"},
])  # fmt: skip
def test_what_takes_a_rule_of_the_settings_is_left_to_them(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str]
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)

    assert guess_description(read_sources()) is None


@pytest.mark.parametrize("variable", ["XDG_CONFIG_HOME", "HOME"])
def test_a_file_of_the_users_own_counts_before_the_settings_are_read(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, variable: str
) -> None:
    monkeypatch.delenv("XDG_CONFIG_HOME")
    monkeypatch.setenv(variable, str(tmp_path))
    find_user_file().parent.mkdir(parents=True)
    find_user_file().write_text("toolsets=graph", encoding="utf-8")

    assert tmp_path in find_user_file().parents
    assert read_settings().toolsets == ["graph"]
    assert guess_description(read_sources()) == describe(read_settings())
