"""analyze_message and analyze_for_recall: whether a message calls for save or search."""

from typing import Annotated

from mcp.types import CallToolResult

from textrawl.scheduling.workers import run_aside
from textrawl.toolsets.call import Call
from textrawl.toolsets.decay.analysis.intents import find_recall_intent, find_save_intent
from textrawl.toolsets.decay.declaration import LongText, decay
from textrawl.toolsets.decay.replies import DecayReply
from textrawl.toolsets.toolset import READS
from textrawl.wire.replies import Key


class SaveIntentReply(DecayReply):
    """Whether a message is worth saving, with arguments for save_memory."""

    should_save: Annotated[bool, Key("save")]
    confidence: Annotated[float, Key("conf")]
    suggested_entities: Annotated[list[str], Key("e")]
    suggested_tags: Annotated[list[str], Key("tags")]
    suggested_strength: Annotated[float, Key("str")]
    reasoning: Annotated[str, Key("why")]


class RecallIntentReply(DecayReply):
    """Whether a message asks for a memory, with arguments for search_memory."""

    should_search: Annotated[bool, Key("search")]
    confidence: Annotated[float, Key("conf")]
    suggested_query: Annotated[str, Key("q")]
    suggested_tags: Annotated[list[str], Key("tags")]
    suggested_entities: Annotated[list[str], Key("e")]
    reasoning: Annotated[str, Key("why")]


@decay.tool(READS, SaveIntentReply)
async def analyze_message(call: Call, message: LongText) -> CallToolResult:
    """Tell whether a message is worth saving.

    Confidence above 0.7: call save_memory with the suggestions; from 0.4: ask the user first.
    """
    intent = await run_aside(find_save_intent, message)
    return call.reply(
        SaveIntentReply(
            should_save=intent.should_save,
            confidence=intent.confidence,
            suggested_entities=intent.entities,
            suggested_tags=intent.tags,
            suggested_strength=intent.strength,
            reasoning=intent.reasoning,
        )
    )


@decay.tool(READS, RecallIntentReply)
async def analyze_for_recall(call: Call, message: LongText) -> CallToolResult:
    """Tell whether a message asks for something saved, and what to search for.

    Confidence above 0.7: call search_memory; from 0.4: ask the user first.
    """
    intent = await run_aside(find_recall_intent, message)
    return call.reply(
        RecallIntentReply(
            should_search=intent.should_search,
            confidence=intent.confidence,
            suggested_query=intent.query,
            suggested_tags=intent.tags,
            suggested_entities=intent.entities,
            reasoning=intent.reasoning,
        )
    )
