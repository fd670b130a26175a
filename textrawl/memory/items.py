"""The operations of the `items` toolset: values under a namespace and a key, in one space."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BeforeValidator, Field

from textrawl.access.principal import Caller
from textrawl.errors import ArgumentInvalid
from textrawl.memory.backlog import embed_items, find_document_model
from textrawl.memory.store import Store
from textrawl.wire.replies import OMIT_EMPTY, Key, Part, Score

Order = Literal["key", "updated"]


@dataclass(frozen=True)
class Value:
    """A value to store. `index` names what search reads: all, nothing, or the paths in a list.

    If `version` is not None, it is the number of the present version, and 0 if there is none.
    """

    namespace: Sequence[str]
    key: str
    value: Any
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])
    ttl: timedelta | None = None
    index: bool | list[str] = True
    version: int | None = None

    def write(self) -> dict[str, Any]:
        """Return the item as put_items takes it."""
        return vars(self) | {"ttl": None if self.ttl is None else self.ttl.total_seconds()}


@dataclass(frozen=True)
class Deletion:
    """An item to delete. If `version` is not None, it is the number of the present version."""

    namespace: Sequence[str]
    key: str
    version: int | None = None


@dataclass(frozen=True)
class ItemSearch:
    """A search, or a list if there is no query. In `prefix`, "*" stands for any label."""

    query: str | None
    prefix: Sequence[str]
    filter: Mapping[str, Any] | None
    limit: int
    offset: int
    order: Order


@dataclass(frozen=True)
class StoredRow:
    """The row of put_item. `text` is the text of which the vectors of a changed item are made."""

    space_id: int
    text_id: UUID | None
    space_name: str
    version: int
    created_at: datetime
    updated_at: datetime
    expires_at: datetime | None
    author: str
    text: str | None


@dataclass(frozen=True)
class PlacedRow(StoredRow):
    """A row of put_items. `place` is the number of the value in its list, from 1."""

    place: int


class ItemPart(Part):
    """A value under a namespace and a key. Structured content has the value also if it is null."""

    space: Annotated[str, Field(validation_alias="space_name")]
    namespace: Annotated[list[str], Key("ns")]
    key: Annotated[str, Key("k")]
    value: Annotated[Any, Key("v")]
    metadata: Annotated[dict[str, Any], Key("meta"), BeforeValidator(lambda members: members or {})]
    version: Annotated[int, Key("ver")]
    created_at: datetime
    updated_at: datetime
    expires_at: datetime | None
    author: str

    def structured(self) -> dict[str, Any]:
        """Return the structured content. Members that are null stay in the value."""
        own = {"value", "metadata"}
        members = self.model_dump(mode="json", by_alias=True, exclude_none=True, exclude=own)
        return members | {"value": self.value, "metadata": self.metadata}

    def compact(self) -> Any:
        """Return the content with short keys, without metadata if there is none."""
        members = super().compact()
        return members if self.metadata else {k: v for k, v in members.items() if k != "meta"}


class FoundPart(ItemPart):
    """An item of a list, with the score of a search."""

    score: Annotated[Score | None, Key("s")] = None


class VersionPart(ItemPart):
    """A stored value of a key, or a deletion."""

    deleted: Annotated[bool | None, Key("gone"), OMIT_EMPTY] = None


def write_value(value: object) -> str:
    """Return a value as JSON, with the order of its members. Raises ArgumentInvalid."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        text.encode()
    except ValueError as error:  # a number that is not finite, or half of a surrogate pair
        raise ArgumentInvalid(f"value: must be JSON in UTF-8: {error}") from error
    return text


def _describe(value: Value, stored: StoredRow) -> dict[str, Any]:
    """Return the members of an item that was stored now."""
    return {
        "space": stored.space_name,
        "namespace": list(value.namespace),
        "key": value.key,
        "value": value.value,
        "metadata": dict(value.metadata),
        "version": stored.version,
        "created_at": stored.created_at,
        "updated_at": stored.updated_at,
        "expires_at": stored.expires_at,
        "author": stored.author,
    }


class ItemOperations:
    """The items of one memory."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def put(self, value: Value, caller: Caller) -> ItemPart:
        """Store a value, and return the item. Raises ItemExists, ItemChanged, ArgumentInvalid."""
        stored = await self._store.call_one(
            "put_item",
            StoredRow,
            namespace=list(value.namespace),
            key=value.key,
            value=write_value(value.value),
            metadata=write_value(dict(value.metadata)),
            ttl=value.ttl,
            index=json.dumps(value.index),
            known=value.version,
            **caller.writing,
        )
        await self._embed([stored])
        return ItemPart(**_describe(value, stored))

    async def put_all(
        self, values: Sequence[Value], deletions: Sequence[Deletion], caller: Caller
    ) -> list[FoundPart]:
        """Store and delete items, all or none, and return those that are stored.

        Raises the errors of `put`.
        """
        rows = await self._store.call(
            "put_items",
            PlacedRow,
            items=write_value([value.write() for value in values]),
            deletions=write_value([vars(deletion) for deletion in deletions]),
            **caller.writing,
        )
        await self._embed(rows)
        return [
            FoundPart(**_describe(values[row.place - 1], row))
            for row in sorted(rows, key=lambda row: row.place)
        ]

    async def _embed(self, rows: Sequence[StoredRow]) -> None:
        """Make the vectors of the texts that have changed, or leave them to the upkeep."""
        texts = {row.text_id: row.text for row in rows if row.text and row.text_id}
        if texts:
            model = await find_document_model(self._store, [*texts.values()])
            await embed_items(self._store, model, rows[0].space_id, texts)

    async def get(
        self, namespace: Sequence[str], key: str, version: int | None, caller: Caller
    ) -> ItemPart | None:
        """Return the present value, or a former one, or None."""
        rows = await self._store.call(
            "get_item",
            ItemPart,
            namespace=list(namespace),
            key=key,
            version=version,
            **caller.reading_home,
        )
        return rows[0] if rows else None

    async def renew(self, item: ItemPart, caller: Caller) -> ItemPart:
        """Let the time to live of an item begin again, if the caller can write."""
        if item.expires_at is None:
            return item
        end: datetime | None = await self._store.call_one(
            "renew_item",
            datetime,
            namespace=item.namespace,
            key=item.key,
            **caller.reading_home,
        )
        return item.model_copy(update={"expires_at": end or item.expires_at})

    async def search(self, search: ItemSearch, caller: Caller) -> list[FoundPart]:
        """Return the items that match, the best first, or a list in the order that is asked for."""

        async def ask() -> list[FoundPart]:
            model, vector = None, None
            if search.query is not None:
                model, vector, _ = await self._store.try_to_embed_query(search.query)
            return await self._store.call(
                "search_items",
                FoundPart,
                query=search.query,
                prefix=list(search.prefix),
                filter=None if search.filter is None else write_value(dict(search.filter)),
                max_rows=search.limit,
                skip=search.offset,
                ordering=search.order,
                model=model,
                vector=vector,
                **caller.reading_home,
            )

        return await self._store.search(ask)
