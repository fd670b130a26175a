"""The tools of the memory that the settings name, opened in this process.

They call the operations that the tools of a server call, and make the same structured content, but
do not load the MCP SDK. `Client`, commands and the Unix socket use them.
"""

import secrets
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from textrawl.access.access_token import hash_token
from textrawl.access.principal import (
    WRITES_OR_PROPOSES,
    Caller,
    Directory,
    Scope,
    keep_caller,
)
from textrawl.client.arguments import (
    Arguments,
    DeletionArguments,
    DigestArguments,
    EdgeArguments,
    EntryArguments,
    FactArguments,
    SearchArguments,
    check,
)
from textrawl.errors import (
    ArgumentInvalid,
    MemoryNotEnabled,
    NothingToDelete,
    StartRefused,
    require_writable,
)
from textrawl.memory.facts import MemoryOperations
from textrawl.memory.journal import store_entry
from textrawl.memory.opening import open_memory, open_patiently
from textrawl.memory.questions import Sources
from textrawl.memory.speaker import SPEAKER, find_speaker, name_ends
from textrawl.memory.store import Store, StoreCall, describe_recall
from textrawl.postgres.inspection import name_lock_holders
from textrawl.settings import Settings, adapt_settings
from textrawl.tools.memory.search_replies import (
    FactLayout,
    digest_for_program,
    find_for_program,
    find_space_labels,
)
from textrawl.tools.memory.write_replies import ForgetReply, RelateReply, RememberReply
from textrawl.values.leaks import guard_arguments
from textrawl.values.text import count_cleaned
from textrawl.wire.program import Program
from textrawl.wire.replies import NO_BUDGET, RecallLog, Reply, Written, build_renderer
from textrawl_client.wire import Answer

_MOST_ADAPTED = 32  # combinations of settings that are kept

if TYPE_CHECKING:
    from textrawl.tools.call import App


class Tools(Protocol):
    """The tools of a memory, here or on a server, for programs of textrawl."""

    def adapt(self, program: Program, /) -> "Tools":
        """Return the same tools with the settings of a program. Raises ArgumentInvalid."""
        ...

    async def call(self, name: str, arguments: Mapping[str, Any], program: Program) -> Answer:
        """Return the answer of a tool. The digest is one of them. Raises TextrawlError."""
        ...

    async def operate(self, name: str, given: Mapping[str, Any], program: Program) -> Answer:
        """Return the result of an operation of `memory.commands`. Raises TextrawlError."""
        ...


@asynccontextmanager
async def open_local(settings: Settings) -> AsyncGenerator["LocalTools"]:
    """Open the memory of `settings`. The embedded Postgres is created if it does not exist.

    Answers without `max_tokens` have all facts. Raises StartRefused, MemoryNotEnabled,
    NotAuthenticated, SpaceNotFound, DatabaseUnavailable.
    """
    if not settings.enable_memory:
        raise MemoryNotEnabled
    unlimited = settings.model_copy(update={"max_response_tokens": NO_BUDGET})
    async with open_memory(settings) as store:
        tools = LocalTools(store, unlimited)
        await tools.identify(describe_own(settings), "query_memory", "read")
        yield tools


def describe_own(settings: Settings, client: str = "", **wishes: Any) -> Program:
    """Return a program of this process, with the token of `settings`."""
    token = settings.access_token.get_secret_value() if settings.access_token else None
    return Program(client=client, token=token, **wishes)


