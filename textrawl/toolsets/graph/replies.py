"""Replies in the reference's shape: the same keys in the text as in structured content."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Self

from mcp.types import CallToolResult, TextContent
from pydantic import Field, PrivateAttr

from textrawl.toolsets.call import Call
from textrawl.toolsets.graph.operations import NodeRow, PartRow
from textrawl.wire.replies import Part, Reply, write_json

_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
_GO_ON = "There is more: call again with cursor"
_SHORTENED = ". Not all of it is repeated here: open_nodes has it"
_TOO_LONG = "; what was too long for one answer is left out: see TEXTRAWL_MAX_GRAPH_TOKENS"


class NodePart(Part):
    """An entity with its observations."""

    id: int | None = None
    name: str
    entity_type: str
    observations: list[str]


class StoredPart(NodePart):
    """An entity with its observations; `added` counts new ones where they are left out."""

    added: int | None = None


class EdgePart(Part):
    """A relation."""

    id: int | None = None
    source: Annotated[str, Field(alias="from")]
    to: str
    relation_type: str


class PlainReply(Reply):
    """A reply whose text is its structured content."""

    one_channel = True
    large = True

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
    _most: int = PrivateAttr(default=0)
    _with_ids: bool = PrivateAttr(default=False)

    @classmethod
    def build(
        cls, rows: Sequence[PartRow], cursors: Sequence[str], most: int, *, with_ids: bool = False
    ) -> Self:
        """The reply that tells `rows`, at most `most`; a cursor for each, to go on there."""
        reply = cls()
        reply._rows, reply._cursors = rows, cursors
        reply._most, reply._with_ids = most, with_ids
        return reply.choose(reply.size())

    def size(self) -> int:
        """How many parts there are."""
        return min(len(self._rows), self._most)

    def choose(self, count: int) -> Self:
        """The first parts, of whole entities; one that would not fit even alone is passed over."""
        count = self._find_end(count)
        reply = self.model_copy(update=_group(self._rows[:count], with_ids=self._with_ids))
        place = count if count or not self._rows else 1
        if place < len(self._cursors):
            reply.next_cursor = self._cursors[place]
            reply.note = _GO_ON + ("" if place == count else _TOO_LONG)
        return reply

    def _find_end(self, count: int) -> int:
        """Where a page of at most `count` parts ends: what is cut is alone on its page."""
        numbers = [row.number for row in self._rows]
        if not numbers:
            return 0
        first = next((n for n, number in enumerate(numbers) if number != numbers[0]), len(numbers))
        if self._rows[0].kind != "entity":
            return min(count, first)  # the rest of an entity that was cut
        if count >= len(numbers):
            return len(numbers)
        return numbers.index(numbers[count]) or count


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


class StoredReply(PlainReply):
    """What a call stored; the text is the list alone, unless something has to be said beside it.

    Where that is too long it becomes names and counts. `note` says what is left out: all is stored.
    """

    large = False

    note: str | None = None

    def compact(self) -> Any:
        """The list, unless something has to be said beside it."""
        told = self.structured()
        [first, *others] = told
        return told if others else told[first]

    verbose = compact


class CreatedReply(StoredReply):
    """Entities that are new or have new observations."""

    entities: list[StoredPart]
    _added: list[int] = PrivateAttr(default_factory=list[int])

    @classmethod
    def build(cls, rows: Sequence[NodeRow]) -> Self:
        """The reply that tells `rows`."""
        changed = [row for row in rows if row.created or row.added]
        reply = cls(
            entities=[
                StoredPart(
                    name=row.name, entity_type=row.entity_type, observations=row.observations
                )
                for row in changed
            ]
        )
        reply._added = [row.added for row in changed]
        return reply

    def size(self) -> int:
        """How many names, and all that was stored."""
        return len(self.entities) + 1

    def choose(self, count: int) -> Self:
        """All as they are, or the names of the first."""
        if count > len(self.entities):
            return self
        bare = [
            part.model_copy(update={"observations": [], "added": added})
            for part, added in zip(self.entities[:count], self._added[:count], strict=True)
        ]
        note = f"Stored: entities {len(self.entities)}, observations {sum(self._added)}"
        return self.model_copy(update={"entities": bare, "note": note + _SHORTENED})


class RelatedReply(StoredReply):
    """Relations that are new, and why others could not be."""

    relations: list[EdgePart]
    errors: list[str] | None = None

    def size(self) -> int:
        """How many relations and errors."""
        return len(self.relations) + len(self.errors or [])

    def choose(self, count: int) -> Self:
        """Errors first: they are what has to be acted on."""
        errors = self.errors or []
        listed, kept = errors[:count], self.relations[: max(count - len(errors), 0)]
        note = f"Stored: relations {len(self.relations)}; not stored: {len(errors)}{_SHORTENED}"
        return self.model_copy(
            update={
                "errors": listed or None, "relations": kept,
                "note": note if count < self.size() else None,
            }
        )  # fmt: skip


class AddedPart(Part):
    """What is new about an entity; `added` counts it where it is left out."""

    entity_name: str
    added_observations: list[str]
    added: int | None = None


class AddedReply(StoredReply):
    """What is new, entity by entity."""

    results: list[AddedPart]

    def size(self) -> int:
        """How many names, and all that was stored."""
        return len(self.results) + 1

    def choose(self, count: int) -> Self:
        """All as it is, or the names of the first."""
        if count > len(self.results):
            return self
        bare = [
            part.model_copy(
                update={"added_observations": [], "added": len(part.added_observations)}
            )
            for part in self.results[:count]
        ]
        total = sum(len(part.added_observations) for part in self.results)
        note = f"Stored: observations {total}{_SHORTENED}"
        return self.model_copy(update={"results": bare, "note": note})


class EntityReply(PlainReply):
    """One entity as it is now: the shape for those who name it beside the observations."""

    large = False

    entity: NodePart
    note: str | None = None

    def size(self) -> int:
        """How many observations."""
        return len(self.entity.observations)

    def choose(self, count: int) -> Self:
        """The newest observations: what was added is among them."""
        texts = self.entity.observations
        if count >= len(texts):
            return self
        kept = self.entity.model_copy(update={"observations": texts[len(texts) - count :]})
        note = f"The newest {count} of {len(texts)} observations; open_nodes has all"
        return self.model_copy(update={"entity": kept, "note": note})


class DoneReply(PlainReply):
    """What was deleted, in a sentence; the text is that sentence."""

    large = False

    success: bool = True
    message: str


def say_plainly(call: Call, reply: DoneReply) -> CallToolResult:
    """Answer with the bare sentence as the text, as the reference server does."""
    result = call.reply(reply)
    return result.model_copy(update={"content": [TextContent(text=reply.message)]})


def write_number(number: int) -> str:
    """A number in few characters, for a model to copy."""
    digits = ""
    while number or not digits:
        number, digit = divmod(number, 36)
        digits = _DIGITS[digit] + digits
    return digits
