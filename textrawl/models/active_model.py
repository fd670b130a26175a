"""The active embedding model of a memory, and its embedder.

The database stores the active model, because vectors of two models cannot be compared. A memory
without a model gets the model of the settings. A memory with a model keeps it until
`textrawl embed switch` activates another model. Running servers use that model within seconds.
"""

import logging
import math
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from uuid import UUID

import anyio

from textrawl import errors
from textrawl.models.choice import choose_embedder
from textrawl.models.embeddings import Embedder
from textrawl.postgres.database import Database
from textrawl.postgres.sqlstates import ANOTHER_MODEL_IS_ACTIVE, DataRefused
from textrawl.settings import Settings


@dataclass(frozen=True)
class KnownModelRow:
    """A row of `embedding_models`. The `status` is building, active or previous."""

    model_id: int
    name: str
    dimensions: int
    status: str


@dataclass(frozen=True)
class PendingRow:
    """A pending fact."""

    space_id: int
    observation_id: UUID
    entity_name: str
    content: str


logger = logging.getLogger("textrawl")

PROVIDERS = ("encoder", "local", "openai", "ollama")

_FRESH = 2.0  # seconds for which the active model is cached
_PAUSE = 0.5  # seconds until the next attempt after a failure
_PROBE = "textrawl"
_WRITE_BUDGET = 0.5  # seconds that a write waits for its vectors

Choose = Callable[[str], Embedder | None]


@dataclass(frozen=True)
class StoredModel:
    """A model of the memory, with the embedder that makes its vectors."""

    model_id: int
    embedder: Embedder


