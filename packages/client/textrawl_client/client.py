"""`Client` and `SyncClient`: a memory for programs in Python."""

import os
import re
from collections.abc import Callable, Coroutine, Sequence
from copy import copy
from datetime import datetime
from functools import partial, wraps
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

from textrawl_client.connections import Connection, HttpConnection, SocketConnection
from textrawl_client.errors import ArgumentInvalid, NothingToDelete, TextrawlError
from textrawl_client.items import ItemStore, Log
from textrawl_client.results import Digest, Facts, read_facts
from textrawl_client.schemas import (
    Entity,
    EntityPage,
    Forgotten,
    JournalEntry,
    Related,
    Remembered,
    StoredFact,
    Undone,
)
from textrawl_client.wire import Answer, Call, Members, build_call, keep, write_moment

Moment = datetime | str
"""A time. A text is an ISO 8601 date or instant. A time without an offset is in UTC."""

_NAMES = {
    "query": "question", "maxTokens": "max_tokens", "minScore": "least_score",
    "entityTypes": "types", "asOf": "as_of", "entityName": "entity", "entityType": "type",
    "observation": "fact", "saidAt": "said_at", "validFrom": "valid_from",
    "validUntil": "valid_until", "fromEntity": "from_entity", "toEntity": "to_entity",
    "fromEntityType": "from_type", "toEntityType": "to_type", "dryRun": "dry_run",
    "ttlSeconds": "ttl",
}  # fmt: skip
"""The names that arguments of tools have in the methods."""

_TOOL_NAMES = {name: argument for argument, name in _NAMES.items()}

_MOST_TOKENS = 25_000

_ARGUMENT = re.compile(r"\b(?:" + "|".join(_NAMES) + r")\b(?=( \(given|:|, |\[))")


Own = TypeVar("Own", bound="Client")
OwnSync = TypeVar("OwnSync", bound="SyncClient")


