"""The import of an export into a memory, in batches.

A line is known if the memory has its id, the name of its entity, or the text of its fact or
relation. A known line is not stored again, and later lines that refer to it then refer to the
stored row. A wrong line is skipped and reported with its number. All other lines are stored.
"""

import struct
import time
from collections.abc import AsyncIterable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import anyio
from pgvector import HalfVector

from textrawl.archive.exports import KINDS, Vector, read_vector
from textrawl.archive.lines import (
    OF_ANOTHER_LINE,
    OF_GRAPHS,
    CiphertextLine,
    Content,
    ExportedModel,
    FactLine,
    Footer,
    InstanceLine,
    LineRefused,
    MemoryLine,
    SnapshotLine,
    SpaceLine,
    read_header,
    read_line,
)
from textrawl.errors import StartRefused
from textrawl.postgres.owner_session import BatchRefused, Session, as_json
from textrawl.postgres.vector_indexes import IndexSuspension

_REPLACEMENT = struct.Struct("<qi?16s16s")
"""The number of a line, its space, True if its fact is new, and the ids of the fact and of its
replacement. An import can have millions of them."""
_BATCH = 1_000
_HEAVIEST = 4 << 20  # bytes of a batch
_REFERENCES = (
    "entity",
    "from_entity",
    "to_entity",
    "edge",
    "from_memory",
    "to_memory",
    "document",
    "described_by",
    "one",
    "other",
)
_RULED = ("space", "entity", "alias", "fact", "relation", "document", "version", "ciphertext")
"""Kinds with rules of their own. The rows of other lines only have to be stored."""
_TRAIL_COUNTS = ("entities", "facts", "relations")
_REASONS = {
    "another": "another {kind} here has this id",
    "unknown language": "this Postgres has no text search configuration of its language",
    "homeless": "the row that it refers to is missing: its line must come earlier",
    "misplaced": "only graphs hold sources, and they hold nothing else",
    "facts": "the space here holds facts, but the space of the file is a graph",
    "graph": "the space here is a graph, but the space of the file holds facts",
    "open": "the tier here shows more: first run `textrawl space tier` with the tier of the file",
    "inexact": "an exact text is the JSON of an item with at most 190 levels, and other documents "
    "have no exact text",
    "another key": "the graph here has another key than the graph of the file",
    "shared key": "another graph here has the key of the graph of the file: rename that graph to "
    "the name in the file first, or leave it out",
    "sealed": "the graph here is sensitive, so it takes only encrypted documents",
    "taken": "another entity here has this name",
    "undone": "an undo took it back: first run `textrawl undo --revert` or `textrawl undo --purge`",
    "reviewed": "the space reviews external facts: first run "
    "`textrawl space review SPACE --external --off`",
    "refused": "the database refuses it",
}

Complain = Callable[[int, str], object]
Row = tuple[int, Any, str]
"""The place of a line in its batch, the id under which it is stored, and the outcome."""


@dataclass
class Tally:
    """Counts of the lines of an import by outcome.

    `loose` is the number of facts that were stored without a link to their replacement, because the
    replacement is missing. `whole` is false if lines of the file are missing. If vectors were not
    stored, `left_out` is the reason. `without_vector` is the number of new facts without a vector.
    `cleaned` texts were stored without hidden characters. `proposed` facts and relations wait for a
    review.
    """

    added: dict[str, int] = field(default_factory=lambda: dict.fromkeys(KINDS, 0))
    known: dict[str, int] = field(default_factory=lambda: dict.fromkeys(KINDS, 0))
    bad: int = 0
    loose: int = 0
    whole: bool = False
    seconds: float = 0.0
    left_out: str | None = None
    without_vector: int = 0
    cleaned: int = 0
    proposed: int = 0


@dataclass(frozen=True)
class ImportItem:
    """A line with its number, and the values that a SQL function gets."""

    number: int
    line: Content
    payload: dict[str, Any]
    vector: Vector | None = None


