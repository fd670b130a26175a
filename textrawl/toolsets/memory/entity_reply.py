"""The reply of query_memory to a look-up: one entity, its newest facts, its relations."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Annotated, Any, Literal, Self

from pydantic import Field, PrivateAttr

from textrawl.toolsets.memory.rows import EntityRow
from textrawl.toolsets.memory.search_replies import Answer, Reach, Shown, write_header
from textrawl.values.instant import write_day
from textrawl.wire.recall_log import Finding
from textrawl.wire.replies import Key, Part, write_line

_PLAIN = Shown()

Item = dict[str, Any]


class EntityPart(Part):
    """Who or what an entity is."""

    id: str
    name: str
    type: str
    space: str | None = None
    description: str | None = None


class Observation(Part):
    """A fact of an entity."""

    id: str
    content: str
    source: str
    author: str
    confidence: float
    created_at: datetime
    space: str | None = None
    marked_space: Annotated[str | None, Field(exclude=True)] = None

    @classmethod
    def build(cls, item: Item, reach: Reach) -> Self:
        """The fact that a row of describe_entity tells."""
        fact = cls.model_validate({**item, "space": reach.name(item["space"])})
        fact.marked_space = reach.mark(item["space"])
        return fact

    def shorten(self, shown: Shown) -> Any:
        """Return its text alone, unless there is more to say."""
        told: Item = {"c": self.content}
        if shown.with_ids:
            told |= {"id": self.id[:8], "by": self.author}
        if shown.with_ids or shown.with_dates:
            told["on"] = write_day(self.created_at)
        if self.marked_space:
            told["sp"] = self.marked_space
        return told if len(told) > 1 else self.content

    def line(self, shown: Shown) -> str:
        """Return its text on a line, after what else there is to say."""
        place = f"@{self.marked_space} " if self.marked_space else ""
        origin = shown.write_origin(self.id, self.author, write_day(self.created_at))
        return place + origin + write_line(self.content, "→←@")


def _drop_date(edge: Item) -> dict[str, str]:
    return {key: value for key, value in edge.items() if key != "created_at"}


class Relations(Part):
    """Relations both ways; their rows keep snake_case keys."""

    outgoing: list[dict[str, str]]
    incoming: list[dict[str, str]]

    @classmethod
    def build(cls, outgoing: list[Item], incoming: list[Item]) -> Self:
        """Relations without their dates, which only order them."""
        return cls(
            outgoing=[_drop_date(edge) for edge in outgoing],
            incoming=[_drop_date(edge) for edge in incoming],
        )

    def compact(self) -> Any:
        """Arrows, without the direction that has none."""
        told = {
            "out": [f"{edge['relation_type']}→{edge['to_entity']}" for edge in self.outgoing],
            "in": [f"{edge['from_entity']}→{edge['relation_type']}" for edge in self.incoming],
        }
        return {key: value for key, value in told.items() if value}

    def lines(self) -> Iterator[str]:
        """A line an arrow, which shows the direction."""
        for edge in self.outgoing:
            yield f"→ {edge['relation_type']} {write_line(edge['to_entity'])}"
        for edge in self.incoming:
            yield f"← {edge['relation_type']} {write_line(edge['from_entity'])}"


class EntityReply(Answer):
    """One entity, or names close to the one that was asked for."""

    spared = (("entity", "relations", "total_observations", "has_more"), ("observations",))

    mode: Literal["entity"] = "entity"
    found: bool
    entity: EntityPart | None = None
    observations: list[Observation] | None = None
    relations: Relations | None = None
    has_more: bool | None = None
    total_observations: int | None = None
    like: Annotated[list[str] | None, Key("like")] = None
    _row: EntityRow | None = PrivateAttr(default=None)
    _facts: Sequence[Observation] = PrivateAttr(default=())
    _shown: Shown = PrivateAttr(default=_PLAIN)
    _skipped: int = PrivateAttr(default=0)

    @classmethod
    def build(
        cls, row: EntityRow, shown: Shown = _PLAIN, *, with_relations: bool, skipped: int = 0
    ) -> Self:
        """Return the reply that tells all of `row`, whose facts come after `skipped` newer ones."""
        reach = shown.reach
        who = EntityPart(
            id=str(row.id), name=row.name, type=row.entity_type, description=row.description,
            space=reach.name(row.space),
        )  # fmt: skip
        reply = cls(found=True, entity=who, total_observations=row.total_observations)
        reply._row, reply._shown, reply._skipped = row, shown, skipped
        reply._facts = [Observation.build(fact, reach) for fact in row.observations]
        if with_relations:
            reply.relations = Relations(outgoing=[], incoming=[])
        return reply.choose(reply.size())

    @classmethod
    def miss(cls, like: list[str]) -> Self:
        """The reply where there is no such entity."""
        return cls(found=False, like=like or None)

    def read_finding(self, asked: str) -> Finding:
        """The name and the facts."""
        items = self._row.observations if self._row else []
        return Finding(asked, [(item["space"], item["id"]) for item in items])

    def compact(self) -> Any:
        """Facts as strings, relations as arrows."""
        told = super().compact()
        if not self.found:
            return {"found": False, **told}
        head: Item = {"t": self.entity.type} if self.entity else {}
        if self.observations is not None:
            head["o"] = [fact.shorten(self._shown) for fact in self.observations]
        if self.relations and (arrows := self.relations.compact()):
            head["r"] = arrows
        if more := self._count_more():
            head["more"] = more
        return {**head, **told}

    def lines(self) -> Iterator[str]:
        """The entity, a line a fact, a line a relation."""
        if not self.found:
            yield "; like: ".join(["not found", *([", ".join(self.like)] if self.like else [])])
        if self.entity:
            yield write_header(self.entity.name, self.entity.type)
        for fact in self.observations or []:
            yield fact.line(self._shown)
        if self.relations:
            yield from self.relations.lines()
        if more := self._count_more():
            yield f"more {more}"
        yield from self.lines_at_the_end()

    def size(self) -> int:
        """How many facts and relations there are, or close names."""
        return len(self._date_items()) if self._row else len(self.like or [])

    def choose(self, count: int) -> Self:
        """The newest facts and relations, or the closest names."""
        row = self._row
        if row is None:
            names = self.like or []
            return self.cut(max(len(names) - count, 0), like=names[:count] or None)
        dated = self._date_items()
        kept = {id(item) for item in dated[:count]}
        facts = [
            fact
            for item, fact in zip(row.observations, self._facts, strict=True)
            if id(item) in kept
        ]
        has_more = row.total_observations > self._skipped + len(facts)
        update: Item = {"observations": facts, "has_more": has_more}
        unread = 0
        if self.relations is not None:
            unread = row.total_relations - len(row.outgoing) - len(row.incoming)
            outgoing, incoming = (
                [edge for edge in edges if id(edge) in kept]
                for edges in (row.outgoing, row.incoming)
            )
            update["relations"] = Relations.build(outgoing, incoming)
        return self.cut(len(dated) - len(kept) + unread, **update)

    def _date_items(self) -> list[Item]:
        """All facts and relations, newest first. Their times sort as text."""
        row = self._row
        if row is None:
            return []
        edges = row.outgoing + row.incoming if self.relations is not None else []
        return sorted(row.observations + edges, key=lambda item: item["created_at"], reverse=True)

    def _count_more(self) -> int:
        """Return how many facts follow the page; those beyond the budget are told as cut."""
        row = self._row
        if row is None or self.total_observations is None:
            return 0
        return max(row.total_observations - self._skipped - len(row.observations), 0)
