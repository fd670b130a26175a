"""The operations of the `journal` toolset: they call SQL functions and embed what is new.

They read and write only the caller's home space.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from textrawl.access.principal import Caller
from textrawl.postgres.sqlstates import DataRefused
from textrawl.store.document_vectors import embed_document, find_document_model
from textrawl.store.store import Store
from textrawl.toolsets.journal.rows import (
    DeletedRow,
    EntryRow,
    HitRow,
    ListedRow,
    WrittenRow,
)
from textrawl.values.long_text import split_text


@dataclass(frozen=True)
class EntryKey:
    """The key of an entry. Without `instance` and `slug`, several entries can match it."""

    granularity: str
    date: str
    instance: str | None = None
    slug: str | None = None

    @property
    def arguments(self) -> dict[str, object]:
        """The arguments of SQL functions."""
        return {
            "granularity": self.granularity,
            "date": self.date,
            "instance": self.instance,
            "slug": self.slug,
        }


@dataclass(frozen=True)
class Listing:
    """A page of entries. Without `granularity`, entries of all granularities."""

    granularity: str | None
    before: date | None
    after: date | None
    limit: int
    skip: int


@dataclass(frozen=True)
class JournalSearch:
    """A search. If the client made a vector of the query, `embedding` has its numbers."""

    query: str
    instance: str | None
    embedding: Sequence[float] | None
    min_score: float
    limit: int


class JournalOperations:
    """The journal of one space."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._call = store.database.call

    async def write(
        self,
        key: EntryKey,
        content: str,
        caller: Caller,
        *,
        chat_ids: Sequence[str] = (),
        participants: Sequence[str] | None = None,
        only_new: bool = False,
    ) -> WrittenRow:
        """Store an entry. Merge a daily text with the text that its instance has for the day.

        With `only_new`, change nothing if the entry exists.
        """
        model = await find_document_model(self._store, split_text(content))
        try:
            [row] = await self._call(
                "write_entry",
                WrittenRow,
                **key.arguments,
                content=content,
                chat_ids=list(chat_ids),
                participants=None if participants is None else list(participants),
                only_new=only_new,
                extracting=self._store.extracts,
                **caller.writing,
            )
        except DataRefused as refusal:
            raise refusal.explain() from refusal
        if row.changed:
            await embed_document(self._store, model, row.space_id, row.document_id)
        return row

    async def update(
        self, key: EntryKey, content: str, editor: str | None, caller: Caller
    ) -> WrittenRow:
        """Replace the text of an entry, or create the entry."""
        model = await find_document_model(self._store, split_text(content))
        try:
            [row] = await self._call(
                "update_entry",
                WrittenRow,
                **key.arguments,
                content=content,
                editor=editor,
                extracting=self._store.extracts,
                **caller.writing,
            )
        except DataRefused as refusal:
            raise refusal.explain() from refusal
        if row.changed:
            await embed_document(self._store, model, row.space_id, row.document_id)
        return row

    async def read(self, key: EntryKey, caller: Caller) -> EntryRow | None:
        """Return the oldest entry that matches the key, or None."""
        try:
            rows = await self._call("read_entry", EntryRow, **key.arguments, **caller.reading_home)
        except DataRefused as refusal:
            raise refusal.explain() from refusal
        return rows[0] if rows else None

    async def delete(self, key: EntryKey, caller: Caller) -> DeletedRow:
        """Delete an entry for good."""
        try:
            [row] = await self._call("delete_entry", DeletedRow, **key.arguments, **caller.writing)
        except DataRefused as refusal:
            raise refusal.explain() from refusal
        return row

    async def list_page(self, listing: Listing, caller: Caller) -> list[ListedRow]:
        """Return a page of entries, newest first. An empty page is one row with the total."""
        return await self._call(
            "list_entries",
            ListedRow,
            of_granularity=listing.granularity,
            before_date=listing.before,
            after_date=listing.after,
            max_rows=listing.limit,
            skip=listing.skip,
            **caller.reading_home,
        )

    async def search(self, search: JournalSearch, caller: Caller) -> tuple[list[HitRow], bool]:
        """Return entries, best first, and whether the search used vectors.

        Raises ArgumentInvalid for an embedding of another size than the vectors of the memory.
        """
        return await self._store.search(lambda: self._search(search, caller))

    async def _search(self, search: JournalSearch, caller: Caller) -> tuple[list[HitRow], bool]:
        model, vector, _ = await (
            self._store.try_to_embed_query(search.query)
            if search.embedding is None
            else self._store.check_query_vector(search.embedding, "queryEmbedding")
        )
        rows = await self._call(
            "search_journal",
            HitRow,
            query=search.query,
            instance=search.instance,
            min_score=search.min_score,
            max_rows=search.limit,
            model=model,
            vector=vector,
            **caller.reading_home,
        )
        return rows, vector is not None
