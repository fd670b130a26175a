"""Items, which are values under a namespace and a key in one space, and their vectors."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from pydantic import BeforeValidator, Field

from textrawl.errors import ArgumentInvalid
from textrawl.memory.backlog import embed_items, find_document_model
from textrawl.memory.store import Store
from textrawl.wire.replies import OMIT_EMPTY, Key, Part, Score


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


async def embed_stored(store: Store, rows: Sequence[StoredRow]) -> None:
    """Make the vectors of the texts that have changed, or leave them to the upkeep."""
    texts = {row.text_id: row.text for row in rows if row.text and row.text_id}
    if texts:
        model = await find_document_model(store, [*texts.values()])
        await embed_items(store, model, rows[0].space_id, texts)
