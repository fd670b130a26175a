"""An open memory: its database and its embedding models. Both can be unavailable for a time."""

import logging
import re
import time
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, LiteralString, NamedTuple, TypeVar

from pydantic import Field

from textrawl import errors
from textrawl.access.principal import Caller
from textrawl.memory.fact_rows import StatisticsRow
from textrawl.models.active_model import Models
from textrawl.models.embeddings import Vector, check_vectors
from textrawl.postgres.database import Database
from textrawl.postgres.sqlstates import MODEL_DROPPED, DataRefused
from textrawl.wire.replies import Finding, Key, Part, Recall, Written

if TYPE_CHECKING:
    from textrawl.models.llm import LlmClient


Found = TypeVar("Found")
Row = TypeVar("Row")

logger = logging.getLogger("textrawl")

# Single letters and signs, such as c_s%e, mean nothing to a model. A Chinese sign can be a word.
_MEANING = re.compile(r"[^\x00-\x7f]|[^\W_]{2}")


Extracted = Literal["graph", "facts"]
"""What an LLM takes from journal entries in the background: the mind graph, or proposed facts."""


class QueryVector(NamedTuple):
    """The vector of a query and the id of its model, or the reason why they are `missing`.

    A query without meaning has none of them.
    """

    model: int | None
    vector: Vector | None
    missing: str | None


class Store:
    """The memory of one database, with the credential of this process."""

    def __init__(
        self,
        database: Database,
        models: Models,
        *,
        credential: bytes | None = None,
        llm: "LlmClient | None" = None,
        extracts: Collection[Extracted] = (),
    ) -> None:
        self.database = database
        self.credential = credential
        self.models = models
        self.llm = llm
        self.extracts = frozenset(extracts if llm is not None else ())
        self.names_close_facts = True  # in the answers to new facts
        self.going_on: Path | None = None  # the folder with files of sessions that go on
        self.conninfo = ""
        self.of_login: bytes | None = None  # the credential of a caller without a token
        self.without_vector = 0  # queries and new facts that got no vector from the provider
        self.pending = 0  # pending facts at the end of the last round of upkeep

    async def ping(self) -> None:
        """Run a short query. Raises DatabaseUnavailable."""
        await self.database.call("default_space", int)

    async def call(
        self, function: LiteralString, row: type[Row], refused: str = "", /, **arguments: object
    ) -> list[Row]:
        """Return the rows of a SQL function. Raises TextrawlError for the parameter `refused`."""
        return await self.database.call_explained(function, row, refused, **arguments)

    async def call_one(
        self, function: LiteralString, row: type[Row], refused: str = "", /, **arguments: object
    ) -> Row:
        """Return the only row of a SQL function, or its only value. Raises TextrawlError."""
        try:
            [one] = await self.database.call(function, row, **arguments)
        except DataRefused as refusal:
            raise refusal.explain(refused) from refusal
        return one

    async def embed_query(self, text: str, *, needed: bool = False) -> QueryVector:
        """Return the vector of a query, or the reason why there is none.

        A text without meaning gets no vector for no reason, so that it is only searched literally.
        If the vector is `needed`, each text gets one, or EmbeddingNotConfigured or
        EmbeddingUnavailable is raised.
        """
        if not (needed or _MEANING.search(text)):
            return QueryVector(None, None, None)
        try:
            active = await self.models.find_active()
            return QueryVector(active.model_id, await active.embedder.embed_query(text), None)
        except (errors.EmbeddingNotConfigured, errors.EmbeddingUnavailable) as error:
            if needed:
                raise
            self.without_vector += 1
            return QueryVector(None, None, error.title.lower())

    async def check_query_vector(self, numbers: Sequence[float], parameter: str) -> QueryVector:
        """Return a vector that a client made of its query, or the reason why there is none.

        Raises ArgumentInvalid for `parameter` unless the active model can have made the vector.
        """
        try:
            active = await self.models.find_active()
        except (errors.EmbeddingNotConfigured, errors.EmbeddingUnavailable) as error:
            return QueryVector(None, None, error.title.lower())
        dimensions = active.embedder.dimensions or len(numbers)
        if len(numbers) != dimensions:
            raise errors.ArgumentInvalid(
                f"{parameter} has {len(numbers)} numbers, but {active.embedder.name}, the model of "
                f"this memory, makes vectors of {dimensions}: leave it out, or use that model"
            )
        try:
            [vector] = check_vectors([numbers], dimensions)
        except errors.EmbeddingUnavailable as error:
            raise errors.ArgumentInvalid(
                f"{parameter} has only zeros, or a number that is not finite: leave it out"
            ) from error
        return QueryVector(active.model_id, vector, None)

    async def search(self, search: Callable[[], Awaitable[Found]]) -> Found:
        """Return the result of `search`, which embeds a query and calls a SQL function.

        If the model was dropped between the two, run `search` once more with the active model.
        """
        try:
            return await search()
        except DataRefused as refusal:
            self.forget_dropped(refusal)
        return await search()

    def forget_dropped(self, refusal: DataRefused) -> None:
        """Forget the cached active model if another process dropped it, or raise the refusal."""
        if refusal.code != MODEL_DROPPED:
            raise refusal
        self.models.forget()

    async def embed_documents(self, texts: Sequence[str]) -> tuple[int | None, list[Vector] | None]:
        """Return the id of the active model and a vector for each text, made in one call.

        Both are None in four cases: there is no text, the server has no embedding provider, the
        provider is down, or an encoder in this process would take longer than a write may wait.
        Facts are then stored without a vector, and the upkeep embeds them later.
        """
        if not texts or not self.models.has_vectors:
            return None, None
        try:
            active = await self.models.find_quick(texts)
            if active is None:
                return None, None
            return active.model_id, await active.embedder.embed_documents(texts)
        except errors.EmbeddingUnavailable as error:
            logger.warning("Facts were stored without vectors, and get them later: %s", error.fix)
            self.without_vector += len(texts)
            return None, None


