"""What tools have at hand while a server runs, and the identity of their callers."""

import secrets
import time
from collections.abc import Hashable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from mcp.server.mcpserver.context import Context
from mcp.types import CallToolResult

from textrawl.access.directory import Directory
from textrawl.access.principal import Caller, Principal
from textrawl.access.request import find_principal, find_request_id, find_space
from textrawl.errors import NotAuthenticated
from textrawl.scheduling.workers import run_aside
from textrawl.store.store import Store
from textrawl.toolsets.refused_deletions import Declines
from textrawl.values.text import clean_name
from textrawl.wire.recall_log import NOTHING, Finding, Recall, Recalls
from textrawl.wire.replies import Renderer, Reply, Written


@dataclass(frozen=True)
class Identity:
    """Whom a server takes its callers for: `credential` is its own, `space` pins all of them.

    With `tokens_needed` nobody is taken for the server itself.
    """

    directory: Directory
    credential: bytes | None
    space: str | None = None
    tokens_needed: bool = False


class App:
    """What a tool has at hand while the server runs; without `recalls` none are noted.

    `import_dir` is the folder whose files a tool may read, None for no folder.
    """

    import_dir: Path | None = None

    def __init__(
        self, store: Store, renderer: Renderer, identity: Identity, recalls: Recalls | None = None
    ) -> None:
        self.store = store
        self.declines = Declines()
        self.identity = identity
        self.render = renderer.render
        self._renderer = renderer
        self._recalls = recalls

    @property
    def takes_notes(self) -> bool:
        """Whether what was looked at is noted: not with READ_ONLY or without RECORD_RECALLS."""
        return self._recalls is not None

    async def identify(self, ctx: "Context[App]", tool: str) -> Caller:
        """Who calls `tool`: by the token of the request, else the server itself.

        Raises NotAuthenticated, SpaceNotFound, DatabaseUnavailable.
        """
        request = ctx.request_context.request
        bearer = find_principal(request) if request is not None else None
        principal = bearer or await self._find_own()
        named = find_space(request) if request is not None else None
        for space in (self.identity.space, named):
            principal = principal.pin(space) if space else principal
        number = find_request_id(request) if request is not None else ""
        return Caller(
            principal, _name_client(ctx), tool, number or secrets.token_hex(8),
            sharing=bearer is not None,
        )  # fmt: skip

    async def _find_own(self) -> Principal:
        identity = self.identity
        found = None
        if not identity.tokens_needed:
            found = await identity.directory.find(identity.credential)
        if found is None and identity.credential is None:
            raise NotAuthenticated(
                "This server has no token for the database: set "
                "TEXTRAWL_ACCESS_TOKEN to one that "
                "`textrawl token create` made"
            )
        if found is None:
            raise NotAuthenticated
        return found

    def recall(
        self,
        caller: Caller,
        mode: str,
        reply: Reply,
        max_tokens: int | None,
        finding: Finding = NOTHING,
    ) -> CallToolResult:
        """The result that tells what `caller` recalled in `mode`, noted with what it cost."""
        written = self._renderer.write(reply, max_tokens)
        return self._note(caller, mode, reply, written, finding)

    async def recall_aside(self, caller: Caller, mode: str, reply: Reply) -> CallToolResult:
        """As recall does, for a long reply: other calls are answered while it is written."""
        written = await run_aside(self._renderer.write, reply)
        return self._note(caller, mode, reply, written, NOTHING)

    def _note(
        self, caller: Caller, mode: str, reply: Reply, written: Written, finding: Finding
    ) -> CallToolResult:
        if self._recalls is not None:
            recall = Recall(
                credential=caller.principal.credential, space=caller.principal.home,
                client=caller.client, mode=mode,
                format=self._renderer.format, structured=self._renderer.structured,
                tokens=written.tokens, budget=written.budget, items=written.items,
                dropped=written.dropped, finding=finding,
                milliseconds=1000 * (time.perf_counter() - caller.begun),
            )  # fmt: skip
            self._recalls.add(recall, reply)
        return written.result


def name_session(ctx: Context[App]) -> Hashable:
    """Return what tells the sessions of a server apart.

    The transport's session id, with whose it is. Without one (2026-07-28) it is the client's name:
    one person's calls by one program count as a session. Over stdio there is only one.
    """
    request = ctx.request_context.request
    bearer = find_principal(request) if request is not None else None
    session = request.headers.get("mcp-session-id") if request is not None else None
    owner = (bearer.token, bearer.actor) if bearer is not None else None
    return owner, session or _name_client(ctx)


def _name_client(ctx: Context[App]) -> str | None:
    """Name and version of the client, as far as it told them."""
    params = ctx.session.client_params
    if params is None:
        return None
    return _clean_client(f"{params.client_info.name} {params.client_info.version}"[:200])


@lru_cache  # every call of a client has the same
def _clean_client(name: str) -> str:
    return clean_name(name)