class Import:
    """An import into the memory of `session`.

    `complain` gets the number of each bad line and the reason. `size` is the size of the file in
    bytes, or None. For a large file, the vector index is dropped first and built at the end.
    """

    def __init__(self, session: Session, complain: Complain, size: int | None = None) -> None:
        self.tally = Tally()
        self._session, self._complain = session, complain
        self._batch: list[ImportItem] = []
        self._weight = self._position = 0
        self._suspension = IndexSuspension(session, size)
        self._spaces: dict[str, int] = {}
        self._graphs: dict[str, str] = {}
        self._refused_spaces: set[str] = set()
        self._stored_ids: dict[tuple[int, UUID], UUID] = {}
        self._trail: dict[int, dict[str, int]] = {}
        self._replacements = bytearray()
        self._model: tuple[int, int] | None = None
        self._dimensions: int | None = None
        self._lines = 0
        self._footer: Footer | None = None

    async def run(self, lines: AsyncIterable[tuple[int, bytes | None]]) -> Tally:
        """Import the lines of an export. Raises StartRefused, DatabaseUnavailable."""
        begin, begun = time.perf_counter(), False
        self._spaces = await self._session.find_spaces()
        self._graphs = await self._session.find_graphs()
        try:
            async for number, raw in lines:
                if begun:
                    await self._take(number, raw)
                else:
                    await self._begin(raw)
                    begun = True
            if not begun:
                raise StartRefused("Nothing was imported: the file is empty")
            await self._store()
            await self._replace()
        finally:
            with anyio.CancelScope(shield=True):
                await self._record()
        self._check_end()
        self.tally.seconds = time.perf_counter() - begin
        return self.tally

    async def _begin(self, raw: bytes | None) -> None:
        try:
            header = read_header(raw or b"")
        except LineRefused as refused:
            raise StartRefused(f"Nothing was imported: {refused}") from None
        if header.model is not None:
            self._dimensions = header.model.dimensions
            self._model = await self._choose_model(header.model)

    async def _choose_model(self, model: ExportedModel) -> tuple[int, int] | None:
        active = await self._session.find_model()
        if active is None:
            return await self._register(model)
        if (active["name"], active["dimensions"]) == (model.name, model.dimensions):
            return active["id"], model.dimensions
        self.tally.left_out = f"this memory uses {active['name']}, but the file uses {model.name}"
        return None

    async def _register(self, model: ExportedModel) -> tuple[int, int]:
        try:
            [(number,)] = await self._session.call(
                "register_embedding_model",
                model.name,
                model.dimensions,
                model.cosine_floor,
                model.cosine_ceiling,
                model.trust,
            )
        except BatchRefused:
            raise StartRefused("Nothing was imported: the first line's model is invalid") from None
        return number, model.dimensions

    async def _take(self, number: int, raw: bytes | None) -> None:
        if raw is not None and not raw.strip():
            return
        self._lines += 1
        try:
            line = self._read(raw)
            if isinstance(line, Footer):
                self._footer = line
                self._lines -= 1
                return
            await self._flush_before(line, len(raw or b""))
            self._batch.append(self._prepare(number, line))
        except LineRefused as refused:
            self.refuse(number, str(refused))

    def _read(self, raw: bytes | None) -> Content | Footer:
        if raw is None:
            raise LineRefused("too long")
        if self._footer is not None:
            raise LineRefused("comes after the line that ends the export")
        line, changed = read_line(raw)
        self.count_cleaned(changed)
        return line

    def count_cleaned(self, number: int) -> None:
        """Count texts of the file that are stored without some of their characters."""
        self.tally.cleaned += number

    async def _flush_before(self, line: Content, weight: int) -> None:
        """Store the batch if it is full, or if `line` has another kind and can refer to it."""
        full = len(self._batch) >= _BATCH or self._weight + weight > _HEAVIEST
        if self._batch and (full or self._batch[0].line.kind != line.kind):
            await self._store()
        self._weight += weight
        self._position += weight

    def _prepare(self, number: int, line: Content) -> ImportItem:
        payload = line.model_dump(mode="json", exclude={"kind", "vector", "replaced_by"})
        payload["place"] = len(self._batch)
        if isinstance(line, SpaceLine):
            return ImportItem(number, line, payload)
        payload["space"] = space = self._find_space(line.space, line)
        own = ("id",) if isinstance(line, OF_ANOTHER_LINE) else ()
        for name in (*_REFERENCES, *own):
            if payload.get(name) is not None:
                payload[name] = str(self._find(space, UUID(payload[name])))
        if isinstance(line, MemoryLine) and payload["id"] != line.id:
            payload["saved"] = False  # the fact was here before, so gc must not take it
        return ImportItem(number, line, payload, self._read_vector(line))

    def _find_space(self, name: str, line: Content) -> int:
        if name in self._refused_spaces:
            raise LineRefused(f"the line of the space {name} was refused")
        if name not in self._spaces:
            raise LineRefused(f"there is no space {name}: its line must come earlier")
        if self._graphs.get(name) == "sensitive" and not isinstance(line, CiphertextLine):
            raise LineRefused(
                f"{name} is sensitive: run `textrawl space tier {name} sensitive` before the "
                "export, which encrypts it"
            )
        if name in self._graphs and not isinstance(line, (*OF_GRAPHS, CiphertextLine)):
            raise LineRefused(f"{name} is a graph, which holds only sources")
        return self._spaces[name]

    def _read_vector(self, line: Content) -> Vector | None:
        if not isinstance(line, FactLine) or line.vector is None:
            return None
        if self._dimensions is None:
            raise LineRefused("has a vector, but the first line names no model")
        try:
            vector = read_vector(line.vector, self._dimensions)
        except ValueError as error:
            raise LineRefused(f"vector {error}") from None
        return vector if self._model else None

    def _find(self, space: int, original: UUID) -> UUID:
        """Return the id in this memory for an id in the file."""
        return self._stored_ids.get((space, original), original)

    async def _store(self) -> None:
        batch, self._batch = self._batch, []
        weight, self._weight = self._weight, 0
        if not batch:
            return
        stored, new = list[tuple[ImportItem, UUID]](), 0
        for place, stored_id, outcome in await self._call(batch):
            item = batch[place]
            if outcome in _REASONS:
                if isinstance(item.line, SpaceLine):
                    self._refused_spaces.add(item.line.name)
                self.refuse(item.number, _REASONS[outcome].format(kind=item.line.kind))
                continue
            self._count(item, stored_id, outcome)
            if isinstance(item.line, FactLine):
                stored.append((item, stored_id))
                new += outcome == "added" and item.vector is not None
                self.tally.without_vector += outcome == "added" and item.vector is None
        if self._model and new:
            await self._suspension.prepare(self._model[0], new, weight, self._position)
        await self._store_vectors(stored)

    async def _call(self, batch: list[ImportItem]) -> list[Row]:
        """Return the outcome of each line. Split a refused batch until the bad line is alone."""
        try:
            rows = await self._import_rows(batch[0].line.kind, batch)
        except BatchRefused:
            if len(batch) == 1:
                return [(batch[0].payload["place"], None, "refused")]
            half = len(batch) // 2
            return [*await self._call(batch[:half]), *await self._call(batch[half:])]
        return [(place, stored_id, outcome) for place, stored_id, outcome in rows]

    async def _import_rows(self, kind: str, batch: Sequence[ImportItem]) -> list[Row]:
        lines = as_json([item.payload for item in batch])
        if kind in _RULED:
            return await self._session.call("import_" + KINDS[kind], lines)
        return await self._session.call("import_rows", lines, kind)

    def _count(self, item: ImportItem, stored_id: Any, outcome: str) -> None:
        kind, line = item.line.kind, item.line
        if outcome == "proposed":
            self.tally.proposed += kind in ("fact", "relation")
            return
        (self.tally.added if outcome == "added" else self.tally.known)[kind] += 1
        if isinstance(line, SpaceLine):
            self._spaces[line.name] = stored_id
            if line.tier is not None:
                self._graphs[line.name] = line.tier
            return
        space = item.payload["space"]
        if outcome == "added":
            counts = self._trail.setdefault(space, dict.fromkeys(_TRAIL_COUNTS, 0))
            counts[KINDS[kind]] = counts.get(KINDS[kind], 0) + 1
        if isinstance(line, InstanceLine | SnapshotLine):
            return  # no other line refers to it
        original = UUID(line.id)
        if stored_id != original:
            self._stored_ids[space, original] = stored_id
        if isinstance(line, FactLine) and line.replaced_by is not None:
            own = stored_id.bytes, UUID(line.replaced_by).bytes
            self._replacements += _REPLACEMENT.pack(item.number, space, outcome == "added", *own)

    async def _store_vectors(self, stored: list[tuple[ImportItem, UUID]]) -> None:
        # Skip the vector of a fact that is stored under another id, because the stored text can
        # be written differently.
        vectors = [
            (item.payload["space"], stored_id, HalfVector(item.vector))
            for item, stored_id in stored
            if item.vector is not None and str(stored_id) == item.payload["id"]
        ]
        if not vectors or self._model is None:
            return
        await self._session.call(
            "fill_pending_embeddings",
            self._model[0],
            [space for space, _, _ in vectors],
            [fact for _, fact, _ in vectors],
            [vector for _, _, vector in vectors],
        )

    async def _replace(self) -> None:
        size = _REPLACEMENT.size * _BATCH
        for begin in range(0, len(self._replacements), size):
            batch = list(_REPLACEMENT.iter_unpack(self._replacements[begin : begin + size]))
            loose: list[tuple[int, ...]] = await self._session.call(
                "import_replacements",
                [space for _, space, *_ in batch],
                [UUID(bytes=fact) for *_, fact, _ in batch],
                [self._find(space, UUID(bytes=successor)) for _, space, *_, successor in batch],
                [new for _, _, new, *_ in batch],
            )
            for (place,) in loose:
                self.tally.loose += 1
                self._complain(
                    batch[place - 1][0], "replaced_by names no fact: stored without a replacement"
                )

    async def _record(self) -> None:
        if self._trail:
            trail = [{"space": space, **added} for space, added in self._trail.items()]
            await self._session.call("record_import", as_json(trail))
            await self._session.call("refresh_search_statistics")

    def refuse(self, number: int, reason: str) -> None:
        """Count a line or a part of a line as bad, and report the reason."""
        self.tally.bad += 1
        self._complain(number, reason)

    def _check_end(self) -> None:
        self.tally.whole = self._footer is not None and self._footer.count() == self._lines
