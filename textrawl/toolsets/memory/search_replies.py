"""Replies of query_memory to a search and to a list."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, PrivateAttr

from textrawl.access.principal import Principal
from textrawl.toolsets.memory.rows import HitRow, ListRow
from textrawl.values.instant import write_day
from textrawl.wire.recall_log import NOTHING, Finding
from textrawl.wire.replies import Key, Part, Reply, write_line

_FOUND = (
    "by best fact; of a memory: content, source, author, score, with includeIds id, with that or "
    "dates createdAt"
)
_LEADS = "0123456789→←@"  # what lines of other kinds begin with


@dataclass(frozen=True)
class Reach:
    """Which spaces an answer may come from: what is not from `home` is marked in the text."""

    home: str | None
    several: bool

    def name(self, space: str) -> str | None:
        """What structured content says of `space`: nothing where there is no other."""
        return space if self.several else None

    def mark(self, space: str) -> str | None:
        """What the text says of it."""
        return space if self.several and space != self.home else None


ALONE = Reach(None, several=False)


def read_reach(principal: Principal) -> Reach:
    """What `principal` reads."""
    home = principal.home_space
    return Reach(home.name if home else None, len(principal.readable) > 1)


@dataclass(frozen=True)
class Shown:
    """What of a fact the text shows beside its content; with ids also author and day."""

    reach: Reach = ALONE
    with_ids: bool = False
    with_dates: bool = False

    def write_origin(self, identity: str, author: str, day: str) -> str:
        """Return what a line tells of a fact before its text."""
        if self.with_ids:
            return f"{identity[:8]} {day} {author}: "
        return f"{day}: " if self.with_dates else ""


_PLAIN = Shown()


class Answer(Reply):
    """What the three modes have in common."""

    unread: ClassVar[frozenset[str]] = frozenset({"mode", "usedTokens"})

    truncated: Literal[True] | None = None
    dropped: Annotated[int | None, Key("cut")] = None
    used_tokens: int | None = None

    def read_finding(self, asked: str) -> Finding:
        """What is noted of it as the answer to what was `asked`."""
        return NOTHING

    def structured(self) -> dict[str, Any]:
        """Canonical keys, what was left out told last."""
        return _put_last(super().structured(), "truncated", "dropped", "usedTokens")

    def compact(self) -> Any:
        """Short keys, what was left out told last."""
        return _put_last(super().compact(), "cut", "note")

    def cut(self, dropped: int, **kept: Any) -> Self:
        """A copy with `kept` instead of all, that says how many items are gone."""
        said = {"truncated": True, "dropped": dropped} if dropped else {}
        return self.model_copy(update={**kept, **said})

    def lines_at_the_end(self) -> Iterator[str]:
        """What is left to say after the items."""
        if self.dropped:
            yield f"cut {self.dropped}"


def _put_last(told: dict[str, Any], *keys: str) -> dict[str, Any]:
    for key in keys:
        if key in told:
            told[key] = told.pop(key)
    return told


class Memory(Part):
    """A fact that was found; `score` as in the bands of the documentation."""

    content: Annotated[str, Key("c")]
    source: str
    author: str
    score: Annotated[float, Key("s")]
    id: Annotated[str | None, Key("id", short_id=True)] = None
    created_at: datetime | None = None
    by: Annotated[str | None, Key("by"), Field(exclude=True)] = None
    on: Annotated[str | None, Key("on"), Field(exclude=True)] = None

    def line(self, shown: Shown) -> str:
        """Return its score in hundredths, where asked for its id, day and author, its text."""
        origin = shown.write_origin(self.id or "", self.by or "", self.on or "")
        return f"{round(self.score * 100)} {origin}{write_line(self.content)}"


class FoundEntity(Part):
    """An entity with those of its facts that were found."""

    entity_name: Annotated[str, Key("n")]
    entity_type: Annotated[str, Key("t")]
    space: str | None = None
    marked_space: Annotated[str | None, Key("sp"), Field(exclude=True)] = None
    memories: Annotated[list[Memory], Key("m")]


class SearchReply(Answer):
    """Facts that answer a query, grouped by entity in the order of the best fact."""

    spared = (("query", "note"), ("total_memories", "entities"))

    mode: Literal["search"] = "search"
    query: Annotated[str | None, Field(exclude=True)] = None
    total_memories: Annotated[int | None, Key("n")] = None
    entities: Annotated[list[FoundEntity] | None, Key("e"), Field(description=_FOUND)] = None
    degraded: Literal[True] | None = None
    note: Annotated[str | None, Key("note")] = None
    _rows: Sequence[HitRow] = PrivateAttr(default=())
    _shown: Shown = PrivateAttr(default=_PLAIN)

    @classmethod
    def build(
        cls,
        rows: list[HitRow],
        missing: str | None,
        query: str,
        shown: Shown = _PLAIN,
    ) -> Self:
        """The reply to `query`; `missing` says why there were no vectors."""
        reply = cls(query=query, total_memories=len(rows), entities=_group(rows, shown))
        if missing:
            reply.degraded, reply.note = True, f"keyword only: {missing}"
        reply._rows, reply._shown = rows, shown
        return reply

    def read_finding(self, asked: str) -> Finding:
        """The question and the facts, with the best that each arm found."""
        rows = self._rows
        return Finding(
            asked,
            [(row.space, str(row.observation_id)) for row in rows],
            score=max((row.score for row in rows), default=None),
            cosine=max((row.cosine for row in rows if row.cosine is not None), default=None),
            coverage=max((row.coverage for row in rows if row.coverage is not None), default=None),
        )

    def verbose(self) -> dict[str, Any]:
        """As structured, led by the query."""
        return {**({"query": self.query} if self.query else {}), **super().verbose()}

    def lines(self) -> Iterator[str]:
        """A line an entity, then a line a fact."""
        if not self.entities and not self.dropped:
            yield "nothing found"
        for entity in self.entities or []:
            yield write_header(entity.entity_name, entity.entity_type, entity.marked_space)
            yield from (fact.line(self._shown) for fact in entity.memories)
        yield from self.lines_at_the_end()
        if self.note:
            yield f"note {self.note}"

    def size(self) -> int:
        """How many facts there are."""
        return len(self._rows)

    def choose(self, count: int) -> Self:
        """The best facts."""
        kept = self._rows[:count]
        return self.cut(
            len(self._rows) - len(kept), total_memories=len(kept),
            entities=_group(kept, self._shown),
        )  # fmt: skip


def write_header(name: str, entity_type: str, space: str | None = None) -> str:
    """The line that a group of facts begins with; no name may pass for a line of another kind."""
    place = f" @{space}" if space else ""
    return f"{write_line(name, _LEADS)} ({entity_type}){place}"


def _group(rows: Sequence[HitRow], shown: Shown) -> list[FoundEntity]:
    groups: dict[object, FoundEntity] = {}
    for row in rows:
        group = groups.setdefault(
            row.entity_id,
            FoundEntity(
                entity_name=row.entity_name,
                entity_type=row.entity_type,
                space=shown.reach.name(row.space),
                marked_space=shown.reach.mark(row.space),
                memories=[],
            ),
        )
        group.memories.append(_tell(row, shown))
    return list(groups.values())


def _tell(row: HitRow, shown: Shown) -> Memory:
    found = Memory(
        content=row.content, source=row.source, author=row.author, score=round(row.score, 2)
    )
    if shown.with_ids:
        found.id, found.by = str(row.observation_id), row.author
    if shown.with_ids or shown.with_dates:
        found.created_at, found.on = row.created_at, write_day(row.created_at)
    return found


class ListedEntity(Part):
    """A line of a list."""

    id: str
    name: Annotated[str, Key("n")]
    type: Annotated[str, Key("t")]
    description: str | None = None
    space: str | None = None
    marked_space: Annotated[str | None, Key("sp"), Field(exclude=True)] = None
    updated_at: datetime


class ListReply(Answer):
    """A page of entities, last updated first; `total` counts all that match."""

    spared = (("returned", "offset"), ("total", "entity_list"))

    mode: Literal["list"] = "list"
    total: Annotated[int | None, Key("n")] = None
    returned: int | None = None
    offset: int | None = None
    entity_list: Annotated[list[ListedEntity] | None, Key("e")] = None

    @classmethod
    def build(cls, row: ListRow, offset: int, reach: Reach = ALONE) -> Self:
        """The reply that tells all of `row`."""
        listed = [_list_entity(item, reach) for item in row.entities]
        return cls(total=row.total, returned=len(listed), offset=offset, entity_list=listed)

    def verbose(self) -> dict[str, Any]:
        """As structured, but for the name of the list."""
        told = super().verbose()
        return {("entities" if key == "entityList" else key): value for key, value in told.items()}

    def lines(self) -> Iterator[str]:
        """How many there are, then a line an entity."""
        if self.total is not None:
            yield str(self.total)
        for entity in self.entity_list or []:
            yield write_header(entity.name, entity.type, entity.marked_space)
        yield from self.lines_at_the_end()

    def size(self) -> int:
        """How many entities the page has."""
        return len(self.entity_list or [])

    def choose(self, count: int) -> Self:
        """The entities updated last."""
        kept = (self.entity_list or [])[:count]
        return self.cut(self.size() - len(kept), returned=len(kept), entity_list=kept)


def _list_entity(item: dict[str, Any], reach: Reach) -> ListedEntity:
    told = {key: value for key, value in item.items() if key not in ("entity_type", "space")}
    space = item["space"]
    return ListedEntity(
        type=item["entity_type"], space=reach.name(space), marked_space=reach.mark(space), **told
    )
