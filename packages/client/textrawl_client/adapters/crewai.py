"""CrewAI: a storage of `Memory`, and the embedder that belongs to it.

CrewAI asks a storage with a vector, and textrawl searches with words and vectors of its own. So
`embed` gives CrewAI numbers for each text, by which `search` finds the text again. Records are
items, because CrewAI keeps them in scopes, with categories, and changes and deletes them by id.
"""

import asyncio
import hashlib
import struct
from collections import Counter, OrderedDict
from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import partial
from itertools import islice
from typing import Any

from crewai.memory.types import MemoryRecord, ScopeInfo

from textrawl_client.adapters.pages import put_all, read_pages
from textrawl_client.client import SyncClient
from textrawl_client.items import Put

_MOST_TEXTS = 10_000


class TextrawlStorage:
    """Records of crews in a memory: `Memory(storage=storage, embedder=storage.embed)`.

    A search by a vector that `embed` of this object did not make raises LookupError. Every method
    raises the errors of `ItemStore`.
    """

    def __init__(self, memory: SyncClient, *, namespace: Sequence[str] = ("crewai",)) -> None:
        self._items = memory.items
        self._root = tuple(namespace)
        self._texts = OrderedDict[tuple[float, ...], str]()

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return numbers for each text. Only the same text has the same ones."""
        vectors = [_hash(text) for text in texts]
        self._texts.update(zip(map(tuple, vectors), texts, strict=True))
        while len(self._texts) > _MOST_TEXTS:
            self._texts.popitem(last=False)
        return vectors

    def save(self, records: list[MemoryRecord]) -> None:
        """Store records."""
        puts = {self._name(record): self._write(record) for record in records}
        put_all(self._items, puts.values())

    def search(
        self,
        query_embedding: list[float],
        scope_prefix: str | None = None,
        categories: list[str] | None = None,
        metadata_filter: dict[str, Any] | None = None,
        limit: int = 10,
        min_score: float = 0.0,
    ) -> list[tuple[MemoryRecord, float]]:
        """Return the records that answer the text of this vector, with scores, the best first."""
        found = self._read(scope_prefix, categories, metadata_filter, query_embedding)
        return list(islice((one for one in found if one[1] >= min_score), limit))

    def delete(
        self,
        scope_prefix: str | None = None,
        categories: list[str] | None = None,
        record_ids: list[str] | None = None,
        older_than: datetime | None = None,
        metadata_filter: dict[str, Any] | None = None,
    ) -> int:
        """Delete the records to which all arguments apply, and return their number."""
        gone = [
            record
            for record, _ in self._read(scope_prefix, categories, metadata_filter)
            if (not record_ids or record.id in record_ids)
            and (older_than is None or record.created_at < older_than)
        ]
        put_all(self._items, (), [self._name(record) for record in gone])
        return len(gone)

    def update(self, record: MemoryRecord) -> None:
        """Replace the record with the same id, also in another scope."""
        before = self.get_record(record.id)
        former = {self._name(before)} - {self._name(record)} if before else ()
        put_all(self._items, [self._write(record)], [*former])

    def get_record(self, record_id: str) -> MemoryRecord | None:
        """Return a record, or None."""
        found = self._items.list(self._root, filter={"id": record_id}, limit=1)
        return MemoryRecord.model_validate(found[0].value) if found else None

    def list_records(
        self, scope_prefix: str | None = None, limit: int = 200, offset: int = 0
    ) -> list[MemoryRecord]:
        """Return the records of a scope, the newest first."""
        return [record for record, _ in islice(self._read(scope_prefix), offset, offset + limit)]

    def get_scope_info(self, scope: str) -> ScopeInfo:
        """Return the numbers and times of a scope with the scopes below it."""
        records = [record for record, _ in self._read(scope)]
        times = [record.created_at for record in records]
        return ScopeInfo(
            path=scope,
            record_count=len(times),
            categories=sorted({name for record in records for name in record.categories}),
            oldest_record=min(times, default=None),
            newest_record=max(times, default=None),
            child_scopes=self.list_scopes(scope),
        )

    def list_scopes(self, parent: str = "/") -> list[str]:
        """Return the scopes directly below a scope."""
        place = self._place(parent)
        below = read_pages(partial(self._items.namespaces, place, depth=len(place) + 1))
        return ["/" + "/".join(each[len(self._root) :]) for each in below if each != place]

    def list_categories(self, scope_prefix: str | None = None) -> dict[str, int]:
        """Return the number of records of each category."""
        records = (record for record, _ in self._read(scope_prefix))
        return dict(Counter(name for record in records for name in record.categories))

    def count(self, scope_prefix: str | None = None) -> int:
        """Return the number of records in a scope."""
        return sum(1 for _ in self._read(scope_prefix))

    def reset(self, scope_prefix: str | None = None) -> None:
        """Delete all records of a scope."""
        self._items.delete(self._place(scope_prefix))

    async def asave(self, records: list[MemoryRecord]) -> None:
        """Store records, in a thread."""
        await asyncio.to_thread(self.save, records)

    async def asearch(self, *args: Any, **options: Any) -> list[tuple[MemoryRecord, float]]:
        """Search in a thread, with the arguments of `search`."""
        return await asyncio.to_thread(self.search, *args, **options)

    async def adelete(self, *args: Any, **options: Any) -> int:
        """Delete in a thread, with the arguments of `delete`."""
        return await asyncio.to_thread(self.delete, *args, **options)

    def _place(self, scope: str | None) -> tuple[str, ...]:
        return (*self._root, *(label for label in (scope or "").split("/") if label))

    def _name(self, record: MemoryRecord) -> tuple[tuple[str, ...], str]:
        return self._place(record.scope), record.id

    def _write(self, record: MemoryRecord) -> Put:
        return Put(*self._name(record), record.model_dump(mode="json"), index=["content"])

    def _read(
        self,
        scope: str | None,
        categories: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        vector: list[float] | None = None,
    ) -> Iterator[tuple[MemoryRecord, float]]:
        """Yield records of a scope with scores: those that answer a vector, or the newest."""
        place, wanted = self._place(scope), (metadata or {}).items()
        fetch = partial(self._items.list, place, order="updated")
        if vector is not None:
            if tuple(vector) not in self._texts:
                raise LookupError("Create Memory(storage=storage, embedder=storage.embed)")
            fetch = partial(self._items.search, self._texts[tuple(vector)], place)
        for item in read_pages(fetch):
            record = MemoryRecord.model_validate(item.value)
            if categories and set(categories).isdisjoint(record.categories):
                continue
            if wanted <= record.metadata.items():
                yield record, item.score or 0.0


def _hash(text: str) -> list[float]:
    numbers = struct.unpack("<32i", hashlib.shake_256(text.encode()).digest(128))
    return [number / 2**31 for number in numbers]
