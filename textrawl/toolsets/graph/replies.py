"""Replies in the reference's shape: the same keys in the text as in structured content."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Self

from mcp.types import CallToolResult, TextContent
from pydantic import Field, PrivateAttr

from textrawl.graph import NodeRow, PartRow
from textrawl.replies import Part, Reply, write_json
from textrawl.toolsets import App

_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
_GO_ON = "There is more: call again with cursor"
_TOO_LONG = "; what was too long for one answer is left out: see MAX_RESPONSE_TOKENS"


class NodePart(Part):
    """An entity with its observations."""

    id: int | None = None
    name: str
    entity_type: str
    observations: list[str]


class EdgePart(Part):
    """A relation."""

    id: int | None = None
    source: Annotated[str, Field(alias="from")]
    to: str
    relation_type: str


class PlainReply(Reply):
    """A reply whose text is its structured content."""

    def compact(self) -> Any:
        """Canonical keys."""
        return self.structured()

    def lines(self) -> Iterator[str]:
        """The same: programs read these answers as JSON."""
        yield write_json(self.compact())


class GraphReply(PlainReply):
    """Entities and relations, as many as fit, and where to go on."""

    spared = (("note",), ("entities", "relations"))

    entities: list[NodePart] | None = None
    relations: list[EdgePart] | None = None
    next_cursor: str | None = None
    note: str | None = None
    _rows: Sequence[PartRow] = PrivateAttr(default=())
    _cursors: Sequence[str] = PrivateAttr(default=())
    _with_ids: bool = PrivateAttr(default=False)

    @classmethod
    def build(
        cls, rows: Sequence[PartRow], cursors: Sequence[str], most: int, *, with_ids: bool = False
    ) -> Self:
        """The reply that tells `rows`, at most `most`; a cursor for each, to go on there."""
        reply = cls()
        reply._rows, reply._cursors, reply._with_ids = rows[:most], cursors, with_ids
        return reply.choose(len(reply._rows))

    def size(self) -> int:
        """How many parts there are."""
        return len(self._rows)

    def choose(self, count: int) -> Self:
        """The first parts; one that would not fit even alone is passed over."""
        kept = self._rows[:count]
        reply = self.model_copy(update=_group(kept, with_ids=self._with_ids))
        place = count if count or not self._rows else 1
        if place < len(self._cursors):
            reply.next_cursor = self._cursors[place]
            reply.note = _GO_ON + ("" if place == count else _TOO_LONG)
        return reply


def _group(rows: Sequence[PartRow], *, with_ids: bool) -> dict[str, Any]:
    nodes: dict[int, NodePart] = {}
    edges: list[EdgePart] = []
    for row in rows:
        if row.number not in nodes:
            nodes[row.number] = NodePart(
                id=row.number if with_ids else None, name=row.name, entity_type=row.entity_type,
                observations=[],
            )  # fmt: skip
        if row.content is not None:
            nodes[row.number].observations.append(row.content)
        if row.from_entity and row.relation and row.to_entity:
            edges.append(
                EdgePart(
                    id=row.relation_number if with_ids else None, source=row.from_entity,
                    to=row.to_entity, relation_type=row.relation,
                )
            )  # fmt: skip
    return {"entities": list(nodes.values()), "relations": edges}


class CreatedReply(PlainReply):
    """Entities that are new or have new observations; the text is the list alone."""

    entities: list[NodePart]
    dropped: int | None = None

    @classmethod
    def build(cls, rows: Sequence[NodeRow]) -> Self:
        """The reply that tells `rows`."""
        return cls(
            entities=[
                NodePart(name=row.name, entity_type=row.entity_type, observations=row.observations)
                for row in rows
                if row.created or row.added
            ]
        )

    def compact(self) -> Any:
        """The list, unless something has to be said beside it."""
        told = self.structured()
        return told if self.dropped else told["entities"]

    verbose = compact

    def size(self) -> int:
        """How many entities."""
        return len(self.entities)

    def choose(self, count: int) -> Self:
        """The first entities."""
        dropped = len(self.entities) - count
        return self.model_copy(
            update={"entities": self.entities[:count], "dropped": dropped or None}
        )


class RelatedReply(PlainReply):
    """Relations that are new, and why others could not be; the text is the list alone."""

    relations: list[EdgePart]
    errors: list[str] | None = None
    dropped: int | None = None

    def compact(self) -> Any:
        """The list, unless something has to be said beside it."""
        told = self.structured()
        return told["relations"] if told.keys() == {"relations"} else told

    verbose = compact

    def size(self) -> int:
        """How many relations and errors."""
        return len(self.relations) + len(self.errors or [])

    def choose(self, count: int) -> Self:
        """Errors first: they are what has to be acted on."""
        told = (self.errors or [])[:count]
        kept = self.relations[: count - len(told)]
        dropped = self.size() - len(told) - len(kept)
        return self.model_copy(
            update={"errors": told or None, "relations": kept, "dropped": dropped or None}
        )


class AddedPart(Part):
    """What is new about an entity."""

    entity_name: str
    added_observations: list[str]


class AddedReply(PlainReply):
    """What is new, entity by entity; the text is the list alone."""

    results: list[AddedPart]
    dropped: int | None = None

    def compact(self) -> Any:
        """The list, unless something has to be said beside it."""
        told = self.structured()
        return told if self.dropped else told["results"]

    verbose = compact

    def size(self) -> int:
        """How many entities."""
        return len(self.results)

    def choose(self, count: int) -> Self:
        """The first entities."""
        dropped = len(self.results) - count
        return self.model_copy(update={"results": self.results[:count], "dropped": dropped or None})


class EntityReply(PlainReply):
    """One entity as it is now: the shape for those who name it beside the observations."""

    entity: NodePart
    dropped: int | None = None

    def size(self) -> int:
        """How many observations."""
        return len(self.entity.observations)

    def choose(self, count: int) -> Self:
        """The newest observations: what was added is among them."""
        texts = self.entity.observations
        kept = self.entity.model_copy(update={"observations": texts[len(texts) - count :]})
        return self.model_copy(update={"entity": kept, "dropped": (len(texts) - count) or None})


class DoneReply(PlainReply):
    """What was deleted, in a sentence; the text is that sentence."""

    success: bool = True
    message: str


def say(app: App, reply: DoneReply) -> CallToolResult:
    """The result whose text is the bare sentence, as the reference has it."""
    result = app.render(reply)
    return result.model_copy(update={"content": [TextContent(text=reply.message)]})


def write_number(number: int) -> str:
    """A number in few characters, for a model to copy."""
    digits = ""
    while number or not digits:
        number, digit = divmod(number, 36)
        digits = _DIGITS[digit] + digits
    return digits