@dataclass(frozen=True)
class StoreCall:
    """A call of something that a store does: the store, and the caller whose rights apply."""

    store: Store
    caller: Caller

    async def read(
        self, function: LiteralString, row: type[Row], refused: str = "", /, **arguments: object
    ) -> list[Row]:
        """Return the rows of a SQL function for readers of the home space. Raises TextrawlError."""
        return await self.store.call(
            function, row, refused, **arguments, **self.caller.reading_home
        )

    async def write(
        self, function: LiteralString, row: type[Row], refused: str = "", /, **arguments: object
    ) -> list[Row]:
        """Return the rows of a SQL function that writes. Raises TextrawlError."""
        return await self.store.call(function, row, refused, **arguments, **self.caller.writing)

    async def write_one(
        self, function: LiteralString, row: type[Row], refused: str = "", /, **arguments: object
    ) -> Row:
        """Return the only row of a SQL function that writes, or its value. Raises TextrawlError."""
        [one] = await self.write(function, row, refused, **arguments)
        return one

    async def search(
        self,
        function: LiteralString,
        row: type[Row],
        query: str | None,
        needs: Literal["vector"] | None = None,
        /,
        **arguments: object,
    ) -> list[Row]:
        """Return the rows of a SQL function that searches the home space by words and meaning.

        Only words are compared while there is no vector of the query. If the search needs the
        vector, it then fails. Raises TextrawlError.
        """

        async def search() -> list[Row]:
            vector = await self.store.embed_query(query or " ", needed=needs is not None)
            place = {"model": vector.model, "vector": vector.vector, **self.caller.reading_home}
            return await self.store.database.call(function, row, query=query, **arguments, **place)

        try:
            return await self.store.search(search)
        except DataRefused as refusal:
            raise refusal.explain() from refusal


class GraphPart(Part):
    """A graph that the caller can read. `writable` is true if the caller can also write to it."""

    name: Annotated[str, Key("n")]
    tier: Annotated[str, Key("t")]
    sources: Annotated[int, Key("src")]
    chunks: Annotated[int, Key("chunks")]
    tokens: Annotated[int, Key("tok"), Field(alias="estimatedTokens")]
    writable: Annotated[bool, Field(exclude=True)]


async def try_to_count(store: Store, caller: Caller) -> StatisticsRow | None:
    """Return the counts of the memory, or None for a caller who can only reach a graph."""
    try:
        return await store.call_one("memory_statistics", StatisticsRow, **caller.reading)
    except errors.SpaceIsGraph:
        return None


async def list_graphs(
    database: Database,
    credential: bytes | None,
    names: Sequence[str] | None = None,
    *,
    sensitive: bool = False,
) -> list[GraphPart]:
    """Return the graphs that a credential can read. If `names` is not None, only these graphs.

    With `sensitive`, sensitive graphs too: only for a command of a person, never for an MCP client.
    """
    return await database.call(
        "list_graphs",
        GraphPart,
        credential=credential,
        names=None if names is None else list(names),
        sensitive=sensitive,
    )


def describe_recall(caller: Caller, mode: str, written: Written, finding: Finding) -> Recall:
    """Return the entry of the recall log for an answer that has just been written."""
    return Recall(
        credential=caller.principal.credential,
        space=caller.principal.home,
        client=caller.client,
        mode=mode,
        format=written.format,
        structured=written.structured,
        tokens=written.tokens,
        budget=written.budget,
        items=written.items,
        dropped=written.dropped,
        finding=finding,
        milliseconds=1000 * (time.perf_counter() - caller.begun),
    )


def list_sessions(folder: Path) -> list[str]:
    """Return the chat ids of captured sessions that go on, with an event in the last day."""
    oldest, found = time.time() - 86_400, list[str]()
    for entry in folder.iterdir():
        with suppress(FileNotFoundError):  # the session has just ended
            found += [entry.name] if entry.stat().st_mtime > oldest else []
    return found
