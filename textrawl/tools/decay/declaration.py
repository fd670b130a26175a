"""The toolset `decay`, and the types that the parameters of its tools share."""

from functools import partial
from typing import Annotated, Any

from mcp.types import CallToolResult
from pydantic import AfterValidator, Field

from textrawl.memory.decay import CONTENT_LENGTH
from textrawl.tools.call import Call
from textrawl.tools.toolset import CLEAN_FACT, CLEAN_NAME, Toolset
from textrawl.values.names import check_id
from textrawl.values.text import NAME_LENGTH, TAG_LENGTH, clean_tag
from textrawl.wire.replies import SNAKE_CASE, Key, Reply

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
MemoryId = Annotated[str, CLEAN_NAME, AfterValidator(partial(check_id, kind="memory"))]
MemoryIds = Annotated[list[MemoryId], Field(max_length=MOST_ITEMS)]
Strength = Annotated[float, Field(ge=1, le=2)]
Score = Annotated[float, Field(ge=0, le=1)]
Days = Annotated[int, Field(ge=1, le=3650)]
Limit = Annotated[int, Field(ge=1, le=100)]


class DecayReply(Reply):
    """A reply with snake_case keys."""

    model_config = SNAKE_CASE


def shorten(text: str, most: int) -> str:
    """Return a text, or its first `most` characters and an ellipsis. 0 means the whole text."""
    return text if not most or len(text) <= most else f"{text[:most].rstrip()}…"


class DecayFailureReply(DecayReply):
    """A failure, with the reason. The result also has isError."""

    success: Annotated[bool, Key("ok")] = False
    message: Annotated[str, Key("err")]
    promoted_to: Annotated[str | None, Key("to")] = None
    score: Annotated[float | None, Key("s")] = None


def reply_failure(call: Call, reply: DecayFailureReply) -> CallToolResult:
    """Answer with a failure."""
    return call.reply(reply).model_copy(update={"is_error": True})
