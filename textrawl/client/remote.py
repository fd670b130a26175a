"""The memory of a server over HTTP, through the client of the MCP SDK.

Each call is a session of its own on shared connections. A session that ends with an error would
cancel the task that opened it, so no session is kept. A call still costs one request: the protocol
2026-07-28 has no handshake after the first call, which asks the server for its versions.
"""

import json
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, cast

import httpx2
from mcp import Client as McpClient
from mcp import MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp.types import (
    CallToolRequest,
    CallToolRequestParams,
    CallToolResult,
    DiscoverResult,
    Implementation,
    RequestParamsMeta,
    TextContent,
)

from textrawl import __version__, errors
from textrawl.client.answers import ToolAnswer
from textrawl.errors import ServerUnreachable, TextrawlError
from textrawl.values.word_lists import PROGRAM
from textrawl.wire.program import Program


def _list_errors(kind: type[TextrawlError]) -> Iterator[type[TextrawlError]]:
    for one in kind.__subclasses__():
        yield one
        yield from _list_errors(one)


# Two errors have the same title: "Not allowed". A caller meets the first of them.
_BY_TITLE = {
    kind.title: kind for kind in reversed([*_list_errors(TextrawlError)]) if "title" in vars(kind)
}


def read_refusal(members: Mapping[str, Any]) -> TextrawlError:
    """Return the error that structured content describes."""
    error = _build(members["error"], members["fix"])
    if isinstance(error, errors.ScopeMissing):
        error.scope = members.get("scope", "")
    return error


def read_known(text: str) -> TextrawlError | None:
    """Return the error of sentences that begin with the title of an error, or else None."""
    title, fix = _split(text)
    return _build(title, fix) if title in _BY_TITLE else None


def read_status(status: int, description: str) -> TextrawlError:
    """Return the error for a response with an HTTP status from 400."""
    if status == 401:  # noqa: PLR2004 - a number of HTTP
        return errors.NotAuthenticated()
    if status == 429:  # noqa: PLR2004 - as before
        return errors.ServerBusy(description)
    if status == 503 and description:  # noqa: PLR2004 - as before
        return _build(*_split(description, ": "))
    return errors.ServerUnreachable(description or f"The server answered with status {status}")


def _split(text: str, mark: str = ". ") -> tuple[str, str]:
    """Return the title and the fix of sentences. A known title can contain a full stop."""
    known = [title for title in _BY_TITLE if text.startswith(title + mark)]
    title = max(known, key=len) if known else text.partition(mark)[0]
    return title, text[len(title) + len(mark) :].removesuffix(".")


def _build(title: str, fix: str) -> TextrawlError:
    """Return the error with this title. A title that no class has is that of an argument."""
    kind = _BY_TITLE.get(title, errors.ArgumentInvalid)
    error = kind.__new__(kind)  # some classes have other parameters than the base class
    TextrawlError.__init__(error, fix, title=title)
    return error


_ME = Implementation(name="textrawl-python", version=__version__)
_FIRST_ERROR = 400  # the first HTTP status of an error


@asynccontextmanager
async def open_remote(url: str, token: str | None, timeout: float) -> AsyncGenerator["RemoteTools"]:
    """Yield the tools of the server at `url`. The first call connects to it."""
    headers = {"authorization": f"Bearer {token}"} if token else {}
    async with httpx2.AsyncClient(
        headers=headers, timeout=timeout, event_hooks={"response": [_check_status]}
    ) as http:
        yield RemoteTools(url, http)


async def _check_status(response: httpx2.Response) -> None:
    """Raise the error of a refused request, which the SDK would replace by a general message."""
    if response.status_code < _FIRST_ERROR:
        return
    members = _read_members(await response.aread())
    if "jsonrpc" not in members:
        raise read_status(response.status_code, str(members.get("error_description", "")))


def _read_members(body: bytes) -> Mapping[str, Any]:
    try:
        members = json.loads(body)
    except ValueError:
        return {}
    return cast("Mapping[str, Any]", members) if isinstance(members, dict) else {}


