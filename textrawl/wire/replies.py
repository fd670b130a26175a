"""Replies: one model, two channels, one budget.

A reply model declares its fields once; beside each stands its short key. From it come the
structured content (canonical camelCase keys), and the text in one of three formats: compact (short
keys, no white space), verbose (long keys, two spaces), lines (the cheapest). A reply that is too
large for its budget loses its last items, whole, until it fits, and says how many.
"""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, ClassVar, Self, cast

from mcp.types import CallToolResult, TextContent
from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel
from pydantic_core import to_json

from textrawl.errors import NothingDeleted, TextrawlError
from textrawl.settings import Format
from textrawl.wire.token_counter import Counter

_OWN_WORDS = re.compile(r"(?:cut|more|note|not found|nothing found)\b")
_SHORT_ID = 8  # characters: every parameter that takes an id accepts as few


@dataclass(frozen=True)
class Key:
    """The short key of a field in compact text; fields without one are left out of it."""

    name: str
    short_id: bool = False


class Part(BaseModel):
    """A piece of a reply: snake_case here, camelCase on the wire."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        populate_by_name=True,
        json_schema_serialization_defaults_required=True,
    )

    def structured(self) -> dict[str, Any]:
        """Canonical keys, absent ones left out."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)

    def compact(self) -> Any:
        """Short keys; a part may be less than an object, such as a bare string."""
        found: dict[str, Any] = {}
        for name, key in _find_keys(type(self)):
            value = getattr(self, name)
            if value is not None:
                found[key.name] = str(value)[:_SHORT_ID] if key.short_id else _shorten(value)
        return found


@cache
def _find_keys(part: type[Part]) -> tuple[tuple[str, Key], ...]:
    """The fields of a part that compact text has, each with its key."""
    return tuple(
        (name, key)
        for name, field in part.model_fields.items()
        for key in field.metadata
        if isinstance(key, Key)
    )


class Reply(Part):
    """A whole answer. Those with items that may be left out override `size` and `choose`."""

    one_channel: ClassVar[bool] = False  # whether only the larger channel counts
    large: ClassVar[bool] = False  # whether it has the budget of graphs
    unread: ClassVar[frozenset[str]] = frozenset()  # canonical keys that verbose text does without
    spared: ClassVar[tuple[tuple[str, ...], ...]] = ()
    """Fields that go, group by group, when the budget is too small even without any item."""

    def verbose(self) -> dict[str, Any]:
        """What the text says in its long form."""
        return {k: v for k, v in self.structured().items() if k not in self.unread}

    def lines(self) -> Iterator[str]:
        """The text, line by line."""
        yield write_json(self.compact())

    def size(self) -> int:
        """How many items may be left out."""
        return 0

    def choose(self, count: int) -> Self:
        """A copy with the best `count` items, which says how many are gone."""
        return self.model_copy()

    def keep(self, count: int) -> Self:
        """The reply with its best `count` items; each step below zero spares a group of fields."""
        reply = self.choose(max(count, 0))
        gone = [name for group in self.spared[: max(-count, 0)] for name in group]
        return reply.model_copy(update=dict.fromkeys(gone))


class RefusalReply(Reply):
    """A deletion that was not made, in the shape that answers of a deletion have."""

    success: Annotated[bool, Key("ok")] = False
    reason: Annotated[str | None, Key("err"), Field(exclude=True)]
    error: str
    message: str
    fix: str
    hint: Annotated[str | None, Key("fix"), Field(exclude=True)]

    @classmethod
    def build(cls, refusal: NothingDeleted) -> Self:
        """Return the reply that tells `refusal`."""
        return cls(
            reason=refusal.code, error=refusal.title, message=refusal.message, fix=refusal.fix,
            hint=refusal.fix if refusal.explained else None,
        )  # fmt: skip

    def lines(self) -> Iterator[str]:
        """Sentences."""
        yield write_sentences(self.error, self.message, self.fix)


def _shorten(value: Any) -> Any:
    if isinstance(value, Part):
        return value.compact()
    if isinstance(value, list):
        return [_shorten(item) for item in cast("list[Any]", value)]
    return value


def write_line(text: str, marks: str = "") -> str:
    r"""Text on one line that begins neither with one of `marks` nor with a word of the format.

    Line breaks become \n, so that no text can add a line that looks like another fact or entity.
    """
    flat = text.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t")
    return "\\" + flat if flat[:1] in tuple(marks) or _OWN_WORDS.match(flat) else flat


@dataclass(frozen=True)
class Written:
    """A result and its cost: `tokens` against the budget, `dropped` items for lack of room."""

    result: CallToolResult
    tokens: int
    budget: int
    items: int
    dropped: int


