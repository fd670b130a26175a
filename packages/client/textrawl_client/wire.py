"""Calls and answers as JSON-RPC: the messages of MCP 2026-07-28, which needs no handshake.

Each call is one message. Its `_meta` says that a program asks, so the server adds structured
content, and does not count it toward a budget of tokens.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from http import HTTPStatus
from typing import Any, NamedTuple, cast
from urllib.parse import quote, unquote, urlsplit
from uuid import uuid4

from pydantic import TypeAdapter, ValidationError

from textrawl_client import __version__, errors
from textrawl_client.errors import ArgumentInvalid, ServerUnreachable, TextrawlError

Members = Mapping[str, Any]

PROGRAM = "textrawl/program"
"""The key in `_meta` of the requests of programs, and of the answers to them."""

_PROTOCOL = "2026-07-28"
_MCP = "io.modelcontextprotocol/"
TOOL, PROMPT = "tools/call", "prompts/get"
_PARSER = TypeAdapter[Any](Any)
_LEVELS = 190  # of lists and objects, which every parser of a server reads


class Call(NamedTuple):
    """A call of a tool, of the prompt `digest`, or of an operation of textrawl's commands.

    `method` is the method of JSON-RPC. An operation is a method itself and has no `name`. `space`
    is the only space that the call can reach. A call that `reads` can be repeated.
    """

    method: str
    name: str
    arguments: dict[str, Any]
    space: str | None = None
    reads: bool = False
    wishes: Members | None = None
    """More of the program's wishes, with the keys of `textrawl.wire.program.Program`."""

    def write(self, program: Members) -> dict[str, Any]:
        """Return the message. `program` says who asks."""
        message: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": self.method}
        if self.method not in (TOOL, PROMPT):
            return {**message, "params": self.arguments}
        meta: dict[str, Any] = {
            f"{_MCP}protocolVersion": _PROTOCOL,
            f"{_MCP}clientCapabilities": {},
            PROGRAM: {**program, **(self.wishes or {})},
        }
        if client := program.get("client"):
            meta[f"{_MCP}clientInfo"] = {"name": client, "version": __version__}
        given = self.arguments
        if self.method == PROMPT:
            given = {name: str(value) for name, value in given.items()}
        params = {"name": self.name, "arguments": given, "_meta": meta}
        return {**message, "params": params}

    def write_headers(self) -> dict[str, str]:
        """Return the headers of a request over HTTP."""
        own = {
            "content-type": "application/json",
            "accept": "application/json, text/event-stream",
            "x-request-id": uuid4().hex,  # a repeated call with the same id writes nothing
        }
        if self.method not in (TOOL, PROMPT):
            return own
        mcp = {"mcp-protocol-version": _PROTOCOL, "mcp-method": self.method, "mcp-name": self.name}
        return {**own, **mcp}


def build_call(
    name: str, arguments: Members, space: str | None = None, *, reads: bool = False
) -> Call:
    """Return the call of a tool, or of the digest, which is a prompt."""
    return Call(PROMPT if name == "digest" else TOOL, name, dict(arguments), space, reads)


def keep(given: Members) -> dict[str, Any]:
    """Return the arguments without those that are None, but with the `value` of an item."""
    return {name: value for name, value in given.items() if value is not None or name == "value"}


class Answer(NamedTuple):
    """The answer to a call: its structured content, and the lines that a model would read.

    `ids` has the facts in the order of the lines, and `tokens` the cost of these.
    """

    content: Any
    text: str = ""
    ids: Sequence[str] = ()
    tokens: int = 0