class Models:
    """The embedding models of one memory.

    `configured` is the embedder of the settings, or None for keyword search only. `choose` makes an
    embedder from the name of a model, such as openai:bge-m3. `chosen` is true if the settings name
    a provider or a model. Then a warning is logged if the memory has a different model. Without
    `serving`, no upkeep makes vectors later, so writes wait until an encoder is loaded.
    """

    def __init__(
        self,
        database: Database,
        configured: Embedder | None,
        choose: Choose | None = None,
        *,
        chosen: bool = True,
        read_only: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._database = database
        self._configured = configured
        self.has_vectors = configured is not None
        """True if this server searches by meaning."""
        self._choose = choose
        self._chosen = chosen
        self._read_only = read_only
        self.serving = True
        self._clock = clock
        self._embedders: dict[str, Embedder] = {configured.name: configured} if configured else {}
        self._previous: list[StoredModel] = []
        self._active: StoredModel | None = None
        self._missing: errors.EmbeddingUnavailable | None = None
        self._fresh_until = 0.0
        self._refreshed: anyio.Event | None = None
        self._logged = ""

    async def find_active(self) -> StoredModel:
        """Return the model that searches use.

        Raises EmbeddingNotConfigured, EmbeddingUnavailable, DatabaseUnavailable.
        """
        if self._configured is None:
            raise errors.EmbeddingNotConfigured
        while self._clock() >= self._fresh_until:
            if self._refreshed is None:
                await self._refresh_for_all(self._configured)
            elif self._active is None:
                await self._refreshed.wait()
            else:
                break  # another call is refreshing it: use the cached model meanwhile
        if self._active is None:
            missing = self._missing or errors.EmbeddingUnavailable("Retry in a few seconds")
            raise missing.with_traceback(None)
        return self._active

    async def find_quick(self, texts: Sequence[str]) -> StoredModel | None:
        """Return the active model if it makes vectors of `texts` in time for a write, else None.

        Raises the errors of find_active.
        """
        if (
            self.serving
            and self._active is None
            and self._configured is not None
            and self._configured.estimate(texts) > _WRITE_BUDGET
            and await self._is_new()
        ):
            return None  # the first vector may need a model that takes a second to load
        active = await self.find_active()
        if not self.serving:
            await active.embedder.warm()
        return active if active.embedder.estimate(texts) <= _WRITE_BUDGET else None

    async def find_served(self) -> list[StoredModel]:
        """Return the active model and the previous models. All of them get vectors of new facts."""
        return [await self.find_active(), *self._previous]

    async def warm(self) -> None:
        """Load the model of this server, however long it takes. Raises EmbeddingUnavailable."""
        if self._configured is not None and math.isinf(self._configured.estimate([])):
            await self._configured.warm()
            self.forget()

    def forget(self) -> None:
        """Let the next call ask the database for the active model."""
        self._fresh_until = 0.0

    async def aclose(self) -> None:
        """Close all embedders except the configured embedder, which the caller closes."""
        for embedder in self._embedders.values():
            if embedder is not self._configured:
                await embedder.aclose()

    async def _refresh_for_all(self, configured: Embedder) -> None:
        """Ask the database once on behalf of all calls that wait."""
        refreshed = self._refreshed = anyio.Event()
        try:
            await self._refresh(configured)
            self._fresh_until = self._clock() + _FRESH
        except errors.EmbeddingUnavailable as error:
            self._fresh_until, self._missing = self._clock() + _PAUSE, error
            raise
        except errors.TextrawlError as error:
            self._fresh_until = self._clock() + _PAUSE
            self._missing = errors.EmbeddingUnavailable(error.fix)
            raise
        finally:
            self._refreshed = None
            refreshed.set()

    async def _is_new(self) -> bool:
        """Return whether the memory has no model yet."""
        rows = await self._database.call("embedding_models", KnownModelRow)
        return all(row.status != "active" for row in rows)

    async def _refresh(self, configured: Embedder) -> None:
        rows = await self._database.call("embedding_models", KnownModelRow)
        active = next((row for row in rows if row.status == "active"), None)
        if active is None:
            if self._read_only:
                raise errors.NothingEmbedded
            await ask_once(configured)
            await self._register(configured)
            await self._refresh(configured)  # another server may have registered its model first
            return
        self._log_difference(active.name, configured.name)
        self._missing = None
        try:
            if self._active is None or self._active.model_id != active.model_id:
                opened = await self._open(active)
                await self._database.catch_up()  # a standby may not have all vectors yet
                self._active = opened
                await self._register(opened.embedder)
        except errors.EmbeddingUnavailable as missing:
            self._active, self._missing = None, missing
            return
        self._previous = []
        for row in rows:
            if row.status == "previous":
                with suppress(errors.EmbeddingUnavailable):
                    self._previous.append(await self._open(row))

    async def _open(self, row: KnownModelRow) -> StoredModel:
        embedder = self._embedders.get(row.name)
        if embedder is None:
            embedder = self._embedders[row.name] = self._make(row.name)
        if embedder.dimensions is None:
            embedder.dimensions = row.dimensions
        if embedder.dimensions != row.dimensions:
            raise errors.EmbeddingUnavailable(
                f"The vectors of {row.name} have another size than its stored vectors: let the "
                "provider serve the earlier model, or use `textrawl embed` to make new vectors "
                "with a model of another name"
            )
        return StoredModel(row.model_id, embedder)

    def _make(self, name: str) -> Embedder:
        try:
            embedder = self._choose(name) if self._choose else None
        except errors.StartRefused as refused:
            raise errors.EmbeddingUnavailable(
                f"The vectors of this memory were made by {name}, which cannot be used: {refused}"
            ) from refused
        if embedder is None:
            raise errors.EmbeddingUnavailable(f"The vectors of this memory were made by {name}")
        return embedder

    async def _register(self, embedder: Embedder) -> None:
        """Register the model of `embedder` as active, unless another model is.

        If the model is registered already, update its scale of cosines.
        """
        if embedder.dimensions is None:
            await embedder.warm()
        if self._read_only:
            return
        try:
            await self._database.call("register_embedding_model", int, **describe_model(embedder))
        except DataRefused as refusal:
            if refusal.code != ANOTHER_MODEL_IS_ACTIVE:
                raise

    def _log_difference(self, active: str, configured: str) -> None:
        if not self._chosen or active in (configured, self._logged):
            return
        self._logged = active
        provider, _, model = configured.partition(":")
        logger.warning(
            "The vectors of this memory were made by %s. The server uses this model, not %s from "
            "the settings. To change the model, run `textrawl embed start --provider %s "
            "--model %s`, then `textrawl embed switch`",
            active,
            configured,
            provider,
            model,
        )


async def ask_once(embedder: Embedder) -> None:
    """Embed a test text, because a model that never answered must not become the active model.

    Raises EmbeddingUnavailable.
    """
    await embedder.embed_documents([_PROBE])


def describe_model(embedder: Embedder) -> Mapping[str, object]:
    """Return the model of `embedder` as SQL arguments. Its dimensions must be known."""
    scale = embedder.model.scale
    return {
        "name": embedder.name,
        "dimensions": embedder.dimensions,
        "cosine_floor": scale.floor,
        "cosine_ceiling": scale.ceiling,
        "trust": scale.trust,
    }


def choose_named(settings: Settings, name: str) -> Embedder | None:
    """Return the embedder of the model with this name in the database. Raises StartRefused."""
    provider, _, model = name.partition(":")
    if provider == "fastembed":
        raise errors.StartRefused(
            "textrawl runs no models of fastembed any more: run `textrawl embed start --provider "
            "encoder`, then `textrawl embed switch`. No fact is lost"
        )
    if provider not in PROVIDERS:
        known = ", ".join(PROVIDERS)
        raise errors.StartRefused(f"the provider {provider} is unknown; known are {known}")
    named = {"embedding_provider": provider, "embedding_model": model}
    return choose_embedder(settings.model_copy(update=named))
