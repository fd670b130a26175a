"""Replies of query_memory to a search and to a list."""

from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, PrivateAttr

from textrawl.replies import Key, Part, Reply, write_line
from textrawl.rows import HitRow, ListRow

_LEADS = "0123456789→←"  # what lines of other kinds begin with


class Answer(Reply):
    """What the three modes have in common."""

    unread: ClassVar[frozenset[str]] = frozenset({"mode", "usedTokens"})

    truncated: Literal[True] | None = None
    dropped: Annotated[int | None, Key("cut")] = None
    used_tokens: int | None = None

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
    score: Annotated[float, Key("s")]
    id: Annotated[str | None, Key("id", short_id=True)] = None


class FoundEntity(Part):
    """An entity with those of its facts that were found."""

    entity_name: Annotated[str, Key("n")]
    entity_type: Annotated[str, Key("t")]
    memories: Annotated[list[Memory], Key("m")]


class SearchReply(Answer):
    """Facts that answer a query, grouped by entity in the order of the best fact."""

    spared = (("query", "note"), ("total_memories", "entities"))

    mode: Literal["search"] = "search"
    query: Annotated[str | None, Field(exclude=True)] = None
    total_memories: Annotated[int | None, Key("n")] = None
    entities: Annotated[list[FoundEntity] | None, Key("e")] = None
    degraded: Literal[True] | None = None
    note: Annotated[str | None, Key("note")] = None
    _rows: list[HitRow] = PrivateAttr(default_factory=list[HitRow])
    _with_ids: bool = PrivateAttr(default=False)

    @classmethod
    def build(cls, rows: list[HitRow], missing: str | None, query: str, *, with_ids: bool) -> Self:
        """The reply to `query`; `missing` says why there were no vectors."""
        reply = cls(query=query, total_memories=len(rows), entities=_group(rows, with_ids=with_ids))
        if missing:
            reply.degraded, reply.note = True, f"keyword only: {missing}"
        reply._rows, reply._with_ids = rows, with_ids
        return reply

    def verbose(self) -> dict[str, Any]:
        """As structured, led by the query."""
        return {**({"query": self.query} if self.query else {}), **super().verbose()}

    def lines(self) -> Iterator[str]:
        """A line an entity, then a line a fact: its score in hundredths, its text."""
        if not self.entities and not self.dropped:
            yield "nothing found"
        for entity in self.entities or []:
            yield write_header(entity.entity_name, entity.entity_type)
            for fact in entity.memories:
                mark = f" {fact.id[:8]}" if fact.id else ""
                yield f"{round(fact.score * 100)}{mark} {write_line(fact.content)}"
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
            entities=_group(kept, with_ids=self._with_ids),
        )  # fmt: skip


def write_header(name: str, entity_type: str) -> str:
    """The line that a group of facts begins with; no name may pass for a line of another kind."""
    return f"{write_line(name, _LEADS)} ({entity_type})"


def _group(rows: list[HitRow], *, with_ids: bool) -> list[FoundEntity]:
    groups: dict[object, FoundEntity] = {}
    for row in rows:
        group = groups.setdefault(
            row.entity_id,
            FoundEntity(entity_name=row.entity_name, entity_type=row.entity_type, memories=[]),
        )
        found = Memory(
            content=row.content, source=row.source, score=round(row.score, 2),
            id=str(row.observation_id) if with_ids else None,
        )  # fmt: skip
        group.memories.append(found)
    return list(groups.values())


class ListedEntity(Part):
    """A line of a list."""

    id: str
    name: Annotated[str, Key("n")]
    type: Annotated[str, Key("t")]
    description: str | None = None
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
    def build(cls, row: ListRow, offset: int) -> Self:
        """The reply that tells all of `row`."""
        listed = [
            ListedEntity(type=item["entity_type"], **_without_type(item)) for item in row.entities
        ]
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
            yield write_header(entity.name, entity.type)
        yield from self.lines_at_the_end()

    def size(self) -> int:
        """How many entities the page has."""
        return len(self.entity_list or [])

    def choose(self, count: int) -> Self:
        """The entities updated last."""
        kept = (self.entity_list or [])[:count]
        return self.cut(self.size() - len(kept), returned=len(kept), entity_list=kept)


def _without_type(item: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in item.items() if key != "entity_type"}
