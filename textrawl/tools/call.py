"""One call of a tool: the open memory, the caller, and functions that write the answer."""

import secrets
import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Annotated, Any

from cachetools import TTLCache
from mcp.server.mcpserver.context import Context
from mcp.types import CallToolResult, TextContent
from starlette.requests import Request

from textrawl.access.principal import Caller, Directory, find_caller
from textrawl.access.request import find_principal, find_repository, find_request_id, find_space
from textrawl.errors import ArgumentInvalid, NotAuthenticated
from textrawl.memory.store import Store, StoreCall, describe_recall
from textrawl.memory.watches import Watches
from textrawl.scheduling import run_aside
from textrawl.settings import Settings
from textrawl.values.text import MOST_TOKENS, clean_name
from textrawl.values.word_lists import PROGRAM
from textrawl.wire.program import Program, read_program, write_answer_meta
from textrawl.wire.replies import (
    NOTHING,
    Finding,
    Key,
    RecallLog,
    Reply,
    Written,
    build_renderer,
)

_LIFETIME = 300.0  # seconds
_MOST_KEPT = 10_000


@dataclass(frozen=True)
class Target:
    """A deletion of an entity or, if `part` is given, of one part of the entity.

    `part` is the id or the text of this part.
    """

    entity: Hashable
    part: Hashable | None = None

    def overlaps(self, other: "Target") -> bool:
        """Return whether one of the two deletions would include the other."""
        whole = self.part is None or other.part is None
        return self.entity == other.entity and (whole or self.part == other.part)