@dataclass(frozen=True)
class Renderer:
    """Turns replies into results. `budget`: most tokens of a result where the call names none.

    All channels together count. In the graph toolset, whose text and structured content say the
    same, the larger counts: programs pass one of them on. `graph_budget` is for what it reads.
    """

    format: Format
    structured: bool
    counter: Counter
    budget: int
    graph_budget: int = 25_000

    def render(self, reply: Reply, max_tokens: int | None = None) -> CallToolResult:
        """The result, within the budget."""
        return self.write(reply, max_tokens).result

    def write(self, reply: Reply, max_tokens: int | None = None) -> Written:
        """The result, within the budget, and what it costs."""
        budget, size = max_tokens or self._find_budget(reply), reply.size()
        result = self._encode(reply)
        if (tokens := self._weigh(reply, result)) <= budget:
            return Written(result, tokens, budget, size, 0)
        kept, tokens = self._find_fit(reply, budget, tokens)
        result, tokens = self._tell_cost(reply.keep(kept), tokens)
        items = max(kept, 0)
        return Written(result, tokens, budget, items, size - items)

    def render_error(self, error: TextrawlError) -> CallToolResult:
        """Return the error as a result that says what to do next.

        It is text alone, because clients check structured content even here. Beside structured
        content of other answers the text is no JSON either: Gemini CLI takes a JSON text for
        structured content, checks it, and shows its model that the check failed.
        """
        if isinstance(error, NothingDeleted):
            refusal = self._encode(RefusalReply.build(error))
            return refusal.model_copy(update={"is_error": True})
        if self.structured:
            text = write_sentences(error.title, error.fix)
        else:
            indent = 2 if self.format == "verbose" else None
            text = write_json({"error": error.title, "fix": error.fix}, indent)
        return CallToolResult(content=[TextContent(text=text)], is_error=True)

    def measure(self, result: CallToolResult) -> int:
        """Tokens of all channels of a result."""
        return sum(self.counter.count(text) for text in _list_texts(result))

    def _find_budget(self, reply: Reply) -> int:
        return self.graph_budget if reply.large else self.budget

    def _weigh(self, reply: Reply, result: CallToolResult) -> int:
        """Tokens of a result that count against the budget of its reply."""
        if not reply.one_channel:
            return self.measure(result)
        return max(self.counter.count(text) for text in set(_list_texts(result)))

    def _encode(self, reply: Reply) -> CallToolResult:
        if self.format == "lines":
            text = "\n".join(reply.lines())
        elif self.format == "compact":
            text = write_json(reply.compact())
        else:
            text = write_json(reply.verbose(), 2)
        return CallToolResult(
            content=[TextContent(text=text)],
            structured_content=reply.structured() if self.structured else None,
        )

    def _find_fit(self, reply: Reply, budget: int, whole: int) -> tuple[int, int]:
        """How much to keep of a reply that costs `whole` tokens, as much as fits, and its cost."""
        fits, cost, too_many = -len(reply.spared), 0, reply.size() + 1
        each = max(whole / too_many, 1)
        middle, steps = int(budget / each), 0
        while too_many - fits > 1:
            middle = min(max(middle, fits + 1), too_many - 1)
            # The budget stands in for the cost, which has no more digits: one writing a step.
            bound = reply.keep(middle).model_copy(update=self._claim(reply, budget))
            tokens = self._weigh(bound, self._encode(bound))
            left = budget - tokens
            if left >= 0:
                fits, cost = middle, tokens
            else:
                too_many = middle
            steps += 1
            # Items are much alike, so the next place is guessed; where they are not, halving is
            # sure to end.
            middle = middle + math.floor(left / each) if steps % 3 else (fits + too_many) // 2
        return fits, cost

    def _tell_cost(self, reply: Reply, cost: int) -> tuple[CallToolResult, int]:
        """The result with its cost, if it tells it: the number is part of what it costs.

        It costs about `cost`. A larger number never takes fewer tokens, so this comes to an end.
        """
        while True:
            claim = self._claim(reply, cost)
            result = self._encode(reply.model_copy(update=claim))
            used = self._weigh(reply, result)
            if used == cost or not claim:
                return result, used
            cost = used

    @staticmethod
    def _claim(reply: Reply, used: int) -> dict[str, int]:
        return {"used_tokens": used} if "used_tokens" in type(reply).model_fields else {}


def _list_texts(result: CallToolResult) -> list[str]:
    texts = [block.text for block in result.content if isinstance(block, TextContent)]
    if result.structured_content is not None:
        texts.append(write_json(result.structured_content))
    return texts


def write_sentences(*parts: str) -> str:
    """Return the parts as sentences on one line."""
    return " ".join(part if part.endswith((".", "!", "?")) else f"{part}." for part in parts)


def write_json(value: object, indent: int | None = None) -> str:
    """JSON without white space, or indented."""
    return to_json(value, indent=indent).decode()
