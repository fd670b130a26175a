"""The toolset `curation`, and the types that the parameters of its tools share."""

from typing import Annotated

from pydantic import Field, WithJsonSchema

from textrawl.toolsets.cleaning import CLEAN_FACT, CLEAN_NAME
from textrawl.toolsets.toolset import Toolset
from textrawl.values.limits import FACT_LENGTH, REASON_LENGTH

curation = Toolset(
    "curation",
    "Put wrong facts right and say why, and share facts with other spaces.",
    ("revise_fact", "share_memories"),
)

Reference = Annotated[
    str,
    CLEAN_NAME,
    Field(min_length=1, max_length=FACT_LENGTH),
    WithJsonSchema({"type": "string"}),  # without the length limits, because they would cost tokens
]
Reason = Annotated[str, CLEAN_NAME, Field(min_length=1, max_length=REASON_LENGTH)]
SpaceName = Annotated[str, CLEAN_NAME, Field(min_length=1, max_length=63)]
OptionalSpace = Annotated[str, CLEAN_NAME, Field(max_length=63)]
OptionalFact = Annotated[str, CLEAN_FACT, Field(max_length=FACT_LENGTH)]
