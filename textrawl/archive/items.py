"""Items of other systems, as the readers in `textrawl/archive/formats` yield them.

Documents are conversations and notes. They become sources of a graph. Memories are entities, facts
and relations. They become rows of a space with facts. The `id` of an item is its id in
the other system, else an id that stays the same while the item does not change. An item that
becomes several rows is several items, with ids of their own.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from hashlib import sha256
from typing import Any, ClassVar, Literal, TypeVar

from pydantic_core import to_json

from textrawl.values.leaks import SECRETS_DONE, describe_secrets, guard_fields, mask_secrets
from textrawl.values.word_lists import SecretMode

Speaker = Literal["user", "assistant"]


@dataclass(frozen=True, slots=True)
class Turn:
    """A text of a conversation. `name` is that of its author, if the system gives one."""

    speaker: Speaker
    text: str
    at: datetime | None = None
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation. `place` is its project or folder."""

    kind: ClassVar[str] = "conversation"
    id: str
    title: str
    turns: Sequence[Turn]
    started_at: datetime | None = None
    place: str | None = None


@dataclass(frozen=True, slots=True)
class ImportedNote:
    """A text without turns, such as a document of a project."""

    kind: ClassVar[str] = "note"
    id: str
    title: str
    text: str
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Entity:
    """An entity with its other names. `key` is its id in the memory that exported it."""

    kind: ClassVar[str] = "entity"
    id: str
    name: str
    type: str | None = None
    description: str | None = None
    aliases: Sequence[str] = ()
    at: datetime | None = None
    key: str | None = None


@dataclass(frozen=True, slots=True)
class ImportedFact:
    """A fact about the entity of this name. `author` said it, and `note` says where it is from.

    `key` is its id in the memory that exported it, and `replaced_by` the id of its successor there.
    `replaces` is the id of the fact of which it is an edited text.
    """

    kind: ClassVar[str] = "fact"
    id: str
    entity: str
    text: str
    at: datetime | None = None
    said_at: datetime | None = None
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    author: str | None = None
    confidence: float | None = None
    note: str | None = None
    tags: Sequence[str] = ()
    source: str = "conversation"
    key: str | None = None
    replaced_by: str | None = None
    replaces: str | None = None


@dataclass(frozen=True, slots=True)
class PlainFact(ImportedFact):
    """A fact of a format whose imports are not listed.

    Without a `key`, its id is made from `day` and its text. `use` has the fields of a memory that
    fades.
    """

    day: str = ""
    use: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class ImportedRelation:
    """A relation between the entities of these names. `key` is as of a fact."""

    kind: ClassVar[str] = "relation"
    id: str
    source: str
    relation: str
    target: str
    at: datetime | None = None
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    author: str | None = None
    strength: float = 1.0
    key: str | None = None


@dataclass(frozen=True, slots=True)
class ImportedLink:
    """A link between two memories that fade, with the fields of its line in an export."""

    kind: ClassVar[str] = "link"
    id: str
    fields: dict[str, Any]
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Fault:
    """A part of an export that cannot be used, with the reason. `place` names it for people."""

    place: str
    reason: str


@dataclass(frozen=True, slots=True)
class Remark:
    """A remark for a person about the part of an export at `place`. It is no fault."""

    place: str
    text: str


Document = Conversation | ImportedNote
Memory = Entity | ImportedFact | ImportedRelation | ImportedLink
Item = Document | Memory | Fault | Remark


_OWN_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_PREFIX = re.compile(r"~[0-9a-f]{8}/")


@dataclass(frozen=True)
class ImportFolder:
    """The folder to which ids of notes belong. Without a root, ids do not depend on a folder.

    `root` is a hash of its path, `prefix` begins the ids of its notes, and `notes` has hashes of
    some notes. `inner` is the part that is imported, such as `trips/`, unless it is `whole`.
    """

    root: str = ""
    prefix: str = ""
    notes: Sequence[str] = ()
    inner: str = ""
    whole: bool = True

    def write_id(self, name: str, permalink: str = "") -> str:
        """Return the id of a note by its path, or by its permalink, which names a folder itself."""
        return self.prefix + (permalink or self.inner + name)

    def expects(self, source: str) -> bool:
        """Return whether the item of this id is gone if the import does not have it."""
        if not self.root:
            return True
        if not self.whole or _OWN_ID.match(source):  # a note of ours names no folder
            return False
        found = _PREFIX.match(source)
        return (found[0] if found else "") == self.prefix

    def describe(self) -> dict[str, object] | None:
        """Return the values that a run keeps."""
        if not self.root:
            return None
        return {"root": self.root, "prefix": self.prefix, "notes": list(self.notes)}


_LINE_ID = re.compile(r"(.+)~[0-9a-f]{16}", re.DOTALL)


def write_line_id(group: str, text: str) -> str:
    """Return an id for one of several texts that have no ids of their own, such as of a list."""
    return f"{group}~{sha256(text.encode('utf-8', 'replace')).hexdigest()[:16]}"


