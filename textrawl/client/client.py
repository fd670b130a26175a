"""`Client`: a memory for programs in Python that use asyncio."""

import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from dataclasses import replace
from functools import partial, wraps
from types import TracebackType
from typing import Concatenate, ParamSpec, Protocol, Self, TypeVar

from anyio.from_thread import BlockingPortal, start_blocking_portal

from textrawl.client.arguments import (
    Moment,
    check_budget,
    read_edge,
    read_fact,
    read_lifetime,
    read_name,
    read_question,
    read_reference,
    read_type,
)
from textrawl.client.local import open_local
from textrawl.client.results import Digest, Facts, Forgotten, Related, Remembered
from textrawl.errors import ArgumentInvalid
from textrawl.memory.facts import Edge, Fact, Question
from textrawl.settings import find_withheld, read_settings
from textrawl.values.names import read_server_address


class Memory(Protocol):
    """An open memory. All arguments are checked already."""

    async def recall(self, question: Question, max_tokens: int | None) -> Facts:
        """Return facts, the best first."""
        ...

    async def digest(self, project: str | None, max_tokens: int | None) -> Digest:
        """Return the facts that matter at the start of a conversation."""
        ...

    async def remember(self, fact: Fact) -> Remembered:
        """Store a fact."""
        ...

    async def relate(self, edge: Edge, *, replaces: bool) -> Related:
        """Connect two entities."""
        ...

    async def end(self, edge: Edge) -> Related:
        """End a relation."""
        ...

    async def forget(self, entity: str, fact: str | None, *, dry_run: bool) -> Forgotten:
        """Delete an entity or one fact of it."""
        ...


logger = logging.getLogger("textrawl")


