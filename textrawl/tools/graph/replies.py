"""Replies of the graph tools: text and structured content have the same keys.

MCP's reference memory server (`@modelcontextprotocol/server-memory`) answers in this form.
"""

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Self, cast

from mcp.types import CallToolResult, TextContent
from pydantic import Field, PrivateAttr

from textrawl.memory.graph import NodeRow, PartRow
from textrawl.tools.call import Call
from textrawl.wire.replies import SNAKE_CASE, Part, Reply, write_json

_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
_GO_ON = "There is more: call again with cursor"
_SHORTENED = ". This answer does not repeat everything: open_nodes shows the rest"
_TOO_LONG = "; an item too long for any answer was left out: see TEXTRAWL_MAX_GRAPH_TOKENS"


class NodePart(Part):
    """An entity with its observations."""

    id: int | None = None
    name: str
    entity_type: str
    observations: list[str]


class StoredPart(NodePart):
    """An entity with its observations.

    If the observations are omitted, `added` is the number of new observations.
    """

    added: int | None = None


class EdgePart(Part):
    """A relation."""

    id: int | None = None
    source: Annotated[str, Field(alias="from")]
    to: str
    relation_type: str


class PlainReply(Reply):
    """A reply whose text equals its structured content."""

    one_channel = True
    large = True

    def compact(self) -> Any:
        """Return the structured content."""
        return self.structured()

    def lines(self) -> Iterator[str]:
        """Yield the same JSON as one line, because programs read these answers as JSON."""
        yield write_json(self.compact())


class GraphReply(PlainReply):
    """As many entities and relations as fit the budget, and a cursor to read the rest."""

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
        """Return the reply with at most `most` of `rows`. `cursors` has the cursor of each row."""
        reply = cls()
        reply._rows, reply._cursors = rows, cursors
        reply._most, reply._with_ids = most, with_ids
        return reply.choose(reply.size())

    def size(self) -> int:
        """Return the number of rows that a page can have."""
        return min(len(self._rows), self._most)

    def choose(self, count: int) -> Self:
        """Return a copy with at most the first `count` rows, as whole entities where possible.

        A row that alone is too long is skipped.
        """
        count = self._find_end(count)
        reply = self.model_copy(update=_group(self._rows[:count], with_ids=self._with_ids))
        place = count if count or not self._rows else 1
        if place < len(self._cursors):
            reply.next_cursor = self._cursors[place]
            reply.note = _GO_ON + ("" if place == count else _TOO_LONG)
        return reply

    def _find_end(self, count: int) -> int:
        """Return the number of rows on a page that has at most `count` rows.

        A page normally ends with a whole entity. An entity that is too long for one page goes on
        on the next page. The page on which it ends has no other entity.
        """
        numbers = [row.number for row in self._rows]
        if not numbers:
            return 0
        first = next((n for n, number in enumerate(numbers) if number != numbers[0]), len(numbers))
        if self._rows[0].kind != "entity":
            return min(count, first)  # the rest of an entity that began on an earlier page
        if count >= len(numbers):
            return len(numbers)
        return numbers.index(numbers[count]) or count


def _group(rows: Sequence[PartRow], *, with_ids: bool) -> dict[str, Any]:
    nodes: dict[int, NodePart] = {}
    edges: list[EdgePart] = []
    for row in rows:
        if row.number not in nodes:
            nodes[row.number] = NodePart(
                id=row.number if with_ids else None,
                name=row.name,
                entity_type=row.entity_type,
                observations=[],
            )
        if row.content is not None:
            nodes[row.number].observations.append(row.content)
        if row.from_entity and row.relation and row.to_entity:
            edges.append(
                EdgePart(
                    id=row.relation_number if with_ids else None,
                    source=row.from_entity,
                    to=row.to_entity,
                    relation_type=row.relation,
                )
            )
    return {"entities": list(nodes.values()), "relations": edges}


class StoredReply(PlainReply):
    """The stored items. The text is the bare list if the reply does not have another field.

    If the items exceed the budget, the reply is shortened. `note` then says how much was stored.
    """

    large = False

    note: str | None = None

    def compact(self) -> Any:
        """Return the bare list, or all fields if there is more than one field."""
        fields = self.structured()
        [first, *others] = fields
        return fields if others else fields[first]

    verbose = compact


