"""Replies of calls that could not do what they were asked for."""

from typing import Annotated

from mcp.types import CallToolResult

from textrawl.toolsets.call import Call
from textrawl.toolsets.decay.replies import DecayReply
from textrawl.wire.replies import Key


class FailureReply(DecayReply):
    """A failure, with the reason. The result also has isError."""

    success: Annotated[bool, Key("ok")] = False
    message: Annotated[str, Key("err")]
    promoted_to: Annotated[str | None, Key("to")] = None
    score: Annotated[float | None, Key("s")] = None


def reply_failure(call: Call, reply: FailureReply) -> CallToolResult:
    """Answer with a failure."""
    return call.reply(reply).model_copy(update={"is_error": True})