class Client:
    """A memory: `async with Client() as memory`, or `Client(url)` for a server over HTTP.

    Without `url`, the settings decide: the server in SERVER_URL, the database in DATABASE_URL, or
    the embedded Postgres, which is created if it does not exist. A server gets `token`, or else the
    token of the settings. `timeout` is the time limit of a request over HTTP, in seconds.

    Opening raises StartRefused for wrong settings, and textrawl's errors if the memory cannot be
    opened. A server is reached with the first call. Every method raises the errors of the tool
    that it stands for: ArgumentInvalid, ScopeMissing, ReadOnly, DatabaseUnavailable, ServerBusy,
    ServerUnreachable. Several tasks can use one client.
    """

    def __init__(
        self, url: str | None = None, *, token: str | None = None, timeout: float = 30
    ) -> None:
        if url is not None:
            _complete_url(url)
        self._url = url
        self._token = token
        self._timeout = timeout
        self._stack = AsyncExitStack()
        self._opened: Memory | None = None

    async def __aenter__(self) -> Self:
        """Open the memory."""
        self._opened = await self._stack.enter_async_context(self._open())
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the memory."""
        self._opened = None
        await self._stack.__aexit__(kind, error, trace)

    @asynccontextmanager
    async def _open(self) -> AsyncGenerator[Memory]:
        settings = read_settings()
        for line in find_withheld() if self._url is None else ():
            logger.warning("%s", line)
        url = self._url or settings.server_url
        if url is None:
            async with open_local(settings) as memory:
                yield memory
            return
        from textrawl.client.remote import open_remote  # noqa: PLC0415 - it loads the MCP SDK

        known = settings.access_token
        token = self._token or (known.get_secret_value() if known else None)
        async with open_remote(_complete_url(url), token, self._timeout) as memory:
            yield memory

    @property
    def _memory(self) -> Memory:
        if self._opened is None:
            raise RuntimeError("Open the client first: async with Client() as memory")
        return self._opened

    async def recall(  # noqa: PLR0913 - each argument is an option
        self,
        question: str,
        *,
        limit: int = 10,
        max_tokens: int | None = None,
        least_score: float | None = None,
        entity_types: Sequence[str] | None = None,
        as_of: Moment | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
    ) -> Facts:
        """Return the facts that answer a question, the best first.

        At most `limit` facts (1 to 50) with a score from `least_score` (0 to 1). `as_of` finds
        facts that were valid then, and `since` and `until` facts that were said between them. If
        the answer has more than `max_tokens` tokens, the facts with the lowest scores are omitted:
        a server counts its whole answer, and has a budget of its own if `max_tokens` is None.
        """
        check_budget(max_tokens)
        times = (as_of, since, until)
        asked = read_question(question, entity_types, limit, least_score, times)
        return await self._memory.recall(asked, max_tokens)

    async def digest(self, project: str | None = None, *, max_tokens: int | None = None) -> Digest:
        """Return the facts that matter at the start of a conversation.

        `project` is the name of the project that the conversation is about. The facts that are less
        important than others are left out, so that the text has at most `max_tokens`
        tokens. If it is None, TEXTRAWL_DIGEST_TOKENS decides, here or on the server.
        """
        check_budget(max_tokens)
        name = read_name("project", project) if project is not None else None
        return await self._memory.digest(name, max_tokens)

    async def remember(
        self,
        entity: str,
        fact: str,
        *,
        type: str = "concept",
        replaces: str | None = None,
        said_at: Moment | None = None,
        valid_until: Moment | None = None,
    ) -> Remembered:
        """Store a fact about an entity, which is created with `type` if it does not exist.

        `replaces` is the id or the text of the fact that this fact corrects. Raises FactNotFound.
        """
        said, until = read_lifetime(said_at, valid_until)
        stored = read_fact(entity, fact, type, replaces)
        return await self._memory.remember(replace(stored, said_at=said, valid_until=until))

    async def relate(  # noqa: PLR0913 - each argument is an option
        self,
        from_entity: str,
        relation: str,
        to_entity: str,
        *,
        from_type: str | None = None,
        to_type: str | None = None,
        replaces: bool = False,
        ended: bool = False,
    ) -> Related:
        """Connect two entities. Missing entities are created, with these types.

        With `replaces`, end the other relations of this type that start at the same entity. With
        `ended`, end this relation instead. Raises ArgumentInvalid if there is none to end.
        """
        edge = read_edge(from_entity, relation, to_entity)
        types = read_type("from_type", from_type), read_type("to_type", to_type)
        edge = replace(edge, from_type=types[0], to_type=types[1])
        if ended and replaces:
            raise ArgumentInvalid("ended, replaces: give only one")
        if ended:
            return await self._memory.end(edge)
        return await self._memory.relate(edge, replaces=replaces)

    async def forget(
        self, entity: str, *, fact: str | None = None, dry_run: bool = False
    ) -> Forgotten:
        """Delete an entity with its facts and relations for good, or only one `fact` of it.

        `fact` is an id, the text of a fact, or a relation such as works_at→Acme. With `dry_run`,
        return what would be deleted. Raises NothingToDelete, FactNotFound.
        """
        name, reference = read_name("entity", entity), read_reference("fact", fact)
        return await self._memory.forget(name, reference, dry_run=dry_run)


def _complete_url(url: str) -> str:
    """Return the address of the MCP endpoint. Raises ArgumentInvalid."""
    try:
        return read_server_address(url).geturl()
    except ValueError as error:
        raise ArgumentInvalid(f"url: {error}") from None


Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


def _wait_for(
    method: Callable[Concatenate[Client, Parameters], Awaitable[Result]],
) -> "Callable[Concatenate[SyncClient, Parameters], Result]":
    """Return the method that waits for the result of `method`."""

    @wraps(method)
    def wait(
        self: "SyncClient", *arguments: Parameters.args, **options: Parameters.kwargs
    ) -> Result:
        return self._portal.call(partial(method, self._client, *arguments, **options))  # pyright: ignore[reportPrivateUsage]

    return wait


class SyncClient:
    """A memory: `with SyncClient() as memory`, or `SyncClient(url)` for a server over HTTP.

    It has the methods of `Client`, and they wait for the result. An event loop runs in a thread of
    its own until the client is closed. Several threads can use one client.
    """

    def __init__(
        self, url: str | None = None, *, token: str | None = None, timeout: float = 30
    ) -> None:
        self._client = Client(url, token=token, timeout=timeout)
        self._stack = ExitStack()
        self._opened: BlockingPortal | None = None

    def __enter__(self) -> Self:
        """Open the memory."""
        with ExitStack() as stack:
            self._opened = stack.enter_context(start_blocking_portal())
            stack.enter_context(self._opened.wrap_async_context_manager(self._client))
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the memory."""
        self._opened = None
        self._stack.__exit__(kind, error, trace)

    @property
    def _portal(self) -> BlockingPortal:
        if self._opened is None:
            raise RuntimeError("Open the client first: with SyncClient() as memory")
        return self._opened

    recall = _wait_for(Client.recall)
    digest = _wait_for(Client.digest)
    remember = _wait_for(Client.remember)
    relate = _wait_for(Client.relate)
    forget = _wait_for(Client.forget)