class Client:
    """A memory for programs that use asyncio: `async with Client(url) as memory`.

    `url` is the address of a server, or else TEXTRAWL_SERVER_URL is. Without both, the memory is
    that of the process on this machine that has it open. Its token is `token`, or else
    that of TEXTRAWL_ACCESS_TOKEN or TEXTRAWL_ACCESS_TOKEN_FILE. `space` is the only space that
    calls reach. `timeout` is the time limit of a call in seconds, and `client` the name that the
    trail shows. Several tasks and event loops can use one client.

    Every method raises TextrawlError: ArgumentInvalid, NotAuthenticated, ScopeMissing, ReadOnly,
    SpaceNotFound, DatabaseUnavailable, ServerBusy, ServerUnreachable.
    """

    _blocking = False
    _default_name = "textrawl-client"

    def __init__(
        self,
        url: str | None = None,
        *,
        token: str | None = None,
        space: str | None = None,
        timeout: float = 30,
        client: str | None = None,
    ) -> None:
        self._url = url
        self._token = token
        self._space = space
        self._timeout = timeout
        self._name = client or self._default_name
        self._root = self
        self._connection = self._connect()

    def _connect(self) -> Connection | None:
        """Return the way to the memory, or None if it must be opened first."""
        url = self._url or os.environ.get("TEXTRAWL_SERVER_URL")
        way = partial(HttpConnection, url) if url else SocketConnection
        token = self._token or find_token()
        return way(token, self._name, timeout=self._timeout, blocking=self._blocking)

    async def __aenter__(self: Own) -> Own:
        if not self.is_open and self._root is self:
            self._connection = self._connect()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @property
    def is_open(self) -> bool:
        """Whether the memory is open. A server over HTTP needs no opening."""
        return self._root._connection is not None

    async def close(self) -> None:
        """Close the connections to the memory. A client of `with_space` leaves them open."""
        if self._root is self:
            connection, self._connection = self._connection, None
            if connection is not None:
                await connection.close()

    def with_space(self: Own, space: str | None) -> Own:
        """Return a client of only this space. It has the connection of this client."""
        view = copy(self)
        view._space = space
        return view

    @property
    def items(self) -> ItemStore:
        """The items: JSON values under a namespace and a key."""
        return ItemStore(self._call_tool)

    def log(self, *namespace: str) -> Log:
        """Return the log with this namespace. It exists from its first entry on."""
        return Log(self._call_tool, namespace)

    async def recall(  # noqa: PLR0913 - each argument is an option
        self,
        question: str,
        *,
        limit: int = 10,
        max_tokens: int | None = None,
        least_score: float | None = None,
        types: Sequence[str] | None = None,
        as_of: Moment | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        entity: str | None = None,
        space: str | None = None,
    ) -> Facts:
        """Return the facts that answer a question, the best first.

        At most `limit` facts (1 to 50) with a score from `least_score` (0 to 1), of entities with
        these `types`, or only of one `entity`. `as_of` finds facts that were valid then, and with
        `since` and `until` those that were said between them. If the facts as lines with ids have
        more than `max_tokens` tokens, those with the lowest scores are omitted. A server has a
        budget of its own if it is None.
        """
        types = _list_types(types)
        given = _name_arguments(locals(), "entity") | {"mode": "search", "includeIds": True}
        wishes = None if entity is None else {"about": entity}
        call = build_call("query_memory", keep(given), space or self._space, reads=True)
        return read_facts(await self._send(call._replace(wishes=wishes)))

    async def documents(
        self,
        query: str,
        *,
        limit: int = 10,
        max_tokens: int | None = None,
        space: str | None = None,
    ) -> Facts:
        """Return the chunks of documents that answer a question, the best first.

        The entity of a chunk is its document, and its `space` is the graph of the document.
        """
        given = _name_arguments(locals()) | {"mode": "search", "includeIds": True}
        given["sources"] = ["documents"]
        return read_facts(await self._call_tool("query_memory", given, space, reads=True))

    async def digest(
        self, project: str | None = None, *, max_tokens: int | None = None, space: str | None = None
    ) -> Digest:
        """Return the facts that matter at the start of a conversation.

        `project` is the name of the project that the conversation is about. The facts that are less
        important than others are left out, so that the text has at most `max_tokens` tokens. If it
        is None, TEXTRAWL_DIGEST_TOKENS of the memory decides.
        """
        answer = await self._call_tool("digest", _name_arguments(locals()), space, reads=True)
        return Digest(answer.text, tuple(answer.ids))

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
        space: str | None = None,
    ) -> Remembered:
        """Store a fact about an entity. A missing entity is created with `type`, or as a concept.

        The fact is valid from `valid_from`, or else from `said_at`, until `valid_until`.
        `replaces` is the id or the text of the fact that this fact corrects. Raises FactNotFound.
        """
        answer = await self._call_tool("remember_fact", _name_arguments(locals()), space)
        return Remembered.model_validate(answer.content)

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
        space: str | None = None,
    ) -> Related:
        """Connect two entities. Missing entities are created, with these types.

        With `replaces`, end the other relations of this type that start at the same entity. With
        `ended`, end this relation instead. Raises ArgumentInvalid if there is none to end.
        """
        answer = await self._call_tool("relate_entities", _name_arguments(locals()), space)
        return Related.model_validate(answer.content)

    async def forget(
        self,
        entity: str,
        *,
        fact: str | None = None,
        dry_run: bool = False,
        space: str | None = None,
    ) -> Forgotten:
        """Delete an entity with its facts and relations for good, or only one `fact` of it.

        `fact` is an id, the text of a fact, or a relation such as works_at→Acme. With `dry_run`,
        return what would be deleted. Nobody is asked. Raises NothingToDelete, FactNotFound.
        """
        given = {"entityName": entity, "fact": fact, "dryRun": dry_run, "confirm": not dry_run}
        try:
            answer = await self._call_tool("forget_entity", given, space)
        except NothingToDelete:
            raise NothingToDelete(entity) from None
        return Forgotten.model_validate(answer.content)

    async def get(self, id: str, *, space: str | None = None) -> StoredFact | None:
        """Return the fact with this whole id, valid or ended, or None."""
        found = await self._operate("get_fact", {"fact": id}, space, reads=True)
        return found and StoredFact.model_validate(found)

    async def entity(
        self,
        name: str,
        *,
        limit: int = 20,
        offset: int = 0,
        as_of: Moment | None = None,
        space: str | None = None,
    ) -> Entity | None:
        """Return an entity by its name or alias, with at most `limit` (1 to 100) facts, or None.

        The `offset` newest facts are left out. Only a page without an offset has the relations.
        """
        given = {"mode": "entity", "entityName": name, "maxObs": limit, "offset": offset}
        more = {"asOf": write_moment(as_of), "includeIds": True, "maxTokens": _MOST_TOKENS}
        answer = await self._call_tool("query_memory", {**given, **more}, space, reads=True)
        return Entity.model_validate(answer.content) if answer.content["found"] else None

    async def list(
        self,
        prefix: str | None = None,
        *,
        types: Sequence[str] | None = None,
        limit: int = 100,
        offset: int = 0,
        space: str | None = None,
    ) -> EntityPage:
        """Return the entities whose names begin with `prefix`, last updated first.

        At most `limit` (1 to 1,000), without the first `offset`.
        """
        chosen = _list_types(types)
        given = {"prefix": prefix, "types": chosen, "limit": limit, "offset": offset}
        found = await self._operate("list_entities", given, space, reads=True)
        return EntityPage.model_validate(found)

    async def journal(
        self,
        granularity: str | None = None,
        *,
        limit: int = 20,
        offset: int = 0,
        space: str | None = None,
    ) -> Sequence[JournalEntry]:
        """Return entries of the journal, newest first. `granularity` is a word such as daily.

        The tool memory_read has the whole text of an entry.
        """
        given = {"granularity": granularity, "limit": limit, "offset": offset}
        answer = await self._call_tool("memory_list", given, space, reads=True)
        return [JournalEntry.model_validate(one) for one in answer.content["memories"]]

    async def undo(
        self,
        event: int | None = None,
        *,
        author: str | None = None,
        since: Moment | None = None,
        space: str | None = None,
    ) -> Sequence[Undone]:
        """Undo one event of the trail, or what an author wrote since a time.

        The author of an event needs the scope `write`, and everybody else needs `admin`.
        """
        given = {"event": event, "author": author, "since": write_moment(since)}
        name = "undo" if event is None else "undo_event"
        found = await self._operate(name, given, space)
        return [Undone.model_validate(one) for one in found]

    async def call(
        self, tool: str, arguments: Members, *, reads: bool = False, space: str | None = None
    ) -> Any:
        """Return the structured content of any tool that programs can call.

        A call that only `reads` is repeated once if the connection breaks.
        """
        return (await self._call_tool(tool, arguments, space, reads=reads)).content

    async def _call_tool(
        self, tool: str, given: Members, space: str | None = None, *, reads: bool = False
    ) -> Answer:
        return await self._send(build_call(tool, keep(given), space or self._space, reads=reads))

    async def _operate(
        self, name: str, given: Members, space: str | None, *, reads: bool = False
    ) -> Any:
        """Return the result of an operation, which no model can call."""
        call = Call(name, "", keep(given), space or self._space, reads)
        return (await self._send(call)).content

    async def _send(self, call: Call) -> Answer:
        if self._root._connection is None:
            raise RuntimeError(
                "Open the client first: async with Client() as memory, with SyncClient() as memory"
            )
        try:
            return await self._root._connection.send(call)
        except TextrawlError as error:
            raise _rename_arguments(error) from error.__cause__