def encode(message: Members) -> bytes:
    """Return a message as UTF-8. Raises ArgumentInvalid for values that no server can read."""
    try:
        text = json.dumps(message, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        line = text.encode()
        if line.count(b"[") + line.count(b"{") > _LEVELS:
            _PARSER.validate_json(line)  # servers use this parser, which has a limit of depth
    except (RecursionError, ValidationError):
        raise ArgumentInvalid(
            f"a value has at most {_LEVELS} levels of lists and objects: store a part as text",
            title="Value is nested too deeply",
        ) from None
    except (TypeError, ValueError) as error:
        raise ArgumentInvalid(f"{error}", title="Value is not JSON") from None
    return line


def write_moment(moment: "datetime | str | None") -> str | None:
    """Return a time as ISO 8601."""
    return moment.isoformat() if isinstance(moment, datetime) else moment


def read_response(status: int, body: str) -> Answer:
    """Return the answer in a response over HTTP, as JSON or as an event stream."""
    message = _read_message(body)
    if status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
        said: Members = message.get("error") or {}
        raise ArgumentInvalid(str(said.get("message", "send less")), title="Too long")
    if "jsonrpc" not in message:
        raise _read_status(status, message)
    return read_message(message)


def read_message(message: Members) -> Answer:
    """Return the answer. Raises the error that it describes, or ServerUnreachable."""
    if "error" in message:
        raise _read_failure(message["error"])
    result = message.get("result")
    if not isinstance(result, dict):
        return Answer(result)
    members = cast("Members", result)
    blocks = members.get("content", [one["content"] for one in members.get("messages", ())])
    if "_meta" not in members and "structuredContent" not in members:
        return Answer(members)
    text = "".join(one.get("text", "") for one in blocks)
    meta: Members = members.get("_meta") or {}
    details: Members = meta.get(PROGRAM, {})
    content = members.get("structuredContent", details.get("content"))
    if content is None:
        raise ServerUnreachable(
            f"The server may be another version of textrawl. Its answer begins: {text[:60]!r}",
            title="Answer not understood",
        )
    if members.get("isError"):
        raise _read_refusal(content)
    return Answer(content, text, details.get("ids", ()), details.get("tokens", 0))


def _read_message(body: str) -> Members:
    """Return the last message that answers a request, or no members."""
    lines = [line[5:] for line in body.splitlines() if line.startswith("data:")]
    for text in (body, *reversed(lines)):
        try:
            message = json.loads(text)
        except ValueError:
            continue
        if isinstance(message, dict) and ("method" not in message):
            return cast("Members", message)
    return {}


def _find_classes(kind: type[TextrawlError] = TextrawlError) -> Iterator[type[TextrawlError]]:
    yield kind
    for one in kind.__subclasses__():
        yield from _find_classes(one)


def _read_refusal(members: Members) -> TextrawlError:
    """Return the error of the first class that is known here."""
    classes = {kind.__name__: kind for kind in _find_classes()}
    kinds = [classes[name] for name in members.get("kinds", ()) if name in classes]
    kind = kinds[0] if kinds else TextrawlError
    error = kind.__new__(kind)  # some classes have other parameters than the base class
    fix = members.get("fix") or members.get("message")
    TextrawlError.__init__(error, fix, title=members.get("error") or "Not done")
    if isinstance(error, errors.ScopeMissing):
        error.scope = members.get("scope", "")
    return error


def _read_failure(failure: Members) -> TextrawlError:
    """Return the error of a message of JSON-RPC that failed."""
    data = failure.get("data")
    if isinstance(data, dict) and "fix" in data:
        return _read_refusal(cast("Members", data))
    advice = "check that the address is the address of a textrawl server of this version"
    return ServerUnreachable(f"{failure.get('message')}: {advice}")


def _read_status(status: int, message: Members) -> TextrawlError:
    """Return the error for a response without a message of JSON-RPC."""
    description = str(message.get("error_description", ""))
    title, _, fix = description.partition(": ")
    if status == HTTPStatus.UNAUTHORIZED:
        missing = message.get("error") == "unauthorized"
        needed = "The server needs an access token: give one, or set TEXTRAWL_ACCESS_TOKEN"
        return errors.NotAuthenticated(needed if missing else None)
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        return errors.ServerBusy(description)
    if status == HTTPStatus.SERVICE_UNAVAILABLE and fix:
        return errors.DatabaseUnavailable(fix, title=title)
    return ServerUnreachable(description or f"The server answered with status {status}")


_ENDPOINT = re.compile(r"(?P<before>.*)/mcp(?:/t/[^/]+)?(?:/(?P<space>[^/]+))?/*")


def write_address(url: str, space: str | None) -> str:
    """Return the address at which the server of `url` answers programs, in `space` or everywhere.

    An address that does not end with /mcp, or with /mcp/ and a space, stays as it is. Raises
    ArgumentInvalid if it is no address, or if `space` cannot be reached there.
    """
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ArgumentInvalid("url: write an address such as https://memory.example.com/mcp")
    found = _ENDPOINT.fullmatch(parts.path if parts.path.strip("/") else "/mcp")
    named = found and found["space"] and unquote(found["space"])
    if space is not None and (found is None or named not in (None, space)):
        raise ArgumentInvalid(f"url: end it with /mcp to reach the space {space}")
    if found is None:
        return url
    place = space or named
    path = f"{found['before']}/mcp/t/commands" + (f"/{quote(place, safe='')}" if place else "")
    return parts._replace(path=path, query="", fragment="").geturl()
