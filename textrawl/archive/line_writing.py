"""Lines of an export, made from the memories of other systems.

Ids are made from the content of a line, so a second import adds nothing.
"""

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid5

from pydantic_core import to_json

from textrawl.archive.exports import VERSION
from textrawl.postgres.owner_session import Session
from textrawl.values.text import clean_name, number_text, split_text

NAMESPACE = UUID("7d1f7c52-52c1-4a0b-9a55-3a7f5b4f0a6e")  # for ids that are made from lines
_TOOL = "import"
_NO_TYPE = "Generic"

Numbered = tuple[int, bytes]
"""A line of an export, with the number of the line of the file that it comes from."""
Fields = dict[str, object]


@dataclass
class LineWriter:
    """A writer of lines for an import into one space.

    `space` and `space_id` are the name and the id of this space. `author` becomes the author of the
    facts.
    """

    session: Session
    space: str
    space_id: int
    author: str
    _moment: datetime = field(default_factory=lambda: datetime.now(UTC), kw_only=True)
    _written: int = field(default=0, kw_only=True)
    _types: dict[str, str] = field(default_factory=dict[str, str], kw_only=True)
    _ids: dict[str, UUID] = field(default_factory=dict[str, UUID], kw_only=True)
    _counts: dict[str, int] = field(
        default_factory=lambda: {"space": 0, "entity": 0, "fact": 0, "relation": 0}, kw_only=True
    )

    def write_header(self) -> Numbered:
        """Return the first line."""
        return 0, to_json({"textrawl": "export", "version": VERSION})

    def write_footer(self) -> Numbered:
        """Return the last line."""
        return 0, to_json({"textrawl": "end", **self._counts})

    def write(self, kind: str, fields: Mapping[str, object]) -> bytes:
        """Return a line of this kind, and count it."""
        self._counts[kind] = self._counts.get(kind, 0) + 1
        return to_json({"kind": kind, "space": self.space, **fields})

    async def find_types(self, kinds: set[str | None]) -> None:
        """Ask for the types that are nearest to these words. Call this before `write_node`."""
        for kind in {kind or _NO_TYPE for kind in kinds} - self._types.keys():
            [(self._types[kind],)] = await self.session.call("nearest_type", kind)

    async def find_unknown(self, names: Sequence[str]) -> set[str]:
        """Return the folded names of the entities that neither the memory nor a line has yet."""
        keys = list({fold(name) for name in names} - self._ids.keys())
        for place, entity in await self.session.call("find_names", self.space_id, keys):
            self._ids[keys[place - 1]] = entity
        return set(keys) - self._ids.keys()

    def write_node(
        self, number: int, name: str, kind: str | None, *, guessed: bool = False, **more: str | None
    ) -> Numbered:
        """Return the line of an entity. `kind` is its type as the other system writes it."""
        free = kind or _NO_TYPE
        nearest = free if guessed else self._types[free]
        at = self.date()
        line: Fields = {
            "id": str(self.find_id(name)),
            "name": name,
            "entity_type": nearest,
            "type_guessed": guessed or kind is None,
            "metadata": {} if nearest == free else {"type": free},
            "created_at": at,
            "updated_at": at,
        }
        return number, self.write("entity", line | more)

    def find_id(self, name: str) -> UUID:
        """Return the id of the entity with this name."""
        key = fold(name)
        return self._ids.setdefault(key, uuid5(NAMESPACE, f"{self.space}\n{key}"))

    def write_parts(self, text: str) -> Iterator[tuple[int, Fields]]:
        """Yield the fields of a fact, or of several if the text is too long for one."""
        parts = split_text(text)
        for part, content in enumerate(parts, 1):
            fields: Fields = {"text": content, "source": "conversation", "confidence": 1.0}
            if len(parts) > 1:
                fields |= {"whole": str(number_text(text)), "part": part}
            yield part, fields

    def write_origin(self, key: UUID) -> Fields:
        """Return the fields that facts and relations share."""
        at = self.date()
        return {
            "id": str(key),
            "valid_from": at,
            "created_at": at,
            "author": self.author,
            "tool": _TOOL,
        }

    def date(self) -> str:
        """Return a time after those of earlier lines, so that facts keep their order."""
        self._written += 1
        return (self._moment + timedelta(microseconds=self._written)).isoformat()


def fold(name: str) -> str:
    """Return the form of a name in which names of one file are compared."""
    return unicodedata.normalize("NFC", clean_name(name).casefold())
