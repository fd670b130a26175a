"""Replies of tools, and the results that are made of them within a budget of tokens.

A reply model declares each field once, with its short key. It becomes structured content with long
camelCase keys, and text in one of three formats:

- compact: JSON with short keys, without white space,
- verbose: JSON with long keys, indented by two spaces,
- lines: plain lines, which cost the fewest tokens.

If a reply exceeds its budget, its last items are left out until it fits. No item is cut in half.
The reply then says how many items were left out.

The recall log keeps what was answered in this process first, and writes it to the database later.
A call does not wait for this write, and does not fail if the write fails. If the database is
unavailable for long, the oldest recalls are lost.
"""

import hashlib
import json
import logging
import math
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NamedTuple, Self, cast
from uuid import UUID

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, PrivateAttr
from pydantic.alias_generators import to_camel
from pydantic_core import to_json

from textrawl.errors import (
    DatabaseUnavailable,
    NothingDeleted,
    ScopeMissing,
    ServerBusy,
    TextrawlError,
)
from textrawl.settings import Format, RecallContent, Settings
from textrawl.values.text import SHORT_ID
from textrawl.wire.token_counter import Counter, choose_counter

if TYPE_CHECKING:  # commands write replies as text without the SDK
    from mcp.types import CallToolResult

    from textrawl.postgres.database import Database

_OWN_ALIAS = 2  # the priority of an alias that a field has itself
NO_BUDGET = 1_000_000  # tokens


@dataclass(frozen=True)
class Key:
    """The short key of a field. Compact text omits fields without a short key."""

    name: str
    short_id: bool = False


OMIT_EMPTY = BeforeValidator(lambda value: value or None)
"""Of a field that is left out if it is false, zero or empty."""

Score = Annotated[float, AfterValidator(lambda value: round(value, 3))]
"""A number that answers show in thousandths."""


class Part(BaseModel):
    """A part of a reply. Its fields have snake_case names, and camelCase keys in JSON.

    A part can be the row of a SQL function. Its fields are then the columns, except for fields with
    `init=False`, which the caller fills in. If a column has another name than the field, this name
    is the validation alias. A part can also be made of another row by `model_validate`, if the row
    has attributes with the names of the columns.
    """

    model_config = ConfigDict(
        alias_generator=to_camel,
        from_attributes=True,
        populate_by_name=True,
        json_schema_serialization_defaults_required=True,
    )

    last_keys: ClassVar[tuple[str, ...]] = ()
    """The short keys that come last in compact text, in this order."""
    last_members: ClassVar[tuple[str, ...]] = ()
    """The long keys that come last in structured content, in this order."""

    @classmethod
    def columns(cls) -> tuple[str, ...]:
        """Return the columns of the SQL function whose rows are parts of this class."""
        return _find_columns(cls)

    @classmethod
    def load(cls, *values: Any) -> Self:
        """Return the part with these values of the columns."""
        return cls.model_validate(dict(zip(_find_columns(cls), values, strict=True)))

    def structured(self) -> dict[str, Any]:
        """Return the structured content, which has long keys and omits fields that are None."""
        content = self.model_dump(mode="json", by_alias=True, exclude_none=True)
        for key in self.last_members:
            if key in content:
                content[key] = content.pop(key)
        return content

    def compact(self) -> Any:
        """Return the content with short keys, as an object or a simpler value such as a string."""
        members: dict[str, Any] = {}
        for name, key in _find_keys(type(self)):
            value = getattr(self, name)
            if key.short_id and value is not None:
                value = str(value)[:SHORT_ID]
            elif isinstance(value, Part):
                value = value.compact()
            elif isinstance(value, list):
                items = cast("list[Any]", value)
                value = [item.compact() if isinstance(item, Part) else item for item in items]
            if value is not None:
                members[key.name] = value
        return members


SNAKE_CASE = ConfigDict(alias_generator=None)
"""The configuration of parts and replies whose keys are the snake_case names of the fields."""


class SnakePart(Part):
    """A part of a reply with snake_case keys."""

    model_config = SNAKE_CASE


@cache
def _find_columns(part: type[Part]) -> tuple[str, ...]:
    columns = dict[str, None]()
    for name, one in part.model_fields.items():
        if one.init is not False:
            # A field that has an alias only on the wire is read from the column of its name.
            own = one.alias_priority == _OWN_ALIAS and one.validation_alias != one.alias
            columns[str(one.validation_alias) if own else name] = None
    return tuple(columns)


