"""Which embedding model a memory is searched with, and the embedder that speaks for it.

That is for the database to say: vectors of two models cannot be compared. What the settings name
becomes the model of a memory that has none yet; one that has is served with its own, and changed
by `textrawl embed` while servers run. They follow within seconds.
"""

import logging
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass

import anyio

from textrawl import errors
from textrawl.embeddings import Embedder, choose_embedder
from textrawl.embeddings.rows import KnownModelRow, ModelRow
from textrawl.postgres.database import Database
from textrawl.postgres.sqlstates import ANOTHER_MODEL_IS_ACTIVE, DataRefused
from textrawl.settings import Settings

logger = logging.getLogger("textrawl")

PROVIDERS = ("openai", "ollama", "local")

_BELIEVED = 2.0  # seconds for which a model is taken for the active one before asking again
_PAUSE = 0.5  # seconds until asking again after it failed
_GREETING = "textrawl"

Choose = Callable[[str], Embedder | None]


@dataclass(frozen=True)
class Model:
    """A model of the memory, with the embedder that makes its vectors."""

    model_id: int
    embedder: Embedder


class Models:
    """The models of one memory; `configured` is what the settings name, None for keywords alone.

    `choose` makes the embedder for a model of another name, such as openai:bge-m3. `chosen` says
    that somebody asked for `configured`: then it is told where the memory has another model.
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
        self._choose = choose
        self._chosen = chosen
        self._read_only = read_only
        self._clock = clock
        self._embedders: dict[str, Embedder] = {configured.name: configured} if configured else {}
        self._kept: list[Model] = []
        self._active: Model | None = None
        self._missing: errors.EmbeddingUnavailable | None = None
        self._believed_until = 0.0
        self._refreshed: anyio.Event | None = None
        self._told = ""

    @property
    def has_vectors(self) -> bool:
        """Whether this server searches by meaning at all."""
        return self._configured is not None

    async def find_active(self) -> Model:
        """The model that questions are compared with.

        Raises EmbeddingNotConfigured, EmbeddingUnavailable, DatabaseUnavailable.
        """
        if self._configured is None:
            raise errors.EmbeddingNotConfigured
        while self._clock() >= self._believed_until:
            if self._refreshed is None:
                await self._lead(self._configured)
            elif self._active is None:
                await self._refreshed.wait()
            else:
                break  # another call asks already: until then what was active is
        if self._active is None:
            missing = self._missing or errors.EmbeddingUnavailable("Retry in a few seconds")
            raise missing.with_traceback(None)
        return self._active

    async def find_served(self) -> list[Model]:
        """The active model, and those before it, which still get vectors until they are dropped."""
        return [await self.find_active(), *self._kept]

    def forget(self) -> None:
        """The next call asks the database which model is active."""
        self._believed_until = 0.0

    async def aclose(self) -> None:
        """Closes the embedders that were made here: the configured one is its owner's."""
        for embedder in self._embedders.values():
            if embedder is not self._configured:
                await embedder.aclose()

    async def _lead(self, configured: Embedder) -> None:
        """Asks, for every call that needs to know."""
        refreshed = self._refreshed = anyio.Event()
        try:
            await self._refresh(configured)
            self._believed_until = self._clock() + _BELIEVED
        except errors.TextrawlError as error:
            self._believed_until = self._clock() + _PAUSE
            known = isinstance(error, errors.EmbeddingUnavailable)
            self._missing = error if known else errors.EmbeddingUnavailable(error.fix)
            raise
        finally:
            self._refreshed = None
            refreshed.set()

    async def _refresh(self, configured: Embedder) -> None:
        known = await self._database.call("embedding_models", KnownModelRow)
        active = next((row for row in known if row.status == "active"), None)
        if active is None:
            if self._read_only:
                raise errors.NothingEmbedded
            await ask_once(configured)
            await self._register(configured)
            await self._refresh(configured)  # another server may have been quicker
            return
        self._tell_difference(active.name, configured.name)
        self._missing = None
        try:
            if self._active is None or self._active.model_id != active.model_id:
                self._active = await self._open(active)
                await self._register(self._active.embedder)
        except errors.EmbeddingUnavailable as missing:
            self._active, self._missing = None, missing
            return
        self._kept = []
        for row in known:
            if row.status == "previous":
                with suppress(errors.EmbeddingUnavailable):
                    self._kept.append(await self._open(row))

    async def _open(self, row: KnownModelRow) -> Model:
        embedder = self._embedders.get(row.name)
        if embedder is None:
            embedder = self._embedders[row.name] = self._make(row.name)
        if embedder.dimensions is None:
            embedder.dimensions = row.dimensions
        if embedder.dimensions != row.dimensions:
            raise _refuse_dimensions(row.name)
        return Model(row.model_id, embedder)

    def _make(self, name: str) -> Embedder:
        try:
            embedder = self._choose(name) if self._choose else None
        except errors.StartRefused as refused:
            raise errors.EmbeddingUnavailable(
                f"The vectors of this memory are of {name}, which cannot be asked: {refused}"
            ) from refused
        if embedder is None:
            raise errors.EmbeddingUnavailable(f"The vectors of this memory are of {name}")
        return embedder

    async def _register(self, embedder: Embedder) -> None:
        """Makes the model of `embedder` the first one, unless another has just become it.

        Of one that is known already it brings up to date what its cosines mean.
        """
        await embedder.warm()
        if self._read_only:
            return
        try:
            await self._database.call(
                "register_embedding_model", ModelRow, **describe_model(embedder)
            )
        except DataRefused as refusal:
            if refusal.code != ANOTHER_MODEL_IS_ACTIVE:
                raise

    def _tell_difference(self, active: str, configured: str) -> None:
        if not self._chosen or active in (configured, self._told):
            return
        self._told = active
        provider, _, model = configured.partition(":")
        logger.warning(
            "The vectors of this memory are of %s, and it is served with that, not with the %s of "
            "the settings. To change it run `textrawl embed start --provider %s --model %s`, then "
            "`textrawl embed switch`",
            active, configured, provider, model,
        )  # fmt: skip


async def ask_once(embedder: Embedder) -> None:
    """Let the provider answer, with nobody's text. Raises EmbeddingUnavailable.

    A memory is bound to a model for good: not to one that never made a vector.
    """
    await embedder.embed_documents([_GREETING])


def describe_model(embedder: Embedder) -> Mapping[str, object]:
    """What the database keeps of the model of an embedder that knows its dimensions."""
    scale = embedder.model.scale
    return {
        "name": embedder.name, "dimensions": embedder.dimensions, "cosine_floor": scale.floor,
        "cosine_ceiling": scale.ceiling, "trust": scale.trust,
    }  # fmt: skip


def choose_named(settings: Settings, name: str) -> Embedder | None:
    """The embedder of a model by the name that it has in the database. Raises StartRefused."""
    provider, _, model = name.partition(":")
    if provider not in PROVIDERS:
        raise errors.StartRefused(f"there is no provider {provider}, only {', '.join(PROVIDERS)}")
    named = {"embedding_provider": provider, "embedding_model": model}
    return choose_embedder(settings.model_copy(update=named))


def _refuse_dimensions(name: str) -> errors.EmbeddingUnavailable:
    return errors.EmbeddingUnavailable(
        f"The model {name} sends other dimensions than it did: let the provider serve the model "
        "that was used before, or build the vectors anew under another name with `textrawl embed`"
    )
