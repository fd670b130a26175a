"""The memory of a server over HTTP, through the client of the MCP SDK.

Each call is a session of its own on shared connections. A session that ends with an error would
cancel the task that opened it, so no session is kept. A call still costs one request: the protocol
2026-07-28 has no handshake after the first call, which asks the server for its versions.
"""

import json
import re
from collections.abc import AsyncGenerator, Iterator, Mapping
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
    TextContent,
)

from textrawl import __version__, errors
from textrawl.client.answers import (
    read_digest,
    read_facts,
    read_forgotten,
    read_related,
    read_remembered,
)
from textrawl.client.results import Digest, Facts, Forgotten, Related, Remembered
from textrawl.errors import NothingToDelete, ServerUnreachable, TextrawlError
from textrawl.memory.facts import Edge, Fact, Question

_SCOPE = re.compile(r"This needs the scope (\w+)")


def _list_errors(kind: type[TextrawlError]) -> Iterator[type[TextrawlError]]:
    for one in kind.__subclasses__():
        yield one
        yield from _list_errors(one)


# Two errors have the same title: "Not allowed". A caller meets the first of them.
_BY_TITLE = {
    kind.title: kind for kind in reversed([*_list_errors(TextrawlError)]) if "title" in vars(kind)
}
_BY_CODE = {
    kind.code: kind
    for kind in (errors.ConfirmationMissing, errors.DeletionDeclined, errors.NothingToDelete)
}


def read_refusal(text: str, content: Mapping[str, Any] | None = None) -> TextrawlError:
    """Return the error of a result with isError: structured content, JSON or sentences."""
    members = content if content is not None else _read_json(text)
    if members is None:
        return _build(*_split(text))
    if code := members.get("err"):
        kind = _BY_CODE[code]
        return _build(kind.title, kind.fix)
    return _build(members["error"], members["fix"])


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


def _read_json(text: str) -> Mapping[str, Any] | None:
    try:
        found = json.loads(text)
    except ValueError:
        return None
    return cast("Mapping[str, Any]", found) if isinstance(found, dict) else None


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
    if isinstance(error, errors.ScopeMissing):
        found = _SCOPE.match(fix)
        error.scope = found[1] if found else ""
    return error


_ME = Implementation(name="textrawl-python", version=__version__)
_FIRST_ERROR = 400  # the first HTTP status of an error
_CAMEL = {"as_of": "asOf", "since": "since", "until": "until"}

Answer = tuple[str, Mapping[str, Any] | None]
"""The text of a result, and its structured content or None."""


@asynccontextmanager
async def open_remote(
    url: str, token: str | None, timeout: float
) -> AsyncGenerator["RemoteMemory"]:
    """Yield the memory of the server at `url`. The first call connects to it."""
    headers = {"authorization": f"Bearer {token}"} if token else {}
    async with httpx2.AsyncClient(
        headers=headers, timeout=timeout, event_hooks={"response": [_check_status]}
    ) as http:
        yield RemoteMemory(url, http)


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


class RemoteMemory:
    """The memory of a server. Every method raises the errors of its tool, and ServerUnreachable."""

    def __init__(self, url: str, http: httpx2.AsyncClient) -> None:
        self._url = url
        self._http = http
        self._mode = "auto"
        self._discovered: DiscoverResult | None = None

    async def recall(self, question: Question, max_tokens: int | None) -> Facts:
        """Return facts, the best first."""
        answer = await self._call(
            "query_memory",
            mode="search",
            query=question.query,
            entityTypes=question.entity_types,
            minScore=question.least_score,
            limit=question.limit,
            maxTokens=max_tokens,
            includeIds=True,
            **{_CAMEL[name]: time for name, time in question.times.arguments().items()},
        )
        return read_facts(*answer)

    async def digest(self, project: str | None, max_tokens: int | None) -> Digest:
        """Return the facts that matter at the start of a conversation."""
        given = {"project": project, "maxTokens": max_tokens}
        arguments = {name: str(value) for name, value in given.items() if value}
        async with self._open_session() as client:
            result = await client.get_prompt("digest", arguments)
        contents = [message.content for message in result.messages]
        return read_digest("\n\n".join(c.text for c in contents if isinstance(c, TextContent)))

    async def remember(self, fact: Fact) -> Remembered:
        """Store a fact."""
        answer = await self._call(
            "remember_fact",
            entityName=fact.entity,
            entityType=fact.type,
            observation=fact.observation,
            source=fact.source,
            confidence=fact.confidence,
            validUntil=fact.valid_until,
            saidAt=fact.said_at,
            replaces=fact.replaces,
        )
        return read_remembered(*answer, fact)

    async def relate(self, edge: Edge, *, replaces: bool) -> Related:
        """Connect two entities."""
        return await self._relate(edge, replaces=replaces)

    async def end(self, edge: Edge) -> Related:
        """End a relation."""
        return await self._relate(edge, ended=True)

    async def _relate(self, edge: Edge, **options: bool) -> Related:
        answer = await self._call(
            "relate_entities",
            fromEntity=edge.from_entity,
            relation=edge.relation,
            toEntity=edge.to_entity,
            fromEntityType=edge.from_type,
            toEntityType=edge.to_type,
            **options,
        )
        return read_related(*answer, edge)

    async def forget(self, entity: str, fact: str | None, *, dry_run: bool) -> Forgotten:
        """Delete an entity or one fact of it."""
        confirmation = {"dryRun": True} if dry_run else {"confirm": True}
        try:
            answer = await self._call("forget_entity", entityName=entity, fact=fact, **confirmation)
        except NothingToDelete:
            raise NothingToDelete(entity) from None
        return read_forgotten(*answer)

    async def _call(self, tool: str, **arguments: Any) -> Answer:
        """Return the answer of a tool. Arguments that are None are left out."""
        given = {name: _plain(value) for name, value in arguments.items() if value is not None}
        # The method call_tool of the session would list all tools first, to check the result.
        request = CallToolRequest(params=CallToolRequestParams(name=tool, arguments=given))
        async with self._open_session() as client:
            result = await client.session.send_request(request, CallToolResult)
        text = "".join(block.text for block in result.content if isinstance(block, TextContent))
        if result.is_error:
            raise read_refusal(text, result.structured_content)
        return text, result.structured_content

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


def _plain(value: Any) -> Any:
    return value.isoformat() if hasattr(value, "isoformat") else value


def _find_cause(error: BaseException) -> BaseException:
    """Return the first error inside nested groups. The other errors are its consequences."""
    nested: tuple[BaseException, ...] = getattr(error, "exceptions", ())
    return _find_cause(nested[0]) if nested else error


def _name_fault(error: httpx2.TransportError) -> ServerUnreachable:
    return ServerUnreachable(f"{type(error).__name__}: {error}; check the address, and retry")


def _explain(error: MCPError) -> TextrawlError:
    """Return the error for a JSON-RPC error. The SDK makes some of them for a broken answer."""
    if known := read_known(error.message):
        return known
    return ServerUnreachable(
        f"{error.message}: check that the address is the address of a textrawl server"
    )
