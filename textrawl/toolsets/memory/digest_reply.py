"""The digest: the facts that matter at the start of a conversation."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, ClassVar, Self

from pydantic import Field, PrivateAttr

from textrawl.toolsets.memory.rows import DigestRow
from textrawl.toolsets.memory.search_replies import (
    NO_LABELS,
    FactLayout,
    SpaceLabels,
    write_header,
)
from textrawl.values.line_text import write_line
from textrawl.wire.replies import Key, Part, Reply

_LAYOUT = FactLayout()


class DigestFact(Part):
    """A fact of the digest. `section` says why it is there."""

    id: str
    content: Annotated[str, Key("c")]
    section: str
    by: Annotated[str | None, Key("by")] = None

    @property
    def line(self) -> str:
        """The line of the fact, with its author in a space with several authors."""
        return f"- {_LAYOUT.write_origin('', self.by, '')}{write_line(self.content)}"


class DigestEntity(Part):
    """An entity with its facts in the digest."""

    entity_name: Annotated[str, Key("n")]
    entity_type: Annotated[str, Key("t")]
    space: str | None = None
    marked_space: Annotated[str | None, Key("sp"), Field(exclude=True)] = None
    memories: Annotated[list[DigestFact], Key("m")]


class DigestReply(Reply):
    """Facts grouped by entity, the most important first. Facts that do not fit are left out.

    A digest is never a complete list, so it does not say how many facts were left out.
    """

    always_lines: ClassVar[bool] = True

    entities: Annotated[list[DigestEntity], Key("e")] = Field(default_factory=list[DigestEntity])
    _rows: Sequence[DigestRow] = PrivateAttr(default=())
    _labels: SpaceLabels = PrivateAttr(default=NO_LABELS)

    @classmethod
    def build(cls, rows: Sequence[DigestRow], labels: SpaceLabels = NO_LABELS) -> Self:
        """Return the digest of `rows`, which are sorted by importance."""
        reply = cls()
        reply._rows, reply._labels = rows, labels
        return reply.choose(len(rows))

    @property
    def ids(self) -> list[str]:
        """The ids of the facts in the digest."""
        return [fact.id for entity in self.entities for fact in entity.memories]

    def lines(self) -> Iterator[str]:
        """Yield a line for each entity, followed by a line for each of its facts."""
        for entity in self.entities:
            yield write_header(entity.entity_name, entity.entity_type, entity.marked_space)
            yield from (fact.line for fact in entity.memories)

    def size(self) -> int:
        """Return the number of facts."""
        return len(self._rows)

    def choose(self, count: int) -> Self:
        """Return a copy with the `count` most important facts."""
        return self.model_copy(update={"entities": _group(self._rows[:count], self._labels)})


def _group(rows: Sequence[DigestRow], labels: SpaceLabels) -> list[DigestEntity]:
    groups: dict[Any, DigestEntity] = {}
    for row in rows:
        fact = DigestFact(id=str(row.observation_id), content=row.content, section=row.section)
        fact.by = row.author if row.several_authors else None
        if row.entity_id not in groups:
            groups[row.entity_id] = DigestEntity(
                entity_name=row.entity_name,
                entity_type=row.entity_type,
                space=labels.for_content(row.space),
                marked_space=labels.for_text(row.space),
                memories=[],
            )
        groups[row.entity_id].memories.append(fact)
    return list(groups.values())
