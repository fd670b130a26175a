"""The toolset `decay`, and the types that the parameters of its tools share."""

from typing import Annotated, Any

from pydantic import AfterValidator, Field

from textrawl.toolsets.cleaning import CLEAN_FACT, CLEAN_NAME
from textrawl.toolsets.toolset import Toolset
from textrawl.values.limits import NAME_LENGTH
from textrawl.values.tag import TAG_LENGTH, clean_tag

decay = Toolset(
    "decay",
    "Memories that fade unless they are used, come up for review, and are promoted to notes.",
    (
        "save_memory",
        "search_memory",
        "search_unified",
        "touch_memory",
        "observe_memory_usage",
        "analyze_message",
        "analyze_for_recall",
        "gc",
        "promote_memory",
        "cluster_memories",
        "consolidate_memories",
        "create_relation",
        "read_graph",
        "open_memories",
        "backfill_embeddings",
    ),
)

CONTENT_LENGTH = 50_000
MOST_TAGS, MOST_ENTITIES, MOST_ITEMS = 50, 100, 100


Content = Annotated[str, CLEAN_FACT, Field(min_length=1, max_length=CONTENT_LENGTH)]
LongText = Annotated[str, Field(max_length=CONTENT_LENGTH)]
Label = Annotated[str, CLEAN_FACT, Field(max_length=500)]
Context = Annotated[str, CLEAN_FACT, Field(max_length=1000)]
Extra = dict[str, Any]
Query = Annotated[str, CLEAN_NAME, Field(max_length=2048)]
EntityName = Annotated[str, CLEAN_NAME, Field(min_length=1, max_length=NAME_LENGTH)]
EntityNames = Annotated[list[EntityName], Field(max_length=MOST_ENTITIES)]
Tag = Annotated[str, Field(max_length=TAG_LENGTH), AfterValidator(clean_tag)]
Tags = Annotated[list[Tag], Field(max_length=MOST_TAGS)]
MemoryId = Annotated[
    str,
    CLEAN_NAME,
    Field(pattern=r"^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$"),
]
MemoryIds = Annotated[list[MemoryId], Field(max_length=MOST_ITEMS)]
Strength = Annotated[float, Field(ge=1, le=2)]
Score = Annotated[float, Field(ge=0, le=1)]
Days = Annotated[int, Field(ge=1, le=3650)]
Limit = Annotated[int, Field(ge=1, le=100)]
