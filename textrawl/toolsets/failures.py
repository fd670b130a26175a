"""Failures that a tool answers in the shape of its replies, with isError."""

from typing import Annotated

from mcp.types import CallToolResult

from textrawl.toolsets.call import Call
from textrawl.wire.replies import Key, Reply


class FailureReply(Reply):
    """A failure, with the reason. The result also has isError."""

    success: Annotated[bool, Key("ok")] = False
    message: Annotated[str, Key("err")]


def reply_failure(call: Call, message: str) -> CallToolResult:
    """Answer with a failure."""
    return call.reply(FailureReply(message=message)).model_copy(update={"is_error": True})
