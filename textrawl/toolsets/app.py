"""The state of a running server, and the identity of the callers of its tools."""

import secrets
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from mcp.server.mcpserver.context import Context
from mcp.types import CallToolResult, TextContent

from textrawl.access.directory import Directory
from textrawl.access.principal import Caller, Principal
from textrawl.access.request import find_principal, find_request_id, find_space
from textrawl.errors import NotAuthenticated
from textrawl.scheduling.workers import run_aside
from textrawl.settings import CorrectionMode
from textrawl.store.store import Store
from textrawl.store.watches import Watches
from textrawl.toolsets.recalls import describe_recall
from textrawl.toolsets.refused_deletions import RefusedDeletions
from textrawl.values.author_choice import EVERYBODY
from textrawl.values.limits import DIGEST_TOKENS
from textrawl.values.text import clean_name
from textrawl.wire.recall_log import NOTHING, Finding, RecallLog
from textrawl.wire.replies import Renderer, Reply, Written


@dataclass(frozen=True)
class Identity:
    """The server's own identity, and the rules by which it identifies callers.

    `credential` belongs to the server's own access token. `space` restricts every caller to one
    space. If `tokens_needed` is true, a call without an access token is refused.
    """

    directory: Directory
    credential: bytes | None
    space: str | None = None
    tokens_needed: bool = False


class App:
    """The state of a running server. If `recalls` is None, the server does not record recalls.

    `import_dir` is the folder with the files that a tool can read, or None. `vault` is the folder
    of Markdown notes, or None. `snapshot_days` is the age in days at which snapshots are deleted.
    If `read_only`, a reading tool must not note anything either. `graphs` has the names of the
    only graphs that clients can reach, or is None. `folder` is that of the embedded Postgres.
    `correction_mode`, `digest_tokens` and `digest_authors` are the settings of these names.
    """

    import_dir: Path | None = None
    vault: Path | None = None
    snapshot_days: int = 30
    read_only: bool = False
    graphs: Sequence[str] | None = None
    max_recall_tokens: int = 8000
    digest_tokens: int = DIGEST_TOKENS
    digest_authors: Sequence[str] = EVERYBODY
    folder: Path | None = None
    correction_mode: CorrectionMode = "llm"

    def __init__(
        self, store: Store, renderer: Renderer, identity: Identity, recalls: RecallLog | None = None
    ) -> None:
        self.store = store
        self.refused_deletions = RefusedDeletions()
        self.identity = identity
        self.watches = Watches(store.database)
        self.render = renderer.render
        self._renderer = renderer
        self._line_renderer = replace(renderer, format="lines", structured=False)
        self._recalls = recalls

    @property
    def recalls(self) -> RecallLog | None:
        """The recall log. It is None if READ_ONLY is on or RECORD_RECALLS is off."""
        return self._recalls

    @property
    def renderer(self) -> Renderer:
        """The renderer of replies."""
        return self._renderer

    @property
    def records_recalls(self) -> bool:
        """False if READ_ONLY is on or RECORD_RECALLS is off."""
        return self._recalls is not None

    async def identify(self, ctx: "Context[App]", tool: str) -> Caller:
        """Return the caller of `tool`: the token's principal, or else the server's own principal.

        Raises NotAuthenticated, SpaceNotFound, DatabaseUnavailable.
        """
        request = ctx.request_context.request
        bearer = find_principal(request) if request is not None else None
        principal = bearer or await self._find_own()
        address = find_space(request) if request is not None else None
        principal = principal.restrict(self.graphs, self.identity.space, address)
        request_id = find_request_id(request) if request is not None else ""
        return Caller(
            principal,
            _name_client(ctx),
            tool,
            request_id or secrets.token_hex(8),
            sharing=bearer is not None,
        )

    async def _find_own(self) -> Principal:
        identity = self.identity
        principal = None
        if not identity.tokens_needed:
            principal = await identity.directory.find(identity.credential)
        if principal is None and identity.credential is None:
            raise NotAuthenticated(
                "This server has no access token for the database: set "
                "TEXTRAWL_ACCESS_TOKEN to a token that "
                "`textrawl token create` made"
            )
        if principal is None:
            raise NotAuthenticated
        return principal

    def recall(
        self,
        caller: Caller,
        mode: str,
        reply: Reply,
        max_tokens: int | None,
        finding: Finding = NOTHING,
    ) -> CallToolResult:
        """Write the answer to a query, and record it as a recall with its `mode` and its cost."""
        written = self._renderer.write(reply, max_tokens)
        return self._record(caller, mode, reply, written, finding)

    async def recall_aside(self, caller: Caller, mode: str, reply: Reply) -> CallToolResult:
        """Do what `recall` does, in a thread. A long reply then does not delay other calls."""
        written = await run_aside(self._renderer.write, reply)
        return self._record(caller, mode, reply, written, NOTHING)

    def write_lines(self, reply: Reply, max_tokens: int | None = None) -> str:
        """Return an answer as lines for a resource or a prompt, without recording a recall."""
        return _read_text(self._line_renderer.write(reply, max_tokens).result)

    def recall_lines(
        self, caller: Caller, mode: str, reply: Reply, max_tokens: int | None, finding: Finding
    ) -> str:
        """Return the answer as lines for a resource or a prompt, and record it as a recall."""
        written = self._line_renderer.write(reply, max_tokens)
        return _read_text(self._record(caller, mode, reply, written, finding))

    def _record(
        self, caller: Caller, mode: str, reply: Reply, written: Written, finding: Finding
    ) -> CallToolResult:
        if self._recalls is not None:
            self._recalls.add(describe_recall(caller, mode, written, finding), reply)
        return written.result


def _read_text(result: CallToolResult) -> str:
    return "\n".join(item.text for item in result.content if isinstance(item, TextContent))


def name_session(ctx: Context[App]) -> Hashable:
    """Return a key that identifies the caller's session on this server.

    The key consists of the access token, its actor and the transport's session id. Protocol
    2026-07-28 does not have session ids. There, the client's name replaces the session id, and all
    calls of one actor with one client are one session. Over stdio there is only one session.
    """
    request = ctx.request_context.request
    bearer = find_principal(request) if request is not None else None
    session = request.headers.get("mcp-session-id") if request is not None else None
    owner = (bearer.token, bearer.actor) if bearer is not None else None
    return owner, session or _name_client(ctx)


def _name_client(ctx: Context[App]) -> str | None:
    """Return the name and version of the client, or None if it sent no name."""
    params = ctx.session.client_params
    if params is None:
        return None
    return _clean_client(f"{params.client_info.name} {params.client_info.version}"[:200])


@lru_cache  # a client sends the same name in every call
def _clean_client(name: str) -> str:
    return clean_name(name)
