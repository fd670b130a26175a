"""Incoming JSON-RPC messages, and the faults of broken messages.

A fault has the id of the request if the id can be read. Without the id, a client cannot match the
error to its request, and waits for the answer until a time limit.
"""

from dataclasses import dataclass

from mcp.types import (
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError
from pydantic_core import from_json

from textrawl.host.framing import TOO_LONG, Outline, RequestId, read_id, read_outline


@dataclass(frozen=True)
class MessageFault:
    """The reason why a message is refused. `id` is None if it cannot be read."""

    code: int
    reason: str
    id: RequestId | None = None

    @property
    def reply(self) -> JSONRPCError:
        """The error response."""
        error = ErrorData(code=self.code, message=self.reason)
        return JSONRPCError(jsonrpc="2.0", id=self.id, error=error)


def read_message(text: bytes) -> JSONRPCMessage | MessageFault:
    """Parse `text`, which has at most MOST_BYTES, and return the message or its fault."""
    try:
        members = from_json(text, allow_inf_nan=False)
    except ValueError:
        identity = read_outline(text).find_id()
        reason = "Not JSON in UTF-8, half a character, or more than 200 levels"
        return MessageFault(PARSE_ERROR, reason, identity)
    identity = read_id(members)
    if isinstance(members, dict) and "id" in members and identity is None:
        return MessageFault(INVALID_REQUEST, "id: a whole number, or a text that is not too long")
    try:
        return jsonrpc_message_adapter.validate_python(members, by_name=False)
    except ValidationError:
        reason = "Not a JSON-RPC 2.0 message: one object, no batch"
        return MessageFault(INVALID_REQUEST, reason, identity)


def refuse_length(outline: Outline) -> MessageFault:
    """Return the fault of a message that has more than MOST_BYTES."""
    return MessageFault(INVALID_REQUEST, TOO_LONG, outline.find_id())