def _list_types(types: Sequence[str] | None) -> list[str] | None:
    return [types] if isinstance(types, str) else list(types) if types else None


def _name_arguments(given: Members, *others: str) -> dict[str, Any]:
    """Return the arguments of a tool from the `locals()` of its method, but for `others`."""
    left_out = ("self", "space", *others)
    own = {name: write_moment(value) for name, value in given.items() if name not in left_out}
    return {_TOOL_NAMES.get(name, name): value for name, value in own.items()}


def _rename_arguments(error: TextrawlError) -> TextrawlError:
    """Let the error of a tool name the arguments as the methods do."""
    if isinstance(error, ArgumentInvalid):
        error.fix = _ARGUMENT.sub(lambda found: _NAMES[found[0]], error.fix)
        error.args = (f"{error.title}: {error.fix}",)
    return error


def find_token() -> str | None:
    """Return the token of TEXTRAWL_ACCESS_TOKEN, or of the file TEXTRAWL_ACCESS_TOKEN_FILE.

    Raises OSError, and ArgumentInvalid for a file that other OS users can read.
    """
    if token := os.environ.get("TEXTRAWL_ACCESS_TOKEN"):
        return token
    if not (name := os.environ.get("TEXTRAWL_ACCESS_TOKEN_FILE")):
        return None
    path = Path(name).expanduser()
    if path.stat().st_mode & 0o077:
        raise ArgumentInvalid(f"Other OS users can use the token file {path}: run chmod 600 {path}")
    return path.read_text(encoding="utf-8").strip()


Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