def find_group(source: str) -> str | None:
    """Return the group in an id as of `write_line_id`."""
    found = _LINE_ID.fullmatch(source)
    return found[1] if found else None


def digest(item: Document | Memory) -> str:
    """Return the SHA-256 of an item in hexadecimal. It changes if anything of the item does."""
    return sha256(to_json([item.kind, item])).hexdigest()


@dataclass
class ItemSpan:
    """The first and the last time of several items."""

    first: datetime | None = None
    last: datetime | None = None

    def add(self, moment: datetime | None) -> None:
        """Include a time."""
        if moment is not None:
            self.first = min(self.first or moment, moment)
            self.last = max(self.last or moment, moment)


_MOST_TITLES = 2  # that a plan keeps


@dataclass
class ImportPlan:
    """The content of an export: the numbers, times and spaces of its items, and its faults.

    `documents` says how often each document comes, and `lines` has the ids of facts that are as of
    `write_line_id`. `titles` has the first titles of documents, and the first names of entities.
    """

    counts: dict[str, int] = field(default_factory=dict[str, int])
    period: ItemSpan = field(default_factory=ItemSpan)
    faults: list[Fault] = field(default_factory=list[Fault])
    spaces: set[str] = field(default_factory=set[str])
    documents: dict[str, int] = field(default_factory=dict[str, int])
    lines: set[str] = field(default_factory=set[str])
    titles: list[str] = field(default_factory=list[str])
    remarks: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    """The places of each remark."""

    def add(self, item: Item) -> None:
        """Include an item."""
        if isinstance(item, Fault):
            self.faults.append(item)
            return
        if isinstance(item, Remark):
            self.remarks.setdefault(item.text, []).append(item.place)
            return
        self.count(item.kind)
        if isinstance(item, Conversation):
            self.count("turn", len(item.turns))
            for turn in item.turns:
                self.period.add(turn.at)
        self.period.add(item.started_at if isinstance(item, Conversation) else item.at)
        title = getattr(item, "title", None) or getattr(item, "entity", None)
        if title and title not in self.titles and len(self.titles) < _MOST_TITLES:
            self.titles.append(title)
        if isinstance(item, Conversation | ImportedNote):
            self.documents[item.id] = self.documents.get(item.id, 0) + 1
        elif isinstance(item, ImportedFact) and find_group(item.id):
            self.lines.add(item.id)

    def count(self, kind: str, number: int = 1) -> None:
        """Include a number of items of a kind."""
        self.counts[kind] = self.counts.get(kind, 0) + number


_TEXTS = ("title", "text", "name", "description", "note", "entity", "source", "relation", "target")
_WHOLE = (*_TEXTS, "type", "use", "fields")
_Kept = TypeVar("_Kept", bound=Document | Memory)
_MOST_PLACES = 20  # of secrets that are shown


@dataclass
class SecretGate:
    """The treatment of secrets in the items of an import. `places` are those that were found."""

    mode: SecretMode = "mask"
    places: list[str] = field(default_factory=list[str])

    def admit(self, item: _Kept) -> _Kept | None:
        """Return the item to store. None: it is refused for a secret."""
        masked, found = _mask(item)
        title = getattr(masked, "title", None) or getattr(masked, "entity", None) or item.id
        self.places += [f"{title}, {place}" for place in found]
        if found and self.mode == "refuse":
            return None
        return item if self.mode == "allow" else masked

    def admit_whole(self, item: _Kept) -> _Kept | None:
        """Return the item to store. Its secrets have one place, which is the id of the item."""
        fields = {name: getattr(item, name) for name in _WHOLE if getattr(item, name, None)}
        masked, kinds = guard_fields(fields, "mask")
        self.places += [f"{item.id}: {', '.join(kinds)}"] if kinds else []
        if kinds and self.mode == "refuse":
            return None
        return replace(item, **masked) if kinds and self.mode == "mask" else item

    def describe(self) -> Iterator[str]:
        """Yield lines that say what was done with the secrets, and where the first ones are."""
        found = len(self.places)
        if found:
            texts = "text" if found == 1 else "texts"
            yield f"Secrets in {found:,} {texts} {SECRETS_DONE[self.mode]}:"
        for place in self.places[:_MOST_PLACES]:
            yield f"  {' '.join(place.split())}"
        if found > _MOST_PLACES:
            yield f"and {found - _MOST_PLACES:,} more"


def _mask(item: _Kept) -> tuple[_Kept, list[str]]:
    """Return the item with its secrets masked, and the places and kinds of the secrets."""
    found = list[str]()

    def mask(part: str, text: str) -> str:
        masked = mask_secrets(text)
        if masked.secrets:
            found.append(f"{part}: {describe_secrets(masked.secrets)}")
        return masked.text

    changes: dict[str, Any] = {
        name: mask(name, text)
        for name in _TEXTS
        if isinstance(text := getattr(item, name, None), str)
    }
    if isinstance(item, Conversation):
        changes["turns"] = [
            replace(turn, text=mask(f"turn {number}", turn.text))
            for number, turn in enumerate(item.turns, 1)
        ]
    return (replace(item, **changes) if found else item), found