@cache
def _find_keys(part: type[Part]) -> tuple[tuple[str, Key], ...]:
    """Return the fields of a part that compact text contains, each with its short key."""
    fields = [
        (name, key)
        for name, field in part.model_fields.items()
        for key in field.metadata
        if isinstance(key, Key)
    ]
    last = part.last_keys
    return tuple(
        sorted(fields, key=lambda one: last.index(one[1].name) if one[1].name in last else -1)
    )


class Reply(Part):
    """A whole reply. `items` names the lists whose last items can be left out, the last list first.

    If the reply has a field `dropped`, it says how many were left out. A reply whose items are not
    in lists of its own overrides `size` and `choose`.
    """

    items: ClassVar[tuple[str, ...]] = ()
    one_channel: ClassVar[bool] = False  # if true, the cost is the tokens of the larger channel
    large: ClassVar[bool] = False  # if true, the budget of the graph toolset applies
    always_lines: ClassVar[bool] = False  # if true, the text is lines in every format
    mirrored: ClassVar[bool] = False  # if true, both channels are the same JSON in every format
    unread: ClassVar[frozenset[str]] = frozenset()  # long keys that verbose text omits
    spared: ClassVar[tuple[tuple[str, ...], ...]] = ()
    """Groups of fields, left out in this order if the reply without items exceeds the budget."""

    _notice: dict[str, Any] = PrivateAttr(default_factory=dict[str, Any])

    def tell(self, cleaned: int, secrets: Sequence[str]) -> Self:
        """Return the reply, which now says what the call had.

        `cleaned` is the number of texts that were cleaned, and `secrets` are kinds of secrets.
        """
        told = {"cleaned": cleaned, "secrets": list(secrets)}
        self._notice = {key: value for key, value in told.items() if value}
        return self

    @property
    def notice(self) -> dict[str, Any]:
        """Cleaned texts and secrets with their keys, or nothing. It ends the reply."""
        return self._notice

    def verbose(self) -> dict[str, Any]:
        """Return the content of verbose text."""
        return {k: v for k, v in self.structured().items() if k not in self.unread}

    def lines(self) -> Iterator[str]:
        """Yield the lines of the text."""
        yield write_json(self.compact())

    def size(self) -> int:
        """Return the number of items that can be left out."""
        total = 0
        for name in self.items:
            total += len(getattr(self, name) or ())
        return total

    def choose(self, count: int) -> Self:
        """Return a copy with the first `count` items and with the number of omitted items."""
        kept, left = dict[str, list[Any] | None](), count
        for name in self.items:
            items: list[Any] = getattr(self, name) or []
            shown = items[:left]
            left -= len(shown)
            # A list that can be absent is absent rather than empty.
            kept[name] = shown or (None if type(self).model_fields[name].default is None else [])
        return self.cut(self.size() - count + left, **kept)

    def cut(self, dropped: int, **kept: Any) -> Self:
        """Return a copy with the fields in `kept` and with the number of omitted items."""
        fields = type(self).model_fields
        omission: dict[str, Any] = {"dropped": dropped or None} if "dropped" in fields else {}
        if "truncated" in fields:
            omission["truncated"] = True if dropped else None
        return self.model_copy(update=kept | omission)

    def list_ids(self, count: int) -> list[str]:
        """Return the ids of the first `count` items in their order, for programs of textrawl."""
        del count
        return []

    def keep(self, count: int) -> Self:
        """Return a copy with `count` items. A `count` of -n omits all items and n field groups."""
        reply = self.choose(max(count, 0))
        dropped = [name for group in self.spared[: max(-count, 0)] for name in group]
        return reply.model_copy(update=dict.fromkeys(dropped))


class SuccessReply(Reply):
    """The reply to a call that did what it should."""

    success: Annotated[bool, Key("ok"), Field(init=False)] = True


