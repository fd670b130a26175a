"""The import of conversations and notes of another system into a graph, as texts with chunks.

A text begins with the title, the days and the place. Each turn follows with its author and its
time. A turn that is longer than a chunk is cut into several, and each of them names the author
again, so that no chunk passes the words of an assistant off as those of a person.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from uuid import UUID

from anyio import to_thread

from textrawl.access.principal import Caller
from textrawl.archive.formats import ImportFormat
from textrawl.archive.items import (
    Conversation,
    Document,
    ImportedNote,
    ImportFolder,
    ItemSpan,
    SecretGate,
    Turn,
    digest,
)
from textrawl.memory.chunking import (
    MOST_CHARACTERS,
    MOST_TOKENS,
    Chunk,
    chunk_text,
    cut_turn,
    name_cells,
)
from textrawl.memory.documents import LONGEST_LABEL, LONGEST_SOURCE, MOST_CHUNKS
from textrawl.memory.store import Store
from textrawl.values.text import clean_name, clean_text
from textrawl.wire.token_counter import choose_counter

_FEW_TOKENS = 128  # a chunk with fewer also takes the next question
_NAMES = {"user": "User", "assistant": "Assistant"}
_MOST_TITLE = 150
_ROOM = 100_000  # characters of a source that its last turn may need


@dataclass(frozen=True)
class ImportedText:
    """A text to store. `number` counts the parts of a conversation that is too long for one."""

    number: int
    label: str
    text: str
    chunks: list[Chunk]
    kind: str
    at: datetime | None


def write_texts(document: Document, system: str) -> Iterator[ImportedText]:
    """Yield a document as text, in several parts if it is very long. Yield nothing without text."""
    if isinstance(document, ImportedNote):
        yield from _write_note(document)
        return
    pieces = [(turn, piece) for turn in document.turns for piece in _write_turn(turn)]
    begin, number = 0, 1
    while begin < len(pieces):
        end, size = begin, 0
        while end < len(pieces) and size < LONGEST_SOURCE - _ROOM and end - begin < MOST_CHUNKS:
            size += len(pieces[end][1]) + 2
            end += 1
        yield _write_part(document, system, pieces[begin:end], number)
        begin, number = end, number + 1


def _write_note(note: ImportedNote) -> Iterator[ImportedText]:
    text = "\n".join(name_cells(clean_text(note.text).strip().split("\n")))
    for number, begin in enumerate(range(0, len(text), LONGEST_SOURCE), 1):
        part = text[begin : begin + LONGEST_SOURCE]
        if chunks := chunk_text(part, "markdown")[:MOST_CHUNKS]:
            yield ImportedText(number, _number(note.title, number), part, chunks, "file", note.at)


def _write_part(
    conversation: Conversation, system: str, pieces: Sequence[tuple[Turn, str]], number: int
) -> ImportedText:
    period = ItemSpan(conversation.started_at, conversation.started_at)
    for turn, _ in pieces:
        period.add(turn.at)
    title = clean_name(conversation.title) or _find_title(conversation)
    day = f" ({period.first:%Y-%m-%d})" if period.first else ""
    label = _number(title[:_MOST_TITLE] + day, number)
    head = f"# {title}\n{' · '.join(_describe(conversation, system, period))}"
    texts = [head]
    starts = [0]
    place = len(head)
    for _, piece in pieces:
        starts.append(place + 2)
        texts.append(piece)
        place += 2 + len(piece)
    asks = [turn.speaker == "user" for turn, _ in pieces]
    chunks = list(_join(texts, starts, asks))
    return ImportedText(
        number, label, "\n\n".join(texts), chunks, "ai-conversation", period.last or period.first
    )


def _number(title: str, number: int) -> str:
    suffix = f" ({number})" if number > 1 else ""
    return f"{clean_name(title)[: LONGEST_LABEL - len(suffix)] or 'Untitled'}{suffix}"


def _find_title(conversation: Conversation) -> str:
    """Return the beginning of the first text of a person."""
    asked = [turn.text for turn in conversation.turns if turn.speaker == "user"]
    words = clean_name(" ".join((asked or [""])[0][:500].split()))
    return words if len(words) <= 60 else f"{words[:59].rsplit(' ', 1)[0]}…"  # noqa: PLR2004


def _describe(conversation: Conversation, system: str, period: ItemSpan) -> Iterator[str]:
    if period.first and period.last:
        days = dict.fromkeys(f"{day:%Y-%m-%d}" for day in (period.first, period.last))
        yield " to ".join(days)
    yield system
    if conversation.place:
        yield clean_name(conversation.place)


def _write_turn(turn: Turn) -> Iterator[str]:
    """Yield a turn with its author and time, cut into pieces that fit into a chunk."""
    author = _NAMES[turn.speaker]
    if turn.name:
        author = f"{author} {clean_name(turn.name)[:100]}"
    at = f" ({turn.at.astimezone(UTC):%Y-%m-%d %H:%M})" if turn.at else ""
    for number, piece in enumerate(cut_turn(clean_text(turn.text).strip())):
        yield f"{author}{at}{', continued' if number else ''}:\n{piece}"


def _join(texts: Sequence[str], starts: Sequence[int], asks: Sequence[bool]) -> Iterator[Chunk]:
    """Yield chunks of whole pieces. A question begins a chunk, unless the last one is short."""
    count = choose_counter().count
    tokens = [count(text) + 1 for text in texts]
    begin, size, part = 0, tokens[0], 1
    for place in range(1, len(texts) + 1):
        full = place == len(texts) or size + tokens[place] > MOST_TOKENS
        if not full:
            length = starts[place] + len(texts[place]) - starts[begin]
            # The head stays with the first turn.
            asked = place > 1 and asks[place - 1] and size > _FEW_TOKENS
            full = asked or length > MOST_CHARACTERS
        if full:
            end = starts[place - 1] + len(texts[place - 1])
            yield Chunk(part, starts[begin], end - starts[begin], size)
            if place < len(texts):
                begin, size, part = place, tokens[place], part + 1
        else:
            size += tokens[place]


_LONGEST_ID = 200


@dataclass(frozen=True)
class KnownItemRow:
    """A row of `known_items`."""

    source_id: str
    digest: str


@dataclass(frozen=True)
class StoredItemRow:
    """The row of `store_item`. `changed` is false if the graph had the text already."""

    document_id: UUID
    created: bool
    changed: bool
    chunk_count: int


@dataclass
class DocumentImport:
    """An import of documents into one graph, by one caller.

    The ids of all imports of a command begin with `command`. `run` is None until the first document
    is stored, so an import that stores nothing is no run.
    """

    store: Store
    caller: Caller
    graph: str
    form: ImportFormat
    gate: SecretGate
    command: str
    folder: ImportFolder = field(default_factory=ImportFolder)
    counts: Counter[str] = field(default_factory=Counter[str])
    chunks: int = 0
    run: UUID | None = None
    _known: dict[str, str] = field(default_factory=dict[str, str])

    async def begin(self) -> None:
        """Read what earlier imports stored."""
        rows = await self.store.database.call("known_items", KnownItemRow, **self._reading)
        self._known = {row.source_id: row.digest for row in rows}

    async def add(self, documents: Iterable[Document], step: Callable[[], object]) -> None:
        """Store the documents that are new or changed. `step` is called after each."""
        for document in documents:
            await self._add(document)
            step()

    def count_gone(self, seen: Iterable[str]) -> None:
        """Count the stored documents that are not among `seen`, the ids in the files."""
        present = {_shorten(one) for one in seen}
        known = {one.rsplit("#", 1)[0] for one in self._known if self.folder.expects(one)}
        self.counts["gone"] = len(known - present)

    async def finish(self) -> None:
        """End the import."""
        if self.run is None:
            return
        await self.store.database.value(
            "finish_import",
            int,
            run=self.run,
            documents=self.counts["added"] + self.counts["changed"],
            **{key: value for key, value in self._writing.items() if key != "system"},
        )

    @property
    def _reading(self) -> dict[str, object]:
        credential = self.caller.principal.credential
        return {
            "graph": self.graph,
            "system": self.form.name,
            "credential": credential,
        }

    @property
    def _writing(self) -> dict[str, object]:
        return {**self._reading, "client": self.caller.client, "tool": self.caller.tool}

    async def _add(self, document: Document) -> None:
        source, whole = _shorten(document.id), digest(document)
        if self._known.get(f"{source}#1") == self._sign(source, 1, whole):
            self.counts["unchanged"] += 1
            return
        guarded = await to_thread.run_sync(self.gate.admit, document)
        if guarded is None:
            self.counts["refused"] += 1
            return
        texts = await to_thread.run_sync(list, write_texts(guarded, self.form.title))
        if not texts:
            self.counts["empty"] += 1
            return
        if self.run is None:  # or continue an interrupted one
            self.run = await self.store.database.value(
                "start_import",
                UUID,
                **self._writing,
                command=self.command,
                folder=json.dumps(own) if (own := self.folder.describe()) else None,
            )
        # The first part comes last. If the import is killed before, the document is not known yet.
        rows = [await self._store(source, text, whole) for text in reversed(texts)]
        changed = any(row.changed for row in rows)
        self.counts["added" if rows[-1].created else "changed" if changed else "unchanged"] += 1
        self.chunks += sum(row.chunk_count for row in rows if row.changed)

    async def _store(self, source: str, text: ImportedText, whole: str) -> StoredItemRow:
        key = f"{source}#{text.number}"
        return await self.store.call_one(
            "store_item",
            StoredItemRow,
            run=self.run,
            source_id=key,
            path=f"import/{self.form.name}/{key}",
            label=text.label,
            content=text.text,
            chunks=json.dumps(text.chunks),
            sha256=self._sign(source, text.number, whole),
            source_kind=text.kind,
            modified_at=text.at,
            **self._writing,
        )

    def _sign(self, source: str, number: int, whole: str) -> str:
        """Return the digest of a part of a document. Parts with equal texts have different ones."""
        return sha256(f"{self.form.name}\n{source}\n{number}\n{whole}".encode()).hexdigest()


def _shorten(source: str) -> str:
    """Return an id that fits into a path. A long one ends with its hash."""
    clean = " ".join(source.split())
    if clean == source and len(source) <= _LONGEST_ID and source.isprintable():
        return source
    return (
        f"{clean[: _LONGEST_ID - 40]}…{sha256(source.encode('utf-8', 'replace')).hexdigest()[:32]}"
    )


def describe(counts: Counter[str]) -> Sequence[str]:
    """Return the outcomes of documents in words."""
    words = {
        "gone": "no longer in the export",
        "empty": "without text",
        "refused": "refused for a secret",
    }
    return [
        f"{counts[name]:,} {words.get(name, name)}"
        for name in ("added", "changed", "unchanged", "empty", "refused", "gone")
        if counts[name]
    ]