class RemoteTools:
    """The tools of a server. Every call raises the errors of its tool, and ServerUnreachable."""

    def __init__(self, url: str, http: httpx2.AsyncClient) -> None:
        self._url = url
        self._http = http
        self._mode = "auto"
        self._discovered: DiscoverResult | None = None

    async def call(self, name: str, arguments: Mapping[str, Any], program: Program) -> ToolAnswer:
        """Return the answer of a tool, or of the prompt `digest`. Raises TextrawlError."""
        meta = cast("RequestParamsMeta", program.write_meta())
        async with self._open_session() as client:
            if name == "digest":
                given = {key: str(value) for key, value in arguments.items()}
                prompt = await client.get_prompt(name, given, meta=meta)
                return _read_answer([message.content for message in prompt.messages], prompt.meta)
            # The method call_tool of the session would list all tools first, to check the result.
            params = CallToolRequestParams(name=name, arguments=dict(arguments), _meta=meta)
            request = CallToolRequest(params=params)
            result = await client.session.send_request(request, CallToolResult)
        if result.structured_content is None:
            raise _misread(_read_text(result.content))
        if result.is_error:
            raise read_refusal(result.structured_content)
        return _read_answer(result.content, result.meta, result.structured_content)

    @asynccontextmanager
    async def _open_session(self) -> AsyncGenerator[McpClient]:
        """Yield a session for one request. Raises TextrawlError, also for a lost connection."""
        transport = streamable_http_client(self._url, http_client=self._http)
        try:
            async with McpClient(
                transport, mode=self._mode, prior_discover=self._discovered, client_info=_ME
            ) as client:
                if client.session.discover_result is not None:
                    self._mode = client.protocol_version
                    self._discovered = client.session.discover_result
                yield client
        except MCPError as error:
            raise _explain(error) from error
        except httpx2.TransportError as error:
            raise _name_fault(error) from error
        except BaseExceptionGroup as group:
            cause = _find_cause(group)
            if isinstance(cause, httpx2.TransportError):
                raise _name_fault(cause) from cause
            if isinstance(cause, MCPError):
                raise _explain(cause) from cause
            if isinstance(cause, TextrawlError):
                raise cause from None
            raise


def _read_text(blocks: Sequence[object]) -> str:
    return "".join(block.text for block in blocks if isinstance(block, TextContent))


def _read_answer(
    blocks: Sequence[object], meta: Mapping[str, Any] | None, content: Any = None
) -> ToolAnswer:
    """Return the answer. Raises ServerUnreachable if no textrawl of this version made it."""
    details = (meta or {}).get(PROGRAM, {})
    content = details.get("content") if content is None else content
    if content is None:
        raise _misread(_read_text(blocks))
    return ToolAnswer(_read_text(blocks), content, details.get("ids", ()), details.get("tokens", 0))


def _misread(text: str) -> ServerUnreachable:
    return ServerUnreachable(
        f"The server may be another version of textrawl. Its answer begins: {text[:60]!r}",
        title="Answer not understood",
    )


def _find_cause(error: BaseException) -> BaseException:
    """Return the first error inside nested groups. The other errors are its consequences."""
    nested: tuple[BaseException, ...] = getattr(error, "exceptions", ())
    return _find_cause(nested[0]) if nested else error


def _name_fault(error: httpx2.TransportError) -> ServerUnreachable:
    return ServerUnreachable(f"{type(error).__name__}: {error}; check the address, and retry")


def _explain(error: MCPError) -> TextrawlError:
    """Return the error for a JSON-RPC error. The SDK makes some of them for a broken answer."""
    data: Any = error.error.data
    if isinstance(data, dict) and "fix" in data:
        return read_refusal(cast("Mapping[str, Any]", data))
    if known := read_known(error.message):
        return known
    return ServerUnreachable(
        f"{error.message}: check that the address is the address of a textrawl server"
    )