class RefusalReply(Reply):
    """The reply to a deletion that was not made. It has the fields of a deletion's reply."""

    success: Annotated[bool, Key("ok")] = False
    reason: Annotated[str | None, Key("err"), Field(exclude=True)]
    error: str
    message: str
    fix: str
    hint: Annotated[str | None, Key("fix"), Field(exclude=True)]

    @classmethod
    def build(cls, refusal: NothingDeleted) -> Self:
        """Return the reply for `refusal`."""
        return cls(
            reason=refusal.code,
            error=refusal.title,
            message=refusal.message,
            fix=refusal.fix,
            hint=refusal.fix if refusal.explained else None,
        )

    def lines(self) -> Iterator[str]:
        """Yield one line of sentences."""
        yield write_sentences(self.error, self.message, self.fix)


def write_id(identity: UUID | None) -> str | None:
    """Return the text of an id, or None if there is none."""
    return None if identity is None else str(identity)


class Content(NamedTuple):
    """The two channels of a result: text, and structured content or None."""

    text: str
    structured: dict[str, Any] | None = None

    def build_result(self, *, is_error: bool = False) -> "CallToolResult":
        """Return the result of a tool."""
        # Commands write replies too, and do not load the SDK.
        from mcp.types import CallToolResult, TextContent  # noqa: PLC0415 - see above

        return CallToolResult(
            content=[TextContent(text=self.text)],
            structured_content=self.structured,
            is_error=is_error,
        )


@dataclass(frozen=True)
class Written:
    """A written reply, its tokens and budget, and the numbers of its items and of omitted items.

    `structured` is true if the tokens are also those of structured content.
    """

    content: Content
    format: Format
    structured: bool
    tokens: int
    budget: int
    items: int
    dropped: int

    @property
    def text(self) -> str:
        """The text of the reply."""
        return self.content.text