class RefusedDeletions:
    """Refused deletions by session. `clock` returns seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._kept = TTLCache[tuple[Hashable, Target], bool](_MOST_KEPT, _LIFETIME, clock)

    def add(self, session: Hashable, target: Target) -> None:
        """Remember that the user of `session` refused `target`."""
        self._kept[session, target] = True

    def remove(self, session: Hashable, target: Target) -> None:
        """Drop the refusals of `session` that overlap `target`, because the user now agreed."""
        for key in self._find(session, target):
            self._kept.pop(key, None)

    def has_any(self, session: Hashable) -> bool:
        """Return whether anything was refused in `session`."""
        return any(key[0] == session for key in self._kept)

    def overlap(self, session: Hashable, target: Target) -> bool:
        """Return whether a refusal of `session` overlaps `target`."""
        return bool(self._find(session, target))

    def _find(self, session: Hashable, target: Target) -> list[tuple[Hashable, Target]]:
        return [key for key in self._kept if key[0] == session and target.overlaps(key[1])]


@dataclass(frozen=True)
class Identity:
    """The server's own identity, and the rules by which it identifies callers.

    `credential` belongs to the server's own access token. `space` restricts every caller to one
    space. If `tokens_needed` is true, a call without an access token is refused. `repository` has
    the keys of the one in which the session works, if it is over stdio, and `checkout` its folder.
    """

    directory: Directory
    credential: bytes | None
    space: str | None = None
    tokens_needed: bool = False
    repository: str | None = None
    checkout: str | None = None


class App:
    """The state of a running server, with its settings.

    `recalls` is None if READ_ONLY is on or RECORD_RECALLS is off.
    """

    def __init__(
        self,
        settings: Settings,
        store: Store,
        identity: Identity,
        recalls: RecallLog | None = None,
    ) -> None:
        self.settings = settings
        self.store = store
        self.refused_deletions = RefusedDeletions()
        self.identity = identity
        self.watches = Watches(store.database)
        self.renderer = build_renderer(settings)
        self.line_renderer = replace(self.renderer, format="lines", structured=False)
        self.program_renderer = self.renderer.for_programs()
        self.recalls = recalls

    async def identify(
        self,
        request: Request | None,
        client: str | None,
        tool: str,
        meta: Mapping[str, Any] | None = None,
    ) -> Caller:
        """Return the caller of `tool`: the token's principal, or else the server's own principal.

        `request` is the HTTP request, or None for another transport. In `meta`, a program of
        textrawl says in which repository it runs. Raises NotAuthenticated, SpaceNotFound,
        DatabaseUnavailable, and ArgumentInvalid for a header or a program that says nothing known.
        """
        bearer, address, request_id = None, None, ""
        if request is not None:
            bearer, address = find_principal(request), find_space(request)
            request_id = find_request_id(request)
        repository = find_repository(request) if request else self.identity.repository
        checkout = None if request else self.identity.checkout
        anchors: Sequence[str] = ()
        if meta and PROGRAM in meta and (program := read_program(meta)):
            # A message can name any repository, but no folder to read.
            repository, checkout, anchors = program.repository, None, program.anchors
            # Over stdio, programs of a person ask the host and not a session of a client.
            tool = program.name_tool(tool) if request is not None else tool
        principal, identity = bearer, self.identity
        if principal is None and not identity.tokens_needed:
            principal = await identity.directory.find(identity.credential)
        if principal is None and identity.credential is None:
            raise NotAuthenticated(
                "This server has no access token for the database: set "
                "TEXTRAWL_ACCESS_TOKEN to a token that "
                "`textrawl token create` made"
            )
        if principal is None:
            raise NotAuthenticated
        return Caller(
            principal.restrict(self.settings.graphs, identity.space, address),
            client,
            tool,
            request_id or secrets.token_hex(8),
            sharing=bearer is not None,
            repository=repository,
            checkout=checkout,
            anchors=anchors,
        )


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
    return owner, session or name_client(ctx)


def name_client(ctx: Context[App]) -> str | None:
    """Return the name and version of the client, or None if it sent no name."""
    params = ctx.session.client_params
    if params is None:
        return None
    return _clean_client(f"{params.client_info.name} {params.client_info.version}"[:200])


_clean_client = lru_cache(clean_name)  # a client sends the same name in every call


@dataclass(frozen=True)
class Call(StoreCall):
    """The first argument of every tool. The server injects it.

    `origin` is the SDK's object for the same call, or the program that calls without a session.
    """

    app: App
    origin: Context[App] | Program

    @property
    def context(self) -> Context[App]:
        """The SDK's object for the same call. Raises ArgumentInvalid if there is no session."""
        if isinstance(self.origin, Program):
            raise ArgumentInvalid("Call it in a session of MCP", title="Not for programs")
        return self.origin

    @property
    def settings(self) -> Settings:
        """The settings of the server."""
        return self.app.settings

    @property
    def graphs(self) -> list[str] | None:
        """The names of the only graphs that this call can reach. None: all graphs of the caller.

        TEXTRAWL_GRAPHS restricts all callers. An address or a setting can restrict a caller to one
        space. The rights of the caller count in addition.
        """
        return self.caller.principal.find_graphs(self.settings.graphs)

    @cached_property
    def program(self) -> Program | None:
        """The program of textrawl that calls, or None. Raises ArgumentInvalid."""
        if isinstance(self.origin, Program):
            return self.origin
        meta = self.origin.request_context.meta
        return read_program(meta) if meta and PROGRAM in meta else None

    def reply(self, reply: Reply) -> CallToolResult:
        """Write an answer that is not recorded as a recall."""
        if self.caller.cleaned or self.caller.secrets:
            reply = reply.tell(self.caller.cleaned, self.caller.secrets)
        if is_program(self.origin):
            written = self.app.program_renderer.write(reply, MOST_TOKENS)
        else:
            written = self.app.renderer.write(reply)
        return written.content.build_result()

    async def reply_aside(self, reply: Reply) -> CallToolResult:
        """Write a long answer in a thread, so that it does not delay other calls."""
        return await run_aside(
            self.app.renderer.render, reply.tell(self.caller.cleaned, self.caller.secrets)
        )

    def recall(
        self, mode: str, reply: Reply, max_tokens: int | None = None, finding: Finding = NOTHING
    ) -> CallToolResult:
        """Write the answer to a query, and record it as a recall with its `mode` and its cost.

        A hook that shows nothing is no recall.
        """
        program, app = self.program, self.app
        renderer = app.renderer if program is None else app.program_renderer
        written = renderer.write(reply, max_tokens)
        shown = program is None or written.items or not program.is_hook
        if app.recalls is not None and shown:
            app.recalls.add(describe_recall(self.caller, mode, written, finding), reply)
        result = written.content.build_result()
        if program is None:
            return result
        return result.model_copy(update={"meta": write_answer_meta(reply, written)})

    async def recall_aside(self, mode: str, reply: Reply) -> CallToolResult:
        """Do what `recall` does, in a thread. A long answer then does not delay other calls."""
        written = await run_aside(self.app.renderer.write, reply)
        return self._record(mode, reply, written, NOTHING)

    def write_lines(self, reply: Reply, max_tokens: int | None = None) -> str:
        """Return an answer as lines for a resource or a prompt, without recording a recall."""
        return _read_text(self.app.line_renderer.write(reply, max_tokens).content.build_result())

    def recall_lines(self, mode: str, reply: Reply, finding: Finding) -> str:
        """Return the answer as lines for a resource or a prompt, and record it as a recall.

        Its format is `lines`, whatever COMPACT_RESPONSES says, because people read it too.
        """
        written = self.app.line_renderer.write(reply)
        return _read_text(self._record(mode, reply, written, finding))

    def _record(
        self, mode: str, reply: Reply, written: Written, finding: Finding
    ) -> CallToolResult:
        if self.app.recalls is not None:
            self.app.recalls.add(describe_recall(self.caller, mode, written, finding), reply)
        return written.content.build_result()


def is_program(origin: Context[App] | Program | None) -> bool:
    """Return whether a program of textrawl sent the request."""
    if origin is None or isinstance(origin, Program):
        return origin is not None
    return PROGRAM in (origin.request_context.meta or ())


def find_call(context: Context[App]) -> Call:
    """Return the call that the current asyncio task answers.

    Raises NotAuthenticated if the server did not identify the caller before.
    """
    caller = find_caller()
    if caller is None:
        raise NotAuthenticated
    app = context.request_context.lifespan_context
    return Call(app.store, caller, app, context)


class FailureReply(Reply):
    """A failure, with the reason. The result also has isError."""

    success: Annotated[bool, Key("ok")] = False
    message: Annotated[str, Key("err")]


def reply_failure(call: Call, message: str) -> CallToolResult:
    """Answer with a failure."""
    return call.reply(FailureReply(message=message)).model_copy(update={"is_error": True})
