"""Greetings, which a pipe answers without a host, are answered as the host would."""

import json
from collections.abc import Callable
from typing import Any

import anyio
import pytest
from mcp.shared.message import SessionMessage
from mcp.types import jsonrpc_message_adapter
from mcp.types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS

from textrawl import Settings, create_server
from textrawl.host.conversation import HANDSHAKE_VERSIONS, MODERN_VERSIONS, Conversation
from textrawl.host.description_file import LISTS, read_packaged
from textrawl.server.server import MemoryServer
from textrawl.server.sessions import describe

pytestmark = pytest.mark.anyio

Message = dict[str, Any]

ENVELOPE = "io.modelcontextprotocol/"
CLIENT: Message = {
    "name": "client", "version": "1", "title": "Client", "description": "one",
    "websiteUrl": "https://example.com",
    "icons": [{"src": "https://example.com/i.png", "mimeType": "image/png", "sizes": ["48x48"]}],
}  # fmt: skip
CAPABILITIES: Message = {
    "elicitation": {"form": {"applyDefaults": True}, "url": {}},
    "experimental": {"this": {"that": [1]}},
    "roots": {"listChanged": True},
    "sampling": {"context": {}, "tools": {}},
    "unknown": 1,
}
OFFERS: list[dict[str, Any]] = [
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
    }
    params = {"_meta": meta}
    request: Message = {"jsonrpc": "2.0", "id": 0, "method": "server/discover", "params": params}
    return request | members


def greet(talk: Conversation, message: Message) -> Message | None:
    answer = talk.greet(json.dumps(message).encode())
    return None if answer is None else json.loads(answer)


async def ask_host(server: MemoryServer, message: Message) -> Message:
    """What a host answers to the first message of a session."""
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


async def test_a_greeting_is_what_the_host_would_say_or_left_to_it(
    settings: Callable[..., Settings],
) -> None:
    known = (*HANDSHAKE_VERSIONS, *MODERN_VERSIONS, "1999", "")
    unknown = (*MODERN_VERSIONS, "2025-11-25", "2999-01-01", "", 7)
    for offer in OFFERS:
        server = create_server(settings(**offer))
        meta: Message = discover()["params"]["_meta"]
        without = {name: value for name, value in meta.items() if "Capabilities" not in name}
        messages = [
            *(initialize(version) for version in known),
            initialize(id="text"), initialize(7), initialize(params={}), initialize(params=[]),
            *(discover(version) for version in unknown),
            discover(params={}), discover(params=None), discover(params={"_meta": {}}),
            discover(params={"_meta": without}), discover(id=""),
            *(discover(method=method) for method in LISTS),
            {"jsonrpc": "2.0", "id": "p", "method": "ping"},
        ]  # fmt: skip
        greeted = 0

        async with server.open():
            described = await describe(server)
            for message in messages:
                answer = greet(Conversation(described), message)
                if answer is not None:
                    greeted += 1
                    assert answer == await ask_host(server, message), message

        assert greeted >= 11


@pytest.mark.parametrize("line", [
    b"{", b"[]", b"7", b'{"jsonrpc":"1.0","id":1,"method":"ping"}',
    b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', b'{"jsonrpc":"2.0","id":true,"method":"ping"}',
    b'{"jsonrpc":"2.0","id":1,"method":"ping","more":1}',
    b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":[]}',
    b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":NaN}}',
    rb'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"\ud83d"}}',
    b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"\xff"}}',
    b'{"jsonrpc":"2.0","id":1,"method":"ping","params":' + b"[" * 3000 + b"]" * 3000 + b"}",
])  # fmt: skip
def test_a_line_that_may_be_broken_is_left_to_those_who_find_out(line: bytes) -> None:
    assert Conversation(read_packaged()).greet(line) is None


def test_a_list_is_answered_only_if_it_is_plain_and_its_version_known() -> None:
    described = {"tools/list": {"2025-11-25": b"{}", "2026-07-28": b"{}"}}
    described["initialize"] = {"2025-11-25": b'{"protocolVersion":"2025-11-25"}'}
    modern: Message = discover()["params"]
    programs: Message = {"textrawl/program": {}}

    def is_greeted(talk: Conversation, params: object = None, method: str = "tools/list") -> bool:
        members: Message = {} if params is None else {"params": params}
        return greet(talk, {"jsonrpc": "2.0", "id": 1, "method": method, **members}) is not None

    assert not is_greeted(Conversation(described))
    assert is_greeted(Conversation(described), modern)
    assert not is_greeted(Conversation(described), {"_meta": modern["_meta"] | programs})
    legacy = Conversation(described)
    assert greet(legacy, initialize())
    assert greet(legacy, initialize()) is None
    assert is_greeted(legacy)
    assert is_greeted(legacy, {"_meta": {"progressToken": "a"}})
    others: list[Message] = [
        {"cursor": "x"}, {"_meta": programs}, {"_meta": {"progressToken": True}}, {"_meta": []},
    ]  # fmt: skip
    for params in others:
        assert not is_greeted(legacy, params)
    assert not is_greeted(legacy, {"name": "query_memory"}, "tools/call")
    assert not is_greeted(legacy, method="prompts/list")