class CreatedReply(StoredReply):
    """Entities that are new or have new observations."""

    entities: list[StoredPart]
    _added: list[int] = PrivateAttr(default_factory=list[int])

    @classmethod
    def build(cls, rows: Sequence[NodeRow]) -> Self:
        """Return the reply for `rows`."""
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
        """Return the number of entities plus one, which stands for the whole reply."""
        return len(self.entities) + 1

    def choose(self, count: int) -> Self:
        """Return the whole reply if `count` exceeds the number of entities.

        Otherwise return the first `count` entities, each with the number of its observations.
        """
        if count > len(self.entities):
            return self
        bare = [
            part.model_copy(update={"observations": [], "added": added})
            for part, added in zip(self.entities[:count], self._added[:count], strict=True)
        ]
        note = f"Stored: entities {len(self.entities)}, observations {sum(self._added)}"
        return self.model_copy(update={"entities": bare, "note": note + _SHORTENED})


class RelatedReply(StoredReply):
    """New relations, and the errors for those not stored, which come first: they need an action."""

    items = ("errors", "relations")

    relations: list[EdgePart]
    errors: list[str] | None = None

    def choose(self, count: int) -> Self:
        """Return a copy with the first items, and with a note if it lacks some."""
        errors = len(self.errors or [])
        note = f"Stored: relations {len(self.relations)}; not stored: {errors}{_SHORTENED}"
        reply = super().choose(count)
        return reply.model_copy(update={"note": note if count < self.size() else None})


class AddedPart(Part):
    """The new observations of an entity. If they are omitted, `added` is their number."""

    entity_name: str
    added_observations: list[str]
    added: int | None = None


class AddedReply(StoredReply):
    """The new observations, grouped by entity."""

    results: list[AddedPart]

    def size(self) -> int:
        """Return the number of entities plus one, which stands for the whole reply."""
        return len(self.results) + 1

    def choose(self, count: int) -> Self:
        """Return the whole reply if `count` exceeds the number of entities.

        Otherwise return the first `count` entities, each with the number of its observations.
        """
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
    """One entity with its present observations. It answers a call with the parameter `name`."""

    large = False

    entity: NodePart
    note: str | None = None

    def size(self) -> int:
        """Return the number of observations."""
        return len(self.entity.observations)

    def choose(self, count: int) -> Self:
        """Return a copy with the newest `count` observations."""
        texts = self.entity.observations
        if count >= len(texts):
            return self
        kept = self.entity.model_copy(update={"observations": texts[len(texts) - count :]})
        note = f"The newest {count} of {len(texts)} observations; open_nodes has all"
        return self.model_copy(update={"entity": kept, "note": note})


class DoneReply(PlainReply):
    """The result of a deletion. `message` is a sentence that is also the text of the answer."""

    large = False

    success: bool = True
    message: str

    @property
    def notice(self) -> dict[str, Any]:
        """Nothing, because readers of the reference server's answers refuse other members."""
        return {}


def reply_plainly(call: Call, reply: DoneReply) -> CallToolResult:
    """Answer with the bare `message` as the text, as MCP's reference memory server does."""
    result = call.reply(reply)
    return result.model_copy(update={"content": [TextContent(text=reply.message)]})


def write_number(number: int) -> str:
    """Return a number in base 36, because models then copy fewer characters."""
    digits = ""
    while number or not digits:
        number, digit = divmod(number, 36)
        digits = _DIGITS[digit] + digits
    return digits


class SnakeReply(PlainReply):
    """A reply with snake_case keys."""

    model_config = SNAKE_CASE


class ListedReply(SnakeReply):
    """A reply with several lists, which are shortened together.

    `dropped` is the number of items left out of all lists.
    """

    dropped: int | None = None

    def size(self) -> int:
        """Return the number of items in all lists."""
        return sum(len(items) for items in self._lists().values())

    def choose(self, count: int) -> Self:
        """Return a copy with the first items of each list, `count` items in all.

        The lists get equal shares. If a list is shorter than its share, longer lists get the rest.
        """
        kept, left, lists = dict[str, list[object]](), count, self._lists()
        for place, (name, items) in enumerate(lists.items()):
            share = -(-left // (len(lists) - place))
            kept[name] = items[:share]
            left -= len(kept[name])
        dropped = self.size() - sum(map(len, kept.values()))
        return self.model_copy(update={**kept, "dropped": dropped or None})

    def _lists(self) -> dict[str, list[object]]:
        fields: dict[str, object] = {name: getattr(self, name) for name in type(self).model_fields}
        lists = {
            name: cast("list[object]", value)
            for name, value in fields.items()
            if isinstance(value, list)
        }
        return dict(sorted(lists.items(), key=lambda item: len(item[1])))
