"""One call of a tool: the open memory, the caller, and functions that write the answer."""

from dataclasses import dataclass

from mcp.server.mcpserver.context import Context
from mcp.types import CallToolResult

from textrawl.access.principal import Caller, find_caller
from textrawl.errors import NotAuthenticated
from textrawl.scheduling.workers import run_aside
from textrawl.store.store import Store
from textrawl.toolsets.app import App
from textrawl.wire.recall_log import NOTHING, Finding
from textrawl.wire.replies import Reply


@dataclass(frozen=True)
class Call:
    """The first argument of every tool. The server injects it.

    `context` is the SDK's object for the same call.
    """

    app: App
    caller: Caller
    context: Context[App]

    @property
    def store(self) -> Store:
        """The open memory."""
        return self.app.store

    @property
    def graphs(self) -> list[str] | None:
        """The names of the only graphs that this call can reach. None: all graphs of the caller.

        TEXTRAWL_GRAPHS restricts all callers. An address or a setting can restrict a caller to one
        space. The rights of the caller count in addition.
        """
        return self.caller.principal.find_graphs(self.app.graphs)

    def reply(self, reply: Reply) -> CallToolResult:
        """Write an answer that is not recorded as a recall."""
        return self.app.render(reply)

    def recall(
        self, mode: str, reply: Reply, max_tokens: int | None = None, finding: Finding = NOTHING
    ) -> CallToolResult:
        """Write the answer to a query, and record it as a recall with its `mode` and its cost."""
        return self.app.recall(self.caller, mode, reply, max_tokens, finding)

    def recall_lines(
        self, mode: str, reply: Reply, finding: Finding, max_tokens: int | None = None
    ) -> str:
        """Return the answer as lines for a resource or a prompt, and record it as a recall.

        Its format is `lines`, whatever COMPACT_RESPONSES says, because people read it too.
        """
        return self.app.recall_lines(self.caller, mode, reply, max_tokens, finding)

    async def reply_aside(self, reply: Reply) -> CallToolResult:
        """Write a long answer in a thread, so that it does not delay other calls."""
        return await run_aside(self.app.render, reply)

    async def recall_aside(self, mode: str, reply: Reply) -> CallToolResult:
        """Do what `recall` does, in a thread. A long answer then does not delay other calls."""
        return await self.app.recall_aside(self.caller, mode, reply)


def find_call(context: Context[App]) -> Call:
    """Return the call that the current asyncio task answers.

    Raises NotAuthenticated if the server did not identify the caller before.
    """
    caller = find_caller()
    if caller is None:
        raise NotAuthenticated
    return Call(context.request_context.lifespan_context, caller, context)
