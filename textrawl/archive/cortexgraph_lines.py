"""The two files of CortexGraph: memories.jsonl and relations.jsonl in one folder.

CortexGraph only adds lines. A line replaces the earlier line with the same id, and a line with
`_deleted` removes it. So only the last line of each id counts.
"""

from collections.abc import AsyncIterable, AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, TypeVar, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic_core import from_json

from textrawl.values.reference_line import LineRefused
from textrawl.values.text import clean_fact, clean_name

LONGEST_CONTENT = 50_000
_Source = AsyncIterable[tuple[int, bytes | None]]


def _clean(value: object) -> object:
    return clean_name(value) if isinstance(value, str) else value


def _clean_text(value: object) -> object:
    return clean_fact(value) if isinstance(value, str) else value


def _read_epoch(value: object) -> datetime:
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise ValueError("must be seconds since 1970")  # noqa: TRY004 - pydantic reads ValueError
    try:
        return datetime.fromtimestamp(value, UTC)
    except (OverflowError, OSError) as error:
        raise ValueError("is no time") from error


Text = Annotated[str, BeforeValidator(_clean_text)]
Label = Annotated[str, BeforeValidator(_clean), Field(min_length=1, max_length=100)]
Id = Annotated[str, BeforeValidator(_clean), Field(min_length=1, max_length=200)]
Epoch = Annotated[datetime, BeforeValidator(_read_epoch)]
Count = Annotated[int, Field(ge=0, le=2_000_000_000)]


class _Line(BaseModel):
    """A line. Fields that this version does not know are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class Meta(_Line):
    """The part `meta` of a memory."""

    tags: Annotated[list[Label], Field(max_length=50)] = []
    source: Annotated[Text, Field(max_length=500)] | None = None
    context: Annotated[Text, Field(max_length=1000)] | None = None
    extra: dict[str, Any] = {}


class CortexMemory(_Line):
    """A memory."""

    id: Id
    content: Annotated[Text, Field(min_length=1, max_length=LONGEST_CONTENT)]
    meta: Meta = Meta()
    entities: Annotated[list[Label], Field(max_length=100)] = []
    created_at: Epoch
    last_used: Epoch
    use_count: Count = 0
    strength: Annotated[float, Field(ge=0, le=2, allow_inf_nan=False)] = 1.0
    status: Literal["active", "promoted", "archived"] = "active"
    promoted_at: Epoch | None = None
    promoted_to: Annotated[Text, Field(max_length=1000)] | None = None
    last_review_at: Epoch | None = None
    review_count: Count = 0
    cross_domain_count: Count = 0


class CortexRelation(_Line):
    """A relation between two memories."""

    id: Id
    from_memory_id: Id
    to_memory_id: Id
    relation_type: Label
    strength: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] = 1.0
    created_at: Epoch
    metadata: dict[str, Any] = {}


L = TypeVar("L", bound=_Line)


@dataclass(frozen=True)
class LastLines:
    """The number of the last line of each id, without the ids that were deleted."""

    numbers: frozenset[int]

    @classmethod
    async def find(cls, lines: _Source) -> "LastLines":
        """Read a file to find the last line of each id.

        A line that cannot be read is included, so that the second reading reports it.
        """
        last, broken = dict[str, int](), list[int]()
        async for number, raw in lines:
            if raw is not None and not raw.strip():
                continue
            try:
                value = _read_object(raw)
                key = str(value.get("id"))
            except LineRefused:
                broken.append(number)
                continue
            last.pop(key, None)
            if not value.get("_deleted"):
                last[key] = number
        return cls(frozenset((*last.values(), *broken)))

    async def choose(self, lines: _Source) -> AsyncIterator[tuple[int, bytes | None]]:
        """Read the file a second time, and yield only the lines in `numbers`."""
        async for number, raw in lines:
            if number in self.numbers:
                yield number, raw


def read_cortex_line(raw: bytes | None, kind: type[L]) -> L:
    """Return the memory or relation in a line. Raises LineRefused."""
    try:
        return kind.model_validate(_read_object(raw))
    except ValidationError as error:
        faults = error.errors(include_url=False, include_input=False)
        raise LineRefused(
            "; ".join(f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in faults[:5])
        ) from None


def _read_object(raw: bytes | None) -> dict[str, Any]:
    if raw is None:
        raise LineRefused("too long")
    try:
        value = from_json(raw, allow_inf_nan=False)
    except ValueError:
        raise LineRefused("is not JSON") from None
    if not isinstance(value, dict):
        raise LineRefused("is not a JSON object")
    return cast("dict[str, Any]", value)
