"""Fields that several kinds of lines of an export have, and the base class of lines."""

from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from textrawl.values.instant import read_instant
from textrawl.values.text import clean_fact, clean_name


def _read_moment(value: object) -> datetime:
    if not isinstance(value, str):
        raise ValueError("must be an ISO 8601 instant")  # noqa: TRY004 - pydantic reads ValueError
    return read_instant(value)


def clean(value: object) -> object:
    """Return a text in the form of a name. Return other values unchanged."""
    return clean_name(value) if isinstance(value, str) else value


def clean_text(value: object) -> object:
    """Return a text in the form of a fact. Return other values unchanged."""
    return clean_fact(value) if isinstance(value, str) else value


Id = Annotated[
    str,
    Field(pattern=r"^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$"),
    BeforeValidator(lambda value: value.lower() if isinstance(value, str) else value),
]
Moment = Annotated[datetime, BeforeValidator(_read_moment)]
SpaceName = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,62}$")]
Label = Annotated[str, BeforeValidator(clean), Field(min_length=1, max_length=200)]
Count = Annotated[int, Field(ge=0, le=2_000_000_000, strict=True)]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False, strict=True)]


class Line(BaseModel):
    """Settings that all kinds of lines share."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class SignedLine(Line):
    """A line that says who wrote it, and with which client, tool and request."""

    author: Label
    client: Label | None = None
    tool: Label
    request: Label | None = None