@dataclass(frozen=True)
class Renderer:
    """Turns replies into results. `budget` applies if the call has no maxTokens.

    A result has two channels: text and structured content. Its cost is the sum of their tokens.
    In the graph and connector toolsets the cost is the tokens of the larger channel, because both
    channels have the same content, and clients pass only one of them to the model. The reading
    tools of the graph toolset use `graph_budget`. If `text_alone`, only the text counts, because no
    model sees the structured content.
    """

    format: Format
    structured: bool
    counter: Counter
    budget: int
    graph_budget: int = 25_000
    text_alone: bool = False

    def for_programs(self) -> "Renderer":
        """Return the renderer for programs of textrawl: lines and structured content."""
        return replace(self, format="lines", structured=True, text_alone=True)

    def render(self, reply: Reply, max_tokens: int | None = None) -> "CallToolResult":
        """Return the result, within the budget."""
        return self.write(reply, max_tokens).content.build_result()

    def write(self, reply: Reply, max_tokens: int | None = None) -> Written:
        """Return the result, within the budget, and its cost."""
        budget = max_tokens or (self.graph_budget if reply.large else self.budget)
        kept = size = reply.size()
        content = self._encode(reply)
        tokens = self._count(reply, content)
        if tokens > budget:
            kept, tokens = self._find_fit(reply, budget, tokens)
            content, tokens = self._encode_with_cost(reply.keep(kept), tokens)
        shown = content.structured is not None and not self.text_alone
        items = max(kept, 0)
        return Written(content, self.format, shown, tokens, budget, items, size - items)

    def render_error(self, error: TextrawlError) -> "CallToolResult":
        """Return the error as a result that says what to do next.

        The result has no structured content, because clients would check it against the schema of
        the tool. If other results have structured content, the text of an error is not JSON.
        Otherwise Gemini CLI would check the JSON against the schema, and would show its model only
        that this check failed.
        """
        if self.text_alone:
            text = write_sentences(error.title, error.fix)
            return Content(text, describe_error(error)).build_result(is_error=True)
        if isinstance(error, NothingDeleted):
            return self._encode(RefusalReply.build(error)).build_result(is_error=True)
        if self.structured:
            text = write_sentences(error.title, error.fix)
        else:
            indent = 2 if self.format == "verbose" else None
            text = write_json({"error": error.title, "fix": error.fix}, indent)
        return Content(text).build_result(is_error=True)

    def measure(self, result: "CallToolResult") -> int:
        """Return the number of tokens of both channels of a result."""
        texts = ["".join(str(getattr(block, "text", "")) for block in result.content)]
        if result.structured_content is not None:
            texts.append(write_json(result.structured_content))
        return sum(map(self.counter.count, texts))

    def _count(self, reply: Reply, content: Content) -> int:
        """Return the cost of a result, which is compared with the budget."""
        texts = [content.text]
        if content.structured is not None and not self.text_alone:
            texts.append(write_json(content.structured))
        if reply.one_channel:
            return max(map(self.counter.count, set(texts)))
        return sum(map(self.counter.count, texts))

    def _encode(self, reply: Reply) -> Content:
        if reply.mirrored:
            return Content(write_json(content := reply.structured()), content)
        more = reply.notice
        if self.format == "lines" or reply.always_lines:
            text = "\n".join([*reply.lines(), *map(_write_notice, more.items())])
        else:
            compact = self.format == "compact"
            content: Any = reply.compact() if compact else reply.verbose()
            if more and isinstance(content, dict):  # a list, as the reference answers, has no room
                content = {**cast("dict[str, Any]", content), **more}
            text = write_json(content, None if compact else 2)
        return Content(text, reply.structured() | more if self.structured else None)

    def _find_fit(self, reply: Reply, budget: int, whole: int) -> tuple[int, int]:
        """Return the largest count for `reply.keep` within the budget, and the cost of that part.

        `whole` is the cost of the whole reply.
        """
        fits, cost, too_many = -len(reply.spared), 0, reply.size() + 1
        each = max(whole / too_many, 1)
        middle, steps = int(budget / each), 0
        while too_many - fits > 1:
            middle = min(max(middle, fits + 1), too_many - 1)
            # Use the budget as a placeholder for usedTokens. It has at least as many digits, so
            # each step encodes the reply only once.
            part = reply.keep(middle).model_copy(update=self._name_cost(reply, budget))
            tokens = self._count(part, self._encode(part))
            left = budget - tokens
            if left >= 0:
                fits, cost = middle, tokens
            else:
                too_many = middle
            steps += 1
            # Guess the next number from the mean cost of an item. Every third step halves the
            # range instead. So the loop ends early even if the costs of items differ much.
            middle = middle + math.floor(left / each) if steps % 3 else (fits + too_many) // 2
        return fits, cost

    def _encode_with_cost(self, reply: Reply, cost: int) -> tuple[Content, int]:
        """Return the result and its cost, starting with the estimate `cost`.

        The result contains its own cost, so another number can change the cost. A larger number
        never takes fewer tokens, so the loop ends.
        """
        while True:
            update = self._name_cost(reply, cost)
            content = self._encode(reply.model_copy(update=update))
            used = self._count(reply, content)
            if used == cost or not update:
                return content, used
            cost = used

    @staticmethod
    def _name_cost(reply: Reply, cost: int) -> dict[str, int]:
        """Return the field `used_tokens` if the reply has this field."""
        return {"used_tokens": cost} if "used_tokens" in type(reply).model_fields else {}


def describe_error(error: TextrawlError) -> dict[str, Any]:
    """Return an error as structured content for programs of textrawl.

    `kinds` has the names of its classes, because a program may know only the last ones.
    """
    scope = {"scope": error.scope} if isinstance(error, ScopeMissing) else {}
    kinds = [kind.__name__ for kind in type(error).__mro__ if issubclass(kind, TextrawlError)]
    return {"error": error.title, "fix": error.fix, "kinds": kinds} | scope


def _write_notice(told: tuple[str, Any]) -> str:
    key, value = told
    return f"{key} {', '.join(value) if isinstance(value, list) else value}"  # pyright: ignore[reportUnknownArgumentType]


def write_sentences(*parts: str) -> str:
    """Return the parts as sentences on one line."""
    return " ".join(part if part.endswith((".", "!", "?")) else f"{part}." for part in parts)


def write_json(value: object, indent: int | None = None) -> str:
    """Return the JSON of a value, without white space or indented."""
    return to_json(value, indent=indent).decode()


logger = logging.getLogger("textrawl")

_MOST_KEPT = 1000
_HASH = 16  # hexadecimal digits


@dataclass(frozen=True)
class Finding:
    """The query and the facts found, best first, as pairs of space and id.

    `score`, `cosine` and `coverage` are the highest values among these facts.
    """

    query: str | None = None
    facts: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    score: float | None = None
    cosine: float | None = None
    coverage: float | None = None


NOTHING = Finding()


