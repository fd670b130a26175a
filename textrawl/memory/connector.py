"""The items that connectors cite: a fact, an entity or a document, each with a typed id.

An id is `fact:UUID`, `entity:UUID` or `document:UUID`. A number can follow that of an entity or a
document, because one answer does not hold all of it: the number of newer facts that are left out
together with the relations, or the number of the chunk to begin with.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal, LiteralString, TypeVar, cast
from uuid import UUID

from textrawl.errors import ItemNotFound
from textrawl.memory.fact_rows import EntityRow
from textrawl.memory.facts import MemoryOperations
from textrawl.memory.store import StoreCall

Kind = Literal["fact", "entity", "document"]

_ID = re.compile(
    r"(fact|entity|document):([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?::([0-9]{1,9}))?"
)
_MOST_FACTS = 1000  # of an entity in one answer


@dataclass(frozen=True)
class ItemId:
    """The id of an item. `place` says where the text begins; None: at its beginning."""

    kind: Kind
    id: UUID
    place: int | None = None

    def __str__(self) -> str:
        """Return the id as text."""
        place = "" if self.place is None else f":{self.place}"
        return f"{self.kind}:{self.id}{place}"


def read_item_id(text: str) -> ItemId:
    """Return the id in a text. Raises ItemNotFound if nothing can have this id."""
    found = _ID.fullmatch(text.lower())
    if found is None or (found[1] == "fact" and found[3]):
        raise ItemNotFound
    place = int(found[3]) if found[3] else None
    return ItemId(cast("Kind", found[1]), UUID(found[2]), place)


@dataclass(frozen=True)
class FetchedFact:
    """A fact or the statement of a relation of fetch_fact. `wrong` is the reason, or None."""

    id: UUID
    space: str
    entity_id: UUID
    entity_name: str
    entity_type: str
    content: str
    is_relation: bool
    source: str
    author: str
    said_at: datetime
    valid_from: datetime
    valid_until: datetime | None
    valid: bool
    replaced_by: UUID | None
    wrong: str | None
    origin: str
    repository: str | None


@dataclass(frozen=True)
class EntityPlace:
    """The space of an entity, and its name there, from fetch_entity."""

    id: UUID
    space: str
    name: str


@dataclass(frozen=True)
class FetchedChunk:
    """A chunk of a document of fetch_document, and the line in which it begins."""

    id: UUID
    graph: str
    label: str
    path: str
    updated_at: datetime
    part: int
    line: int
    content: str
    next_part: int | None


# Each of these functions raises ItemNotFound for an item that the caller cannot read. The error is
# the same for an id that nothing has.


async def find_fact(call: StoreCall, item: ItemId) -> FetchedFact:
    """Return a fact, also one that has ended. Raises ItemNotFound."""
    return _take_first(await _read_facts(call, "fetch_fact", FetchedFact, fact=item.id))


async def find_entity(call: StoreCall, item: ItemId) -> EntityPlace:
    """Return the name and the space of an entity. Raises ItemNotFound."""
    return _take_first(await _read_facts(call, "fetch_entity", EntityPlace, entity=item.id))


async def describe_item(call: StoreCall, item: ItemId) -> EntityRow:
    """Return an entity with its facts, the newest first. Raises ItemNotFound.

    The facts before the place of `item` are left out.
    """
    place = await find_entity(call, item)
    row = await MemoryOperations(call.store).describe(
        place.name,
        replace(call.caller, principal=call.caller.principal.pin(place.space)),
        max_observations=_MOST_FACTS,
        with_relations=item.place is None,
        skip=item.place or 0,
    )
    return _take_first([row] if row else [])


async def read_document(
    call: StoreCall, item: ItemId, graphs: Sequence[str] | None, ceiling: int
) -> list[FetchedChunk]:
    """Return the chunks of a document from the place of `item` on, as many as are allowed.

    `graphs` has the names of the only graphs, or is None. `ceiling` is a number of tokens. Raises
    ItemNotFound.
    """
    rows = await call.store.call(
        "fetch_document",
        FetchedChunk,
        document=item.id,
        first_part=item.place,
        ceiling=ceiling,
        graphs=None if graphs is None else list(graphs),
        credential=call.caller.principal.credential,
    )
    _take_first(rows)
    return rows


Row = TypeVar("Row")


async def _read_facts(
    call: StoreCall, function: LiteralString, row: type[Row], /, **arguments: object
) -> list[Row]:
    """Return rows about facts, or none for a caller who reads only graphs, which hold no facts."""
    if not call.caller.principal.readable:
        return []
    return await call.store.call(function, row, **arguments, **call.caller.reading)


def _take_first(rows: Sequence[Row]) -> Row:
    if not rows:
        raise ItemNotFound
    return rows[0]
