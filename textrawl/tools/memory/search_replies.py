"""Replies of query_memory in the modes `search` and `list`, and of the digest."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache
from operator import attrgetter
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, PrivateAttr

from textrawl.access.principal import Caller, Principal
from textrawl.memory.command_results import Absence
from textrawl.memory.fact_rows import DigestRow, HitRow, ListRow
from textrawl.memory.facts import MemoryOperations
from textrawl.memory.questions import Question
from textrawl.values.condensation import SHORT_PROMPT
from textrawl.values.leaks import mask_secrets
from textrawl.values.text import (
    EXTERNAL,
    HEADER_MARKS,
    MOST_FACTS,
    PROPOSED,
    QUERY_LENGTH,
    write_author,
    write_change,
    write_line,
    write_relation,
    write_statement,
)
from textrawl.values.times import write_day, write_lifetime, write_period
from textrawl.values.word_lists import EVERYBODY, includes_everybody
from textrawl.wire.program import Program
from textrawl.wire.replies import NOTHING, Finding, Key, Part, Reply

_OF_ALL = "every fact was searched"
_FOUND = (
    "by best fact; of a memory: content, source (of a relation relation_type, to_entity, "
    "to_entity_type), author, score, with includeIds id, with that or dates createdAt, saidAt if "
    "given, with asOf ever or a begin ahead validFrom, validUntil; of a document line, chunkId"
)


@dataclass(frozen=True)
class SpaceLabels:
    """The rule that decides where an answer names a fact's space.

    Structured content names the space if the caller can read several spaces. Text then names the
    space only if it is not the caller's home space.
    """

    home: str | None
    several: bool

    def find(self, space: str) -> tuple[str | None, str | None]:
        """Return the labels of `space` in structured content and in text. None: no label."""
        if not self.several:
            return None, None
        return space, space if space != self.home else None


NO_LABELS = SpaceLabels(None, several=False)


@lru_cache  # most calls are of few principals
def find_space_labels(principal: Principal) -> SpaceLabels:
    """Return the rule for answers to `principal`."""
    home = principal.home_space
    return SpaceLabels(home.name if home else None, len(principal.readable) > 1)


@dataclass(frozen=True)
class FactLayout:
    """The fields of a fact that text answers show beside its content.

    If `with_ids` is true, text answers show id, author and day. In a space with several authors
    they show the author in any case. If `with_periods` is true, each fact has its period of
    validity. `dated` has the ids of facts whose day is shown in any case. If `for_program` is true,
    structured content has all fields.
    """

    labels: SpaceLabels = NO_LABELS
    with_ids: bool = False
    with_dates: bool = False
    for_program: bool = False
    with_periods: bool = False
    dated: frozenset[str] = frozenset()

    def shows_day(self, identity: str) -> bool:
        """Return whether text answers show the day of a fact."""
        return self.with_ids or self.with_dates or identity in self.dated

    def find_period(
        self, start: datetime | None, end: datetime | None, *, asked: bool = False
    ) -> str | None:
        """Return the period to show: of each fact, or else of a fact that begins in the future.

        `asked` is true if the question is about other times than now.
        """
        if start is None or not (self.with_periods or asked or start > datetime.now(UTC)):
            return None
        return write_period(start, end)

    def write_origin(self, identity: str, author: str | None, day: str) -> str:
        """Return the beginning of a fact's line: id, day and author, or some of them, or nothing.

        Without ids, `author` is None if the space has only one author. `day` can be empty.
        """
        name = write_author(author or "")
        if self.with_ids:
            return f"{identity[:8]} {day} {name}: "
        words = [*([day] if day else []), *([f"by {name}"] if author else [])]
        return f"{' '.join(words)}: " if words else ""


_PLAIN_LAYOUT = FactLayout()


class Answer(Reply):
    """A reply whose last items can be left out, and which then says how many."""

    unread: ClassVar[frozenset[str]] = frozenset({"mode", "usedTokens"})
    last_keys: ClassVar[tuple[str, ...]] = ("cut", "note")
    last_members: ClassVar[tuple[str, ...]] = ("truncated", "dropped", "usedTokens")

    truncated: Literal[True] | None = None
    dropped: Annotated[int | None, Key("cut")] = None
    used_tokens: int | None = None

    def read_finding(self, question: str) -> Finding:
        """Return the question and the facts for the recall log."""
        return NOTHING

    def lines_after_items(self) -> Iterator[str]:
        """Yield the line after the items, which says how many items were omitted."""
        if self.dropped:
            yield f"cut {self.dropped}"


class FactPart(Part):
    """A fact, a relation or a chunk of a document. docs/search.md explains `score`.

    A fact has a source, which is `external` for a fact or a relation of this origin. A relation has
    the same three fields as in the mode `entity`. A chunk has the line in which it begins, and an
    id for the corpus tools. In compact text, a fact that looks like a relation, or like an external
    one, begins with a backslash.
    """

    content: str
    statement: Annotated[str, Key("c"), Field(exclude=True)] = ""
    relation_type: Annotated[str | None, Field(alias="relation_type")] = None
    to_entity: Annotated[str | None, Field(alias="to_entity")] = None
    to_entity_type: Annotated[str | None, Field(alias="to_entity_type")] = None
    source: str | None = None
    author: str
    score: Annotated[float, Key("s")]
    place: Annotated[int | None, Key("line"), Field(alias="line")] = None
    chunk_id: str | None = None
    chunk: Annotated[str | None, Key("id"), Field(exclude=True)] = None
    id: Annotated[str | None, Key("id", short_id=True)] = None
    created_at: datetime | None = None
    said_at: datetime | None = None
    by: Annotated[str | None, Key("by"), Field(exclude=True)] = None
    on: Annotated[str | None, Key("on"), Field(exclude=True)] = None
    period: Annotated[str | None, Key("p"), Field(exclude=True)] = None
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    proposed: Annotated[Literal[True] | None, Key("proposed")] = None
    change: Annotated[str | None, Key("change")] = None

    def line(self, layout: FactLayout) -> str:
        """Return a line with the score in hundredths, the origin as `layout` asks, and the text."""
        origin = layout.write_origin(self.id or "", self.by, self.on or "")
        place = f"line {self.place}: " if self.place else ""
        # The id of a chunk is not shortened, because the corpus tools need all of it.
        mark = EXTERNAL if self.source == "external" else ""
        origin = f"{self.chunk or ''}{origin}{place}{mark}"
        if self.relation_type is None:
            text = write_line(self.content)
        else:
            text = write_relation(self.relation_type, self.to_entity or "")
        end = PROPOSED if self.proposed else write_lifetime(self.period) if self.period else ""
        return f"{round(self.score * 100)} {origin}{text}{end}{write_change(self.change)}"


class FoundEntity(Part):
    """An entity with its facts that a search found."""

    entity_name: Annotated[str, Key("n")]
    entity_type: Annotated[str, Key("t")]
    given_type: Annotated[str | None, Field(alias="as")] = None
    space: str | None = None
    marked_space: Annotated[str | None, Key("sp"), Field(exclude=True)] = None
    memories: Annotated[list[FactPart], Key("m")]


class SearchReply(Answer):
    """Facts and chunks that match a query, grouped by entity or document, the best first."""

    spared = (("missing", "closest"), ("query", "note"), ("total_memories", "entities"))

    mode: Literal["search"] = "search"
    query: Annotated[str | None, Field(exclude=True)] = None
    total_memories: Annotated[int | None, Key("n")] = None
    entities: Annotated[list[FoundEntity] | None, Key("e"), Field(description=_FOUND)] = None
    missing: Annotated[list[str] | None, Key("no"), Field(description="words that no fact has")] = (
        None
    )
    closest: Annotated[
        str | None, Key("near"), Field(description="no answer, but the closest fact")
    ] = None
    degraded: Literal[True] | None = None
    note: Annotated[str | None, Key("note")] = None
    _rows: Sequence[HitRow] = PrivateAttr(default=())
    _over_cap: int = PrivateAttr(default=0)
    _layout: FactLayout = PrivateAttr(default=_PLAIN_LAYOUT)

    @classmethod
    def build(
        cls,
        rows: list[HitRow],
        reason: str | None,
        query: str,
        layout: FactLayout = _PLAIN_LAYOUT,
    ) -> Self:
        """Return the reply to `query`. `reason` says why vectors were not used, or is None."""
        shown = [row for row in rows if row.content is not None]
        reply = cls(query=query)
        if reason:
            reply.degraded, reply.note = True, f"keyword only: {reason}"
        reply._rows, reply._layout, reply._over_cap = shown, layout, len(rows) - len(shown)
        return reply.choose(len(shown))

    @classmethod
    def read(cls, content: dict[str, Any], query: str) -> Self:
        """Return the reply to `query` that has this structured content."""
        reply = cls.model_validate(content).model_copy(update={"query": query})
        for fact in (fact for entity in reply.entities or [] for fact in entity.memories):
            mark = EXTERNAL if fact.source == "external" else ""
            fact.statement = write_statement(fact.content, fact.relation_type, fact.to_entity, mark)
        return reply

    def explain(self, absence: Absence | None, *, of_all: bool = False) -> Self:
        """Return a copy of an empty reply with the reason why it is empty.

        If the search was `of_all` facts, the reply says so.
        """
        if absence is None:
            return self
        note = self.note or (_OF_ALL if of_all else None)
        told = {"missing": absence.words or None, "closest": absence.closest, "note": note}
        return self.model_copy(update=told)

    def read_finding(self, question: str) -> Finding:
        """Return the query and the facts, with the best score, cosine and coverage."""
        rows = [row for row in self._rows if not row.proposed]
        return Finding(
            self.query or question,
            [(row.space, str(row.observation_id)) for row in rows],
            score=max((row.score for row in rows), default=None),
            cosine=max((row.cosine for row in rows if row.cosine is not None), default=None),
            coverage=max((row.coverage for row in rows if row.coverage is not None), default=None),
        )

    def list_ids(self, count: int) -> list[str]:
        """Return the ids of the best `count` facts or chunks, the best first."""
        return [row.chunk_id or str(row.observation_id) for row in self._rows[:count]]

    def verbose(self) -> dict[str, Any]:
        """Return the query, followed by the structured content."""
        return {**({"query": self.query} if self.query else {}), **super().verbose()}

    def lines(self) -> Iterator[str]:
        """Yield a line for each entity, followed by a line for each of its facts."""
        if not self.entities and not self.dropped:
            yield describe_absence(self.missing, self.closest)
        for entity in self.entities or []:
            yield write_header(entity.entity_name, entity.entity_type, entity.marked_space)
            yield from (fact.line(self._layout) for fact in entity.memories)
        yield from self.lines_after_items()
        if self.note:
            yield f"note {self.note}"

    def size(self) -> int:
        """Return the number of facts."""
        return len(self._rows)

    def choose(self, count: int) -> Self:
        """Return a copy with the best `count` facts.

        Chunks over a limit of tokens count as omitted.
        """
        kept, groups, layout = self._rows[:count], dict[object, FoundEntity](), self._layout
        for row in kept:
            key = row.document_id or row.entity_id  # documents with equal labels share an entity
            if key not in groups:
                space, marked = layout.labels.find(row.space)
                graph = row.space if row.document_id else None  # always name the graph of a chunk
                groups[key] = FoundEntity(
                    entity_name=row.entity_name,
                    entity_type="document" if row.document_id else row.entity_type,
                    given_type=None if row.document_id else row.given_type,
                    space=row.space if layout.for_program else graph or space,
                    marked_space=graph or marked,
                    memories=[],
                )
            groups[key].memories.append(_build_fact(row, layout))
        dropped = len(self._rows) - len(kept) + self._over_cap
        content = {"total_memories": len(kept), "entities": list(groups.values())}
        omission = {"truncated": True if dropped else None, "dropped": dropped or None}
        return self.model_copy(update=content | omission)


def describe_absence(words: Sequence[str] | None, closest: str | None) -> str:
    """Return the line of an answer without facts."""
    parts = ["nothing found"]
    if words:
        parts.append(f"no fact has {', '.join(words)}")
    if closest:
        parts.append(f"closest: {write_line(closest)}")
    return "; ".join(parts)


def write_header(name: str, entity_type: str, space: str | None = None) -> str:
    """Return the first line of a group of facts.

    The name is escaped if it begins like a line of another kind.
    """
    place = f" @{space}" if space else ""
    return f"{write_line(name, HEADER_MARKS)} ({entity_type}){place}"


def _build_fact(row: HitRow, layout: FactLayout) -> FactPart:
    chunk_id = row.chunk_id if row.document_id else None
    content = (row.content or "") if row.relation_type is None else row.text
    external = row.origin == "external"
    mark = EXTERNAL if external else ""
    fact = FactPart(
        content=content,
        statement=write_statement(content, row.relation_type, row.to_entity, mark),
        relation_type=row.relation_type,
        to_entity=row.to_entity,
        to_entity_type=row.to_entity_type,
        source="external" if external else None if row.relation_id else row.source,
        author=row.author,
        score=round(row.score, 2),
        place=row.line,
        chunk_id=chunk_id,
        proposed=row.proposed or None,
        change=row.change,
    )
    if period := layout.find_period(row.valid_from, row.valid_until, asked=row.dated):
        fact.period, fact.valid_from, fact.valid_until = period, row.valid_from, row.valid_until
    if layout.with_ids or row.several_authors:
        fact.by = row.author
    if layout.with_ids:
        fact.chunk = chunk_id
    if layout.with_ids or layout.for_program:
        fact.id = None if chunk_id else str(row.observation_id)
    shows_day = row.outlived or layout.shows_day(str(row.observation_id))
    if shows_day:
        fact.on = write_day(row.said_at)
    if shows_day or layout.for_program:
        fact.created_at = row.created_at
        fact.said_at = row.said_at if row.said_at != row.created_at else None
    return fact


class ListedEntity(Part):
    """An entity of a list."""

    id: str
    name: Annotated[str, Key("n")]
    type: Annotated[str, Key("t")]
    given_type: Annotated[str | None, Field(alias="as")] = None
    description: str | None = None
    space: str | None = None
    marked_space: Annotated[str | None, Key("sp"), Field(exclude=True)] = None
    updated_at: datetime


class ListReply(Answer):
    """A page of entities, last updated first. `total` is the number of all matching entities."""

    items = ("entity_list",)
    spared = (("returned", "offset"), ("total", "entity_list"))

    mode: Literal["list"] = "list"
    total: Annotated[int | None, Key("n")] = None
    returned: int | None = None
    offset: int | None = None
    entity_list: Annotated[list[ListedEntity] | None, Key("e")] = None

    @classmethod
    def build(cls, row: ListRow, offset: int, labels: SpaceLabels = NO_LABELS) -> Self:
        """Return the reply with all entities of `row`."""
        listed = list[ListedEntity]()
        for item in row.entities:
            space, marked = labels.find(item["space"])
            fields = {key: item[key] for key in item if key not in ("entity_type", "space")}
            part = ListedEntity(
                type=item["entity_type"], space=space, marked_space=marked, **fields
            )
            listed.append(part)
        return cls(total=row.total, returned=len(listed), offset=offset, entity_list=listed)

    def verbose(self) -> dict[str, Any]:
        """Return structured content with the list under the key entities."""
        fields = super().verbose()
        return {("entities" if key == "entityList" else key): fields[key] for key in fields}

    def lines(self) -> Iterator[str]:
        """Yield the total, then a line for each entity."""
        if self.total is not None:
            yield str(self.total)
        for entity in self.entity_list or []:
            yield write_header(entity.name, entity.type, entity.marked_space)
        yield from self.lines_after_items()

    def choose(self, count: int) -> Self:
        """Return a copy with the `count` entities that were updated last."""
        kept = (self.entity_list or [])[:count]
        return self.cut(self.size() - len(kept), returned=len(kept), entity_list=kept)


class DigestFact(Part):
    """A fact of the digest. `section` says why it is there."""

    id: str
    content: str
    section: str
    author: str
    score: float
    created_at: datetime
    said_at: datetime
    by: Annotated[str | None, Field(exclude=True)] = None
    on: Annotated[str, Field(exclude=True)] = ""
    mark: Annotated[str, Field(exclude=True)] = ""
    change: str | None = None

    @property
    def line(self) -> str:
        """The line of the fact, with its author in a space with several authors."""
        origin = _PLAIN_LAYOUT.write_origin("", self.by, self.on)
        return f"- {origin}{self.mark}{write_line(self.content)}{write_change(self.change)}"


class DigestEntity(Part):
    """An entity with its facts in the digest."""

    entity_name: str
    entity_type: str
    space: str
    marked_space: Annotated[str | None, Field(exclude=True)] = None
    memories: list[DigestFact]

    @property
    def asks(self) -> bool:
        """True for the entity that the caller is."""
        return any(fact.section == "self" for fact in self.memories)


class DigestReply(Reply):
    """Facts grouped by entity, the most important first. Facts that do not fit are left out.

    Pinned facts come first, and none of them is left out. A digest is never a complete list, so it
    does not say how many facts were left out.
    """

    always_lines: ClassVar[bool] = True

    entities: list[DigestEntity] = Field(default_factory=list[DigestEntity])
    _waiting: int = PrivateAttr(default=0)
    _rows: Sequence[DigestRow] = PrivateAttr(default=())
    _pinned: int = PrivateAttr(default=0)
    _labels: SpaceLabels = PrivateAttr(default=NO_LABELS)

    @classmethod
    def build(
        cls, rows: Sequence[DigestRow], labels: SpaceLabels = NO_LABELS, waiting: int = 0
    ) -> Self:
        """Return the digest of `rows`, which are sorted by importance.

        `waiting` is the number of proposals that wait for a decision of the reader.
        """
        reply = cls()
        reply._rows, reply._labels, reply._waiting = rows, labels, waiting
        reply._pinned = sum(row.section == "pinned" for row in rows)
        return reply.choose(reply.size())

    def list_ids(self, count: int) -> list[str]:
        """Return the ids of the pinned facts and of the `count` most important others."""
        return [str(row.observation_id) for row in self._rows[: self._pinned + count]]

    def lines(self) -> Iterator[str]:
        """Yield a line for each entity, followed by a line for each of its facts."""
        for entity in self.entities:
            header = write_header(entity.entity_name, entity.entity_type, entity.marked_space)
            yield f"you: {header}" if entity.asks else header
            yield from (fact.line for fact in entity.memories)
        if self._waiting:
            yield f"proposals to review: {self._waiting}"

    def size(self) -> int:
        """Return the number of facts that are not pinned."""
        return len(self._rows) - self._pinned

    def choose(self, count: int) -> Self:
        """Return a copy with the pinned facts and the `count` most important others."""
        rows = self._rows[: self._pinned + count]
        return self.model_copy(update={"entities": _group(rows, self._labels)})


def _group(rows: Sequence[DigestRow], labels: SpaceLabels) -> list[DigestEntity]:
    groups: dict[Any, DigestEntity] = {}
    for row in rows:
        if row.entity_id not in groups:
            groups[row.entity_id] = DigestEntity(
                entity_name=row.entity_name,
                entity_type=row.entity_type,
                space=row.space,
                marked_space=labels.find(row.space)[1],
                memories=[],
            )
        groups[row.entity_id].memories.append(
            DigestFact(
                id=str(row.observation_id),
                content=row.content,
                section=row.section,
                author=row.author,
                score=round(row.score, 2),
                created_at=row.created_at,
                said_at=row.said_at,
                by=row.author if row.several_authors else None,
                on=write_day(row.said_at) if row.outlived else "",
                mark=EXTERNAL if row.origin == "external" else "",
                change=row.change,
            )
        )
    return list(groups.values())


async def find_for_program(
    memory: MemoryOperations,
    question: Question,
    caller: Caller,
    program: Program,
    authors: Sequence[str],
    layout: FactLayout,
) -> SearchReply:
    """Return the reply of a search to a program, without the facts that it knows.

    `authors` is the value of DIGEST_AUTHORS, which restricts hooks if the program names none.
    Nobody asked for the text of a hook. So secrets are masked there, and an empty answer has only
    the names that no fact has.
    """
    chosen = (program.authors or authors) if program.is_hook else EVERYBODY
    # Of a search for some authors, the database does not know how many facts others have written.
    longest = SHORT_PROMPT if program.is_hook else QUERY_LENGTH
    question = await memory.condense(question, caller, longest=longest)
    wanted = program.count_wanted(question.limit) if includes_everybody(chosen) else MOST_FACTS
    asked = replace(question, limit=wanted, about=program.about, entries=not program.is_hook)
    rows, reason = await memory.search(asked, caller)
    rows = await memory.choose_by_authors(rows, chosen, caller)
    new = program.leave_out_known(rows, attrgetter("observation_id"))[: question.limit]
    if program.is_hook:
        for row in new:
            row.content = row.content and mask_secrets(row.content).text
    reply = SearchReply.build(new, reason, question.query, replace(layout, for_program=True))
    if program.is_hook:
        reply.note = None
    if rows:
        return reply
    find = memory.find_unknown_names if program.is_hook else memory.explain_absence
    return reply.explain(await find(question, caller))


async def digest_for_program(
    memory: MemoryOperations,
    project: str | None,
    caller: Caller,
    program: Program,
    authors: Sequence[str],
) -> DigestReply:
    """Return the digest for a program, without the facts that it knows.

    `authors` is the value of DIGEST_AUTHORS, which applies if the program names none.
    """
    rows = await memory.digest(project or None, caller, authors=program.authors or authors)
    new = program.leave_out_known(rows, attrgetter("observation_id"))
    waiting = await memory.count_waiting(caller)
    return DigestReply.build(new, find_space_labels(caller.principal), waiting)