@dataclass(frozen=True)
class Recall:
    """One recall: its space, the facts found, the time that it took, and its tokens."""

    credential: bytes | None
    space: int | None
    client: str | None
    mode: str
    format: Format
    structured: bool
    tokens: int
    budget: int
    items: int
    dropped: int
    finding: Finding = NOTHING
    milliseconds: float | None = None
    at: datetime = field(default_factory=lambda: datetime.now(UTC))


class RecallLog:
    """Recalls that are not in the database yet, at most the newest thousand.

    `content` says how queries are stored. `count_verbose` counts the tokens that a reply has as
    verbose text. It is called for only one recall of a batch: the last one with a complete reply.
    """

    def __init__(
        self,
        content: RecallContent = "hash",
        *,
        count_verbose: Callable[[Reply], int] | None = None,
    ) -> None:
        self._recalls = deque[Recall](maxlen=_MOST_KEPT)
        self._keep_text = content == "text"
        self._count_verbose = count_verbose
        self._sample: tuple[Recall, Reply] | None = None

    def add(self, recall: Recall, reply: Reply | None = None) -> None:
        """Add `recall`. If `reply` is complete, use it for `count_verbose`."""
        self._recalls.append(recall)
        if reply is not None and not recall.dropped:
            self._sample = recall, reply

    async def flush(self, database: "Database") -> None:
        """Write all recalls to the database. If it is unavailable, keep them for the next flush."""
        batch = list(self._recalls)
        if not batch:
            return
        self._recalls.clear()
        rows = self._take_rows(batch)
        keep = True
        try:
            await database.call("record_recalls", int, recalls=rows)
            keep = False
        except (DatabaseUnavailable, ServerBusy) as error:
            logger.info("%d recalls wait to be recorded: %s", len(batch), error)
        except TextrawlError as error:
            # Drop these recalls. They would fail again and block all later recalls.
            keep = False
            logger.warning("%d recalls are lost: %s", len(batch), error)
        finally:
            if keep:
                self._recalls = deque([*batch, *self._recalls], maxlen=_MOST_KEPT)

    def _take_rows(self, batch: list[Recall]) -> str:
        """Return the recalls as JSON for `record_recalls`, and forget the stored reply."""
        sample, self._sample = self._sample, None
        tokens = self._count_verbose(sample[1]) if sample and self._count_verbose else None
        rows = [
            _describe(recall, keep_text=self._keep_text)
            | ({"verbose_tokens": tokens} if sample and recall is sample[0] else {})
            for recall in batch
        ]
        return json.dumps(rows, default=datetime.isoformat)


def _describe(recall: Recall, *, keep_text: bool) -> dict[str, Any]:
    """Return the recall as an object for `record_recalls`, with its query if `keep_text` is set."""
    finding = recall.finding
    members = {key: value for key, value in vars(recall).items() if key != "finding"}
    found: dict[str, list[str]] = {}
    for space, fact in finding.facts[: recall.items]:
        found.setdefault(space, []).append(fact)
    return members | {
        "credential": recall.credential.hex() if recall.credential else None,
        "query": finding.query if keep_text else None,
        "query_hash": _hash(finding.query) if finding.query else None,
        "hits": len(finding.facts),
        "score": finding.score,
        "cosine": finding.cosine,
        "coverage": finding.coverage,
        "found": found,
    }


def _hash(query: str) -> str:
    """Return a hash of the query. It does not depend on case and white space."""
    folded = " ".join(query.casefold().split())
    return hashlib.sha256(folded.encode()).hexdigest()[:_HASH]


def build_renderer(settings: Settings) -> Renderer:
    """Return the renderer that `settings` describe."""
    return Renderer(
        format=settings.compact_responses,
        structured=settings.structured_content == "full",
        counter=choose_counter(),
        budget=settings.max_response_tokens,
        graph_budget=settings.max_graph_tokens,
    )


def build_recall_log(settings: Settings) -> RecallLog | None:
    """Return the recall log, or None if `settings` turn it off."""
    if settings.record_recalls == "off" or settings.read_only:
        return None
    verbose = replace(
        build_renderer(settings), format="verbose", budget=NO_BUDGET, graph_budget=NO_BUDGET
    )
    return RecallLog(
        settings.record_recalls, count_verbose=lambda reply: verbose.write(reply).tokens
    )