class LocalTools:
    """The tools of an open memory. Every call has the rights that its program has.

    `recalls` is None if recalls are not recorded. `names` has other names of tools for the trail.
    """

    def __init__(
        self,
        store: Store,
        settings: Settings,
        *,
        recalls: RecallLog | None = None,
        names: Mapping[str, str] | None = None,
        directory: Directory | None = None,
    ) -> None:
        self._store = store
        self._settings = settings
        self._recalls = recalls
        self._names = names or {}
        self._directory = directory or Directory(store.database)
        self._renderer = build_renderer(settings).for_programs()
        self._memory = MemoryOperations(store)
        self._app: App | None = None
        self._adapted = dict[tuple[tuple[str, str], ...], LocalTools]()

    def adapt(self, program: Program) -> "LocalTools":
        """Return the same tools with the settings of a program. Raises ArgumentInvalid."""
        if program.settings is None:
            return self
        key = tuple(sorted(program.settings.items()))
        if key not in self._adapted:
            try:
                settings = adapt_settings(self._settings, program.settings)
            except StartRefused as error:
                raise ArgumentInvalid(str(error), title="Settings refused") from error
            if len(self._adapted) >= _MOST_ADAPTED:
                self._adapted.clear()
            self._adapted[key] = LocalTools(
                self._store,
                settings,
                recalls=self._recalls,
                names=self._names,
                directory=self._directory,
            )
        return self._adapted[key]

    async def call(self, name: str, arguments: Mapping[str, Any], program: Program) -> Answer:
        """Return the answer of a tool. Raises the errors of the tool."""
        tool = _TOOLS.get(name)
        if tool is None or arguments.get("mode", "search") != "search" or "sources" in arguments:
            return await self._call_other(name, arguments, program)
        checked = check(tool.arguments, arguments)
        caller = await self.identify(program, name, *tool.find_scopes(checked))
        found: Sequence[str] = ()
        if name in _GUARDED:
            kept, found = guard_arguments(dict(arguments), self._settings.secrets)
            checked = check(tool.arguments, kept)
        with keep_caller(caller):
            answer = await tool.run(self, checked, caller, program)
        told = {
            "cleaned": count_cleaned(arguments) if name in _GUARDED else 0,
            "secrets": list(found),
        }
        more = {key: value for key, value in told.items() if value}
        return answer._replace(content={**answer.content, **more}) if more else answer

    async def _call_other(
        self, name: str, arguments: Mapping[str, Any], program: Program
    ) -> Answer:
        """Return the answer of a tool that has no function here."""
        from textrawl.client import toolset_calls  # noqa: PLC0415 - it loads the MCP SDK

        spec = toolset_calls.find_tool(name)
        scope = spec.find_scope(arguments)
        caller = await self.identify(program, name, scope, *spec.also)
        kept, found = dict(arguments), list[str]()
        if scope in WRITES_OR_PROPOSES:
            kept, found = guard_arguments(kept, self._settings.secrets)
            caller = replace(caller, cleaned=count_cleaned(kept), secrets=found)
        checked = toolset_calls.check_arguments(spec, kept)
        if self._app is None:
            self._app = toolset_calls.open_app(
                self._store, self._settings, self._directory, self._recalls
            )
        with keep_caller(caller):
            return await toolset_calls.run_tool(spec, checked, self._app, caller, program)

    async def operate(self, name: str, given: Mapping[str, Any], program: Program) -> Answer:
        """Return the result of an operation of commands. Raises its errors."""
        from textrawl.memory.commands import (  # noqa: PLC0415 - a server seldom needs it
            Session,
            find_operation,
        )

        operation = find_operation(name)
        if operation.writes:
            require_writable(self._settings.read_only, program.read_only)
        checked = operation.read(given)
        space = program.space or (self._settings.space if operation.placed else None)
        directory = self._directory
        if program.person:  # who may just have got another right, and can reach sensitive graphs
            directory = Directory(self._store.database, sensitive=True)
        principal = await directory.find_own(self._find_credential(program), space)
        operation.require(principal)
        caller = Caller(
            principal,
            program.client,
            operation.command,
            secrets.token_hex(8),
            repository=program.repository,
            # A command compares what it shows with the files itself.
            checkout=program.checkout if operation.writes else None,
        )
        with keep_caller(caller):
            async with self._lend(operation.least_timeout) as store:
                result = await operation.run(Session(store, caller, self._settings), **checked)
        return Answer(operation.result.dump_python(result, mode="json"))

    @asynccontextmanager
    async def _lend(self, least_timeout: float) -> AsyncGenerator[Store]:
        """Yield the memory, whose calls may take `least_timeout` seconds if it is not 0."""
        if not least_timeout:
            yield self._store
            return
        timeout = self._settings.database_timeout
        async with (
            open_patiently(self._store, max(timeout, least_timeout)) as store,
            name_lock_holders(self._store.conninfo, timeout),
        ):
            yield store

    def _find_credential(self, program: Program) -> bytes | None:
        return hash_token(program.token) if program.token else self._store.of_login

    async def identify(self, program: Program, tool: str, scope: Scope, *also: Scope) -> Caller:
        """Return the caller, who has `scope` or one of the scopes in `also`.

        Raises ReadOnly, NotAuthenticated, SpaceNotFound, ScopeMissing, ArgumentInvalid.
        """
        if scope != "read":
            require_writable(self._settings.read_only, program.read_only)
        space = program.space or self._settings.space
        principal = await self._directory.find_own(self._find_credential(program), space)
        if scope != "read":
            principal.require_home()
        principal.require(scope, *also)
        name = self._names.get(tool, program.name_tool(tool))
        return Caller(
            principal,
            program.client,
            name,
            secrets.token_hex(8),
            repository=program.repository,
            checkout=program.checkout,
            anchors=program.anchors,
        )

    async def search(self, asked: SearchArguments, caller: Caller, program: Program) -> Answer:
        """Return the facts that answer a question."""
        layout = FactLayout(find_space_labels(caller.principal), asked.include_ids)
        authors = self._settings.digest_authors
        sources = Sources.find_all(caller.principal, self._settings)
        question = replace(asked.read(), sources=sources)
        reply = await find_for_program(self._memory, question, caller, program, authors, layout)
        written = self._renderer.write(reply, asked.max_tokens)
        silent = program.is_hook and not written.items
        if self._recalls is not None and program.record and not silent:
            finding = reply.read_finding(question.query)
            self._recalls.add(describe_recall(caller, "search", written, finding), reply)
        return _build_answer(reply, written)

    async def digest(self, asked: DigestArguments, caller: Caller, program: Program) -> Answer:
        """Return the facts that matter at the start of a conversation."""
        authors = self._settings.digest_authors
        reply = await digest_for_program(self._memory, asked.project, caller, program, authors)
        budget = asked.max_tokens or self._settings.digest_tokens
        return _build_answer(reply, self._renderer.write(reply, budget))

    async def remember(self, asked: FactArguments, caller: Caller, _: Program) -> Answer:
        """Store a fact, or update the valid fact of the entity with the same text."""
        fact, hint = asked.read(), None
        if fact.entity.casefold() in SPEAKER:
            name, hint = await find_speaker(fact.entity, self._store, caller)
            fact = replace(fact, entity=name)
        row = await self._memory.remember(fact, caller)
        return _build_short_answer(RememberReply.build(row, asked.type, hint))

    async def relate(self, asked: EdgeArguments, caller: Caller, _: Program) -> Answer:
        """Connect two entities, or end a relation."""
        edge = await name_ends(asked.read(), self._store, caller)
        if asked.ended:
            row = await self._memory.end(edge, caller)
        else:
            row = await self._memory.relate(edge, caller, replaces=asked.replaces)
        return _build_short_answer(RelateReply.build(row, edge.relation, ended=asked.ended))

    async def forget(self, asked: DeletionArguments, caller: Caller, _: Program) -> Answer:
        """Delete an entity or one fact of it. Raises NothingToDelete, FactNotFound."""
        row = await self._memory.forget(
            asked.entity, caller, fact=asked.fact, dry_run=asked.dry_run
        )
        if row is None:
            raise NothingToDelete(asked.entity)
        write = ForgetReply.preview if asked.dry_run else ForgetReply.build
        return _build_short_answer(write(row))

    async def capture(self, asked: EntryArguments, caller: Caller, _: Program) -> Answer:
        """Add texts of a session to a journal entry, without known texts."""
        call, key = StoreCall(self._store, caller), asked.read()
        row = await store_entry(call, "write_entry", key, asked.content, chat_ids=asked.chat_ids)
        return Answer({"changed": row.changed})


