"""The reply of query_memory in the mode `entity`: an entity, its newest facts, its relations."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Annotated, Any, Literal, Self
from uuid import UUID

from pydantic import Field, PrivateAttr

from textrawl.memory.fact_rows import EntityRow, OwnProposalRow
from textrawl.tools.memory.search_replies import (
    Answer,
    FactLayout,
    write_header,
)
from textrawl.values.text import (
    EXTERNAL,
    PROPOSED,
    write_arrow,
    write_change,
    write_line,
    write_list,
    write_type,
)
from textrawl.values.times import write_day, write_lifetime, write_period
from textrawl.wire.replies import Finding, Key, Part

_PLAIN_LAYOUT = FactLayout()
_FACT_MARKS = "→←@"  # the first characters of lines that are neither headers nor facts

Item = dict[str, Any]


class EntityPart(Part):
    """An entity without its facts."""

    id: str
    name: str
    type: str
    given_type: Annotated[str | None, Field(alias="as")] = None
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
    said_at: datetime | None = None
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    period: Annotated[str | None, Field(exclude=True)] = None
    space: str | None = None
    marked_space: Annotated[str | None, Field(exclude=True)] = None
    several_authors: Annotated[bool, Field(exclude=True)] = False
    outlived: Annotated[bool, Field(exclude=True)] = False
    change: str | None = None

    @classmethod
    def build(cls, item: Item, layout: FactLayout) -> Self:
        """Return the fact in `item`, which is part of a row of describe_entity."""
        labels = layout.labels
        space, marked = labels.find(item["space"])
        fact = cls.model_validate({**item, "space": space})
        if item.get("origin") == "external":
            fact.source = "external"
        fact.marked_space = marked
        fact.period = layout.find_period(fact.valid_from, fact.valid_until)
        if fact.period is None:
            fact.valid_from = fact.valid_until = None
        if fact.said_at == fact.created_at:
            fact.said_at = None
        return fact

    @property
    def day(self) -> str:
        """The day on which the fact was said."""
        return write_day(self.said_at or self.created_at)

    @property
    def _mark(self) -> str:
        return EXTERNAL if self.source == "external" else ""

    def shorten(self, layout: FactLayout) -> Any:
        """Return the bare text, or an object if `layout` asks for more than the text."""
        fields: Item = {"c": self._mark + self.content}
        if layout.with_ids:
            fields["id"] = self.id[:8]
        if layout.with_ids or self.several_authors:
            fields["by"] = self.author
        if self.outlived or layout.shows_day(self.id):
            fields["on"] = self.day
        if self.period:
            fields["p"] = self.period
        if self.marked_space:
            fields["sp"] = self.marked_space
        if self.change:
            fields["change"] = self.change
        return fields if len(fields) > 1 else fields["c"]

    def line(self, layout: FactLayout) -> str:
        """Return a line with the space, the origin that `layout` asks for, and the text."""
        space = f"@{self.marked_space} " if self.marked_space else ""
        author = self.author if layout.with_ids or self.several_authors else None
        day = self.day if self.outlived or layout.shows_day(self.id) else ""
        origin = layout.write_origin(self.id, author, day)
        lifetime = write_lifetime(self.period) if self.period else ""
        text = self._mark + write_line(self.content, _FACT_MARKS)
        return space + origin + text + lifetime + write_change(self.change)


class ProposedPart(Part):
    """A pending proposal of the caller about the entity."""

    id: Annotated[UUID, Key("id", short_id=True)]
    text: Annotated[str, Key("c"), Field(serialization_alias="content")]
    created_at: datetime


class RevisedPart(Part):
    """A fact that was wrong, the reason, and what is right. Models must not store it again."""

    id: str
    content: Annotated[str, Key("c")]
    reason: Annotated[str, Key("why")]
    instead: str | None = None

    @property
    def line(self) -> str:
        """The line of the fact."""
        reason = write_line(self.reason).replace(" (", " \\(")
        return f"wrong: {write_line(self.content)} ({reason})"


def _drop_date(edge: Item, layout: FactLayout) -> dict[str, str]:
    """Return a relation without dates that only sort it: its period stays if `layout` shows it."""
    shown = {key: value for key, value in edge.items() if key != "created_at" and value}
    if layout.find_period(*_read_period(edge)) is None:
        shown = {key: shown[key] for key in shown if key not in ("valid_from", "valid_until")}
    return shown


def _read_period(edge: Item) -> tuple[datetime, datetime | None]:
    end = edge.get("valid_until")
    start = datetime.fromisoformat(edge.get("valid_from") or edge["created_at"])
    return start, datetime.fromisoformat(end) if end else None


class Relations(Part):
    """Relations in both directions. Their rows keep snake_case keys."""

    outgoing: list[dict[str, str]]
    incoming: list[dict[str, str]]

    def compact(self) -> Any:
        """Return the relations as texts with arrows. A direction without relations is left out."""
        arrows = {
            "out": [
                _shorten(edge, write_arrow(edge["relation_type"], edge["to_entity"]))
                for edge in self.outgoing
            ],
            "in": [
                _shorten(edge, f"{edge['from_entity']}→{write_type(edge['relation_type'])}")
                for edge in self.incoming
            ],
        }
        return {key: value for key, value in arrows.items() if value}

    def lines(self) -> Iterator[str]:
        """Yield one line for each relation. Its arrow shows the direction."""
        for edge in self.outgoing:
            yield f"→ {edge['relation_type']} {_write_target(edge, 'to_entity')}"
        for edge in self.incoming:
            yield f"← {edge['relation_type']} {_write_target(edge, 'from_entity')}"


def _write_target(edge: dict[str, str], end: str) -> str:
    return f"{_mark(edge)}{write_line(edge[end])}{_write_end(edge)}"


def _mark(edge: dict[str, str]) -> str:
    return EXTERNAL if "source" in edge else ""


def _shorten(edge: dict[str, str], arrow: str) -> Any:
    arrow = _mark(edge) + arrow
    return {"c": arrow, "p": write_period(*_read_period(edge))} if "valid_from" in edge else arrow


def _write_end(edge: dict[str, str]) -> str:
    return write_lifetime(write_period(*_read_period(edge))) if "valid_from" in edge else ""


class EntityReply(Answer):
    """One entity, or similar names if no entity has the requested name."""

    spared = (
        ("summary",),
        ("entity", "relations", "total_observations", "has_more", "revised", "aliases", "proposed"),
        ("observations",),
    )

    mode: Literal["entity"] = "entity"
    found: bool
    entity: EntityPart | None = None
    observations: list[Observation] | None = None
    relations: Relations | None = None
    aliases: Annotated[list[str] | None, Key("aka")] = None
    summary: Annotated[str | None, Key("sum")] = None
    revised: Annotated[list[RevisedPart] | None, Key("revised")] = None
    proposed: Annotated[list[ProposedPart] | None, Key("proposed")] = None
    has_more: bool | None = None
    total_observations: int | None = None
    like: Annotated[list[str] | None, Key("like")] = None
    _row: EntityRow | None = PrivateAttr(default=None)
    # Each with its rank among all facts and relations, said last first.
    _facts: Sequence[tuple[int, Observation]] = PrivateAttr(default=())
    _outgoing: Sequence[tuple[int, dict[str, str]]] = PrivateAttr(default=())
    _incoming: Sequence[tuple[int, dict[str, str]]] = PrivateAttr(default=())
    _layout: FactLayout = PrivateAttr(default=_PLAIN_LAYOUT)
    _skipped: int = PrivateAttr(default=0)

    @classmethod
    def build(
        cls,
        row: EntityRow,
        layout: FactLayout = _PLAIN_LAYOUT,
        *,
        with_relations: bool,
        skipped: int = 0,
    ) -> Self:
        """Return the reply with all facts and relations of `row`.

        The entity has `skipped` facts that are newer than the facts of `row`.
        """
        labels = layout.labels
        entity = EntityPart(
            id=str(row.id),
            name=row.name,
            type=row.entity_type,
            given_type=row.given_type,
            description=row.description,
            space=labels.find(row.space)[0],
        )
        reply = cls(found=True, entity=entity, total_observations=row.total_observations)
        reply.revised = [RevisedPart.model_validate(item) for item in row.revised] or None
        reply.aliases = row.aliases or None
        reply.like = row.namesakes or None
        reply._row, reply._layout, reply._skipped = row, layout, skipped
        outgoing, incoming = (row.outgoing, row.incoming) if with_relations else ([], [])
        ranks = iter(_rank_items([*row.observations, *outgoing, *incoming], layout))
        reply._facts = [(next(ranks), Observation.build(fact, layout)) for fact in row.observations]
        reply._outgoing = [(next(ranks), _drop_date(edge, layout)) for edge in outgoing]
        reply._incoming = [(next(ranks), _drop_date(edge, layout)) for edge in incoming]
        if with_relations:
            reply.relations = Relations(outgoing=[], incoming=[])
        return reply.choose(reply.size())

    def add_proposals(self, rows: Sequence[OwnProposalRow]) -> Self:
        """Return a copy with proposals of the caller about the entity."""
        parts = [ProposedPart.model_validate(row) for row in rows]
        return self.model_copy(update={"proposed": parts or None})

    @classmethod
    def report_missing(cls, like: list[str]) -> Self:
        """Return the reply for a name that no entity has, with similar names."""
        return cls(found=False, like=like or None)

    def read_finding(self, question: str) -> Finding:
        """Return the requested name and the ids of the facts for the recall log."""
        items = self._row.observations if self._row else []
        return Finding(question, [(item["space"], item["id"]) for item in items])

    def compact(self) -> Any:
        """Return facts as strings and relations as arrows."""
        rest = super().compact()
        if not self.found:
            return {"found": False, **rest}
        head: Item = {"t": self.entity.type} if self.entity else {}
        if self.entity and self.entity.given_type:
            head["as"] = self.entity.given_type
        if self.observations is not None:
            head["o"] = [fact.shorten(self._layout) for fact in self.observations]
        if self.relations and (arrows := self.relations.compact()):
            head["r"] = arrows
        if more := self._count_more():
            head["more"] = more
        return {**head, **rest}

    def lines(self) -> Iterator[str]:
        """Yield a line for the entity, for each fact and for each relation."""
        if not self.found:
            yield "; like: ".join(["not found", *([write_list(self.like)] if self.like else [])])
        yield from self._write_heading()
        for fact in self.observations or []:
            yield fact.line(self._layout)
        if self.relations:
            yield from self.relations.lines()
        for wrong in self.revised or []:
            yield wrong.line
        for proposal in self.proposed or []:
            yield write_line(proposal.text, _FACT_MARKS) + PROPOSED
        if more := self._count_more():
            yield f"more {more}"
        yield from self.lines_after_items()

    def _write_heading(self) -> Iterator[str]:
        if self.entity:
            yield write_header(self.entity.name, self.entity.type)
            if self.entity.given_type:
                yield f"as: {write_line(self.entity.given_type)}"
        if self.aliases:
            yield f"aka: {write_list(self.aliases)}"
        if self.found and self.like:
            yield f"like: {write_list(self.like)}"
        if self.summary:
            yield f"summary: {write_line(self.summary)}"

    def size(self) -> int:
        """Return the number of facts and relations, or of similar names."""
        if self._row is None:
            return len(self.like or [])
        return len(self._facts) + len(self._outgoing) + len(self._incoming)

    def choose(self, count: int) -> Self:
        """Return a copy with the `count` newest facts and relations, or the most similar names."""
        row = self._row
        if row is None:
            names = self.like or []
            return self.cut(max(len(names) - count, 0), like=names[:count] or None)
        facts = [fact for rank, fact in self._facts if rank < count]
        has_more = row.total_observations > self._skipped + len(facts)
        summary = row.summary if has_more else None  # beside all facts it would say nothing new
        update: Item = {"observations": facts, "has_more": has_more, "summary": summary}
        unread = 0
        if self.relations is not None:
            unread = row.total_relations - len(row.outgoing) - len(row.incoming)
            update["relations"] = Relations(
                outgoing=[edge for rank, edge in self._outgoing if rank < count],
                incoming=[edge for rank, edge in self._incoming if rank < count],
            )
        return self.cut(max(self.size() - count, 0) + unread, **update)

    def _count_more(self) -> int:
        """Return the number of facts after this page, without the facts in `dropped`."""
        row = self._row
        if row is None or self.total_observations is None:
            return 0
        return max(row.total_observations - self._skipped - len(row.observations), 0)


def _rank_items(items: Sequence[Item], layout: FactLayout) -> list[int]:
    """Return the rank of each item, said last first. ISO times can be sorted as texts.

    A fact has the day on which it was said, a relation and a fact of all times that of its begin.
    Items of one day have the order in which they were stored.
    """

    def find_day(item: Item) -> tuple[str, str]:
        said = None if layout.with_periods else item.get("said_at")
        day = said or item.get("valid_from") or item["created_at"]
        return day[:10], item["created_at"]

    days = [find_day(item) for item in items]
    ranks = [0] * len(items)
    for rank, place in enumerate(sorted(range(len(items)), key=days.__getitem__, reverse=True)):
        ranks[place] = rank
    return ranks
