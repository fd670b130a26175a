"""`Client`: a memory for programs in Python that use asyncio."""

import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from dataclasses import replace
from functools import cache, partial, wraps
from threading import Thread, main_thread
from types import TracebackType
from typing import Concatenate, ParamSpec, Self, TypeVar

from anyio.from_thread import BlockingPortal, start_blocking_portal

from textrawl import __version__
from textrawl.client.answers import (
    ToolAnswer,
    Tools,
    read_digest,
    read_facts,
    read_forgotten,
    read_related,
    read_remembered,
)
from textrawl.client.arguments import (
    Arguments,
    DeletionArguments,
    DigestArguments,
    EdgeArguments,
    FactArguments,
    Moment,
    SearchArguments,
    check,
)
from textrawl.client.local import open_local
from textrawl.client.results import Digest, Facts, Forgotten, Related, Remembered
from textrawl.errors import ArgumentInvalid, NothingToDelete
from textrawl.settings import find_withheld, read_settings
from textrawl.values.names import read_server_address
from textrawl.values.text import count_cleaned
from textrawl.wire.program import Program

logger = logging.getLogger("textrawl")

_PROGRAM = Program(client=f"textrawl-python {__version__}")


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
        self._opened: Tools | None = None

    async def __aenter__(self) -> Self:
        """Open the memory."""
        self._opened = await self._stack.enter_async_context(self._open_tools())
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
    async def _open_tools(self) -> AsyncGenerator[Tools]:
        settings = read_settings()
        for line in find_withheld() if self._url is None else ():
            logger.warning("%s", line)
        url = self._url or settings.server_url
        if url is None:
            async with open_local(settings) as tools:
                yield tools
            return
        from textrawl.client.remote import open_remote  # noqa: PLC0415 - it loads the MCP SDK

        known = settings.access_token
        token = self._token or (known.get_secret_value() if known else None)
        async with open_remote(_complete_url(url), token, self._timeout) as tools:
            yield tools

    async def _call(self, tool: str, arguments: Arguments) -> ToolAnswer:
        if self._opened is None:
            raise RuntimeError("Open the client first: async with Client() as memory")
        return await self._opened.call(tool, arguments.write(), _PROGRAM)

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
        the facts as lines with ids have more than `max_tokens` tokens, those with the lowest scores
        are omitted. A server has a budget of its own if `max_tokens` is None.
        """
        types = [entity_types] if isinstance(entity_types, str) else entity_types
        given = {
            "question": question,
            "limit": limit,
            "max_tokens": max_tokens,
            "least_score": least_score,
            "entity_types": None if types is None else list(types),
            "as_of": as_of,
            "since": since,
            "until": until,
            "include_ids": True,
        }
        return read_facts(await self._call("query_memory", check(SearchArguments, given)))

    async def digest(self, project: str | None = None, *, max_tokens: int | None = None) -> Digest:
        """Return the facts that matter at the start of a conversation.

        `project` is the name of the project that the conversation is about. The facts that are less
        important than others are left out, so that the text has at most `max_tokens`
        tokens. If it is None, TEXTRAWL_DIGEST_TOKENS decides, here or on the server.
        """
        asked = check(DigestArguments, {"project": project, "max_tokens": max_tokens})
        return read_digest(await self._call("digest", asked))

    async def remember(  # noqa: PLR0913 - each argument is an option
        self,
        entity: str,
        fact: str,
        *,
        type: str | None = None,
        replaces: str | None = None,
        said_at: Moment | None = None,
        valid_from: Moment | None = None,
        valid_until: Moment | None = None,
    ) -> Remembered:
        """Store a fact about an entity. A missing entity is created with `type`, or as a concept.

        The fact is valid from `valid_from`, or else from `said_at`, until `valid_until`.

        `replaces` is the id or the text of the fact that this fact corrects. Raises FactNotFound.
        """
        given = {
            "entity": entity,
            "fact": fact,
            "type": type,
            "replaces": replaces,
            "said_at": said_at,
            "valid_from": valid_from,
            "valid_until": valid_until,
        }
        answer = await self._call("remember_fact", check(FactArguments, given))
        return replace(read_remembered(answer), cleaned=count_cleaned(given))

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
        given = {
            "from_entity": from_entity,
            "relation": relation,
            "to_entity": to_entity,
            "from_type": from_type,
            "to_type": to_type,
            "replaces": replaces,
            "ended": ended,
        }
        asked = check(EdgeArguments, given)
        answer = await self._call("relate_entities", asked)
        return replace(read_related(answer, asked.relation), cleaned=count_cleaned(given))

    async def forget(
        self, entity: str, *, fact: str | None = None, dry_run: bool = False
    ) -> Forgotten:
        """Delete an entity with its facts and relations for good, or only one `fact` of it.

        `fact` is an id, the text of a fact, or a relation such as works_at→Acme. With `dry_run`,
        return what would be deleted. Raises NothingToDelete, FactNotFound.
        """
        given = {"entity": entity, "fact": fact, "dry_run": dry_run, "confirm": not dry_run}
        asked = check(DeletionArguments, given)
        try:
            return read_forgotten(await self._call("forget_entity", asked))
        except NothingToDelete:
            raise NothingToDelete(asked.entity) from None


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


_open_clients: "set[SyncClient]" = set()


@cache
def _start_closing() -> None:
    """Start the thread that closes the open clients at the end of the program.

    Python then ends only daemon threads without waiting, and a client that still waits for its
    thread would wait forever.
    """
    Thread(target=_close_at_end, name="textrawl-end").start()


def _close_at_end() -> None:
    main_thread().join()
    for client in list(_open_clients):
        client.close()


class SyncClient:
    """A memory: `with SyncClient() as memory`, or `SyncClient(url)` for a server over HTTP.

    It has the methods of `Client`, and they wait for the result. An event loop runs in a thread of
    its own until the client is closed. Several threads can use one client. Instead of `with`, a
    program can call `open` and `close`. A client that is still open at the end of the main thread
    is closed then.
    """

    def __init__(
        self, url: str | None = None, *, token: str | None = None, timeout: float = 30
    ) -> None:
        self._client = Client(url, token=token, timeout=timeout)
        self._stack = ExitStack()
        self._opened: BlockingPortal | None = None

    def open(self) -> Self:
        """Open the memory. Raises the errors of opening a `Client`."""
        if self._opened is not None:
            raise RuntimeError("The client is open already")
        with ExitStack() as stack:
            portal = stack.enter_context(start_blocking_portal())
            stack.enter_context(portal.wrap_async_context_manager(self._client))
            self._stack, self._opened = stack.pop_all(), portal
        _open_clients.add(self)
        _start_closing()
        return self

    def close(self) -> None:
        """Close the memory. A closed client stays closed."""
        self.__exit__(None, None, None)

    def __enter__(self) -> Self:
        """Open the memory, unless it is open."""
        return self.open() if self._opened is None else self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the memory."""
        self._opened = None
        _open_clients.discard(self)
        self._stack.pop_all().__exit__(kind, error, trace)

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