def _finish(coroutine: Coroutine[Any, Any, Result]) -> Result:
    """Return the result of a coroutine that waits for nothing but a blocking connection."""
    try:
        coroutine.send(None)
    except StopIteration as done:
        return done.value
    coroutine.close()
    raise RuntimeError("The connection is not a blocking one")


def wait_for(
    method: Callable[Concatenate[Any, Parameters], Coroutine[Any, Any, Result]],
) -> Callable[Concatenate[Any, Parameters], Result]:
    """Return the method that waits for the result of `method` of the object `self.waiting`."""

    @wraps(method)
    def wait(self: Any, *arguments: Parameters.args, **options: Parameters.kwargs) -> Result:
        return _finish(method(self.waiting, *arguments, **options))

    return wait


class SyncItemStore:
    """The items of a memory. It has the methods of `ItemStore`, and they wait for the result."""

    def __init__(self, store: ItemStore) -> None:
        self.waiting = store

    put = wait_for(ItemStore.put)
    put_many = wait_for(ItemStore.put_many)
    get = wait_for(ItemStore.get)
    delete = wait_for(ItemStore.delete)
    list = wait_for(ItemStore.list)
    search = wait_for(ItemStore.search)
    namespaces = wait_for(ItemStore.namespaces)
    history = wait_for(ItemStore.history)


class SyncLog:
    """A log. It has the methods of `Log`, and they wait for the result."""

    def __init__(self, log: Log) -> None:
        self.waiting = log

    append = wait_for(Log.append)
    read = wait_for(Log.read)
    pop = wait_for(Log.pop)
    clear = wait_for(Log.clear)


class _BlockingClient(Client):
    """A client whose methods wait for no event loop."""

    _blocking = True


class SyncClient:
    """A memory: `with SyncClient(url) as memory`. It has the methods and arguments of `Client`.

    They wait for the result, without a thread and without an event loop. So they work in any
    thread, and where an event loop runs. Several threads can use one client.
    """

    _kind: type[Client] = _BlockingClient

    def __init__(
        self,
        url: str | None = None,
        *,
        token: str | None = None,
        space: str | None = None,
        timeout: float = 30,
        client: str | None = None,
    ) -> None:
        self.waiting: Client = self._kind(
            url, token=token, space=space, timeout=timeout, client=client
        )

    def open(self: OwnSync) -> OwnSync:
        """Open the memory, unless it is open."""
        if not self.waiting.is_open:
            _finish(self.waiting.__aenter__())
        return self

    def __enter__(self: OwnSync) -> OwnSync:
        return self.open()

    def __exit__(self, *_: object) -> None:
        self.close()

    def with_space(self: OwnSync, space: str | None) -> OwnSync:
        """Return a client of only this space. It has the connection of this client."""
        view = copy(self)
        view.waiting = self.waiting.with_space(space)
        return view

    @property
    def items(self) -> SyncItemStore:
        """The items: JSON values under a namespace and a key."""
        return SyncItemStore(self.waiting.items)

    def log(self, *namespace: str) -> SyncLog:
        """Return the log with this namespace. It exists from its first entry on."""
        return SyncLog(self.waiting.log(*namespace))

    close = wait_for(Client.close)
    recall = wait_for(Client.recall)
    documents = wait_for(Client.documents)
    digest = wait_for(Client.digest)
    remember = wait_for(Client.remember)
    relate = wait_for(Client.relate)
    forget = wait_for(Client.forget)
    get = wait_for(Client.get)
    entity = wait_for(Client.entity)
    list = wait_for(Client.list)
    journal = wait_for(Client.journal)
    undo = wait_for(Client.undo)
    call = wait_for(Client.call)
