"""The toolset `journal`, and the types that the parameters of its tools share."""

from datetime import date
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from textrawl.toolsets.cleaning import CLEAN_NAME
from textrawl.toolsets.toolset import Toolset
from textrawl.values.instant import read_day
from textrawl.values.text import clean_fact

journal = Toolset(
    "journal",
    "A journal of days, weeks, months, years and significant events, shared by several programs.",
    (
        "memory_create",
        "memory_read",
        "memory_update",
        "memory_delete",
        "memory_list",
        "memory_search",
        "memory_consolidate",
    ),
)

CONTENT_LENGTH = 200_000
_MOST_ITEMS = 1000


def _clean_text(value: object) -> object:
    return clean_fact(value) if isinstance(value, str) and len(value) <= CONTENT_LENGTH else value


def _read_day(value: object) -> object:
    return None if value is None else read_day(str(value).strip())


Granularity = Literal["daily", "weekly", "monthly", "yearly", "significant"]
EntryDate = Annotated[
    str, CLEAN_NAME, Field(pattern=r"^[0-9]{4}(-W[0-9]{2}|-[0-9]{2}(-[0-9]{2})?)?$")
]
Content = Annotated[
    str, BeforeValidator(_clean_text), Field(min_length=1, max_length=CONTENT_LENGTH)
]
InstanceId = Annotated[
    str,
    CLEAN_NAME,
    Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._:@-]{0,99}$"),
]
InstanceIds = Annotated[list[InstanceId], Field(max_length=_MOST_ITEMS)]
ChatIds = Annotated[
    list[Annotated[str, CLEAN_NAME, Field(min_length=1, max_length=200)]],
    Field(max_length=_MOST_ITEMS),
]
Slug = Annotated[str, CLEAN_NAME, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=100)]
Day = Annotated[date, BeforeValidator(_read_day)]
Editor = Annotated[str, CLEAN_NAME, Field(min_length=1, max_length=200)]
Query = Annotated[str, CLEAN_NAME, Field(min_length=1, max_length=2048)]
