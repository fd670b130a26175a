"""Conversations and notes of other systems as texts with chunks.

A text begins with the title, the days and the place. Each turn follows with its author and its
time. A turn that is longer than a chunk is cut into several, and each of them names the author
again, so that no chunk passes the words of an assistant off as those of a person.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from textrawl.archive.items import Conversation, Document, ImportedNote, ItemSpan, Turn
from textrawl.memory.chunking import MOST_CHARACTERS, MOST_TOKENS, Chunk, chunk_text, cut_turn
from textrawl.memory.documents import LONGEST_LABEL, LONGEST_SOURCE, MOST_CHUNKS
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
    text = clean_text(note.text).strip()
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