@dataclass(frozen=True)
class _Tool:
    """A tool: the model of its arguments, its function, and the scopes of which one is needed."""

    arguments: type[Arguments]
    run: Callable[[LocalTools, Any, Caller, Program], Awaitable[Answer]]
    find_scopes: Callable[[Any], tuple[Scope, ...]]


def _build_answer(reply: Reply, written: Written) -> Answer:
    content = written.content.structured or {}
    return Answer(content, written.text, reply.list_ids(written.items), written.tokens)


def _build_short_answer(reply: Reply) -> Answer:
    return Answer(reply.structured())


_GUARDED = ("remember_fact", "relate_entities", "memory_create")  # tools that store texts

_TOOLS = {
    "query_memory": _Tool(SearchArguments, LocalTools.search, lambda _: ("read",)),
    "digest": _Tool(DigestArguments, LocalTools.digest, lambda _: ("read",)),
    "remember_fact": _Tool(FactArguments, LocalTools.remember, lambda _: WRITES_OR_PROPOSES),
    "relate_entities": _Tool(
        EdgeArguments,
        LocalTools.relate,
        lambda asked: ("write",) if asked.ended else WRITES_OR_PROPOSES,
    ),
    "forget_entity": _Tool(
        DeletionArguments,
        LocalTools.forget,
        lambda asked: ("read",) if asked.dry_run else ("forget",),
    ),
    "memory_create": _Tool(EntryArguments, LocalTools.capture, lambda _: ("write",)),
}
