"""The change from the local model to the encoder for which it stands in.

A server does this in rounds of upkeep, after it has downloaded the encoder. The change itself is
the one of `textrawl embed`, and clients can read and write meanwhile.
"""

import logging
from dataclasses import dataclass

import anyio

from textrawl.embeddings import Embedder
from textrawl.embeddings.active_model import StoredModel, ask_once, describe_model
from textrawl.errors import EmbeddingUnavailable
from textrawl.postgres.sqlstates import DataRefused
from textrawl.store.backlog import fill_batch, queue_facts
from textrawl.store.store import Store

logger = logging.getLogger("textrawl")

_LOADING = 5.0  # seconds that a round waits for the encoder
_VECTORS_MISSING = "TR045"


@dataclass(frozen=True)
class _Started:
    start_awaited_model: int | None


@dataclass(frozen=True)
class _Switched:
    switch_awaited_model: str | None


@dataclass(frozen=True)
class _Reported:
    report_awaited_model: bool


async def follow_awaited(memory: Store) -> None:
    """Download the awaited encoder, make its vectors and switch to it, as far as is possible now.

    Raises DatabaseUnavailable.
    """
    awaited = memory.models.awaited
    if awaited is None:
        return
    try:
        with anyio.move_on_after(_LOADING):
            await awaited.warm()
        await ask_once(awaited)  # raises with the progress of the download
        await _switch(memory, awaited)
    except EmbeddingUnavailable as obstacle:
        await memory.database.call(
            "report_awaited_model", _Reported, name=awaited.name, obstacle=obstacle.fix
        )


async def _switch(memory: Store, awaited: Embedder) -> None:
    started = await memory.database.call("start_awaited_model", _Started, **describe_model(awaited))
    number = started[0].start_awaited_model
    if number is None:  # another server was first, or the owner changes the model
        return
    model = StoredModel(number, awaited)
    while await queue_facts(memory.database, model):
        pass
    while await fill_batch(memory.database, model):
        pass
    try:
        [row] = await memory.database.call("switch_awaited_model", _Switched)
    except DataRefused as refused:
        if refused.code != _VECTORS_MISSING:
            raise
        return  # the next round goes on
    memory.models.forget()
    if row.switch_awaited_model is not None:
        logger.warning(
            "%s is in use from now on. `textrawl embed rollback` returns to the local model",
            row.switch_awaited_model,
        )
