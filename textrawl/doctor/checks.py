"""The checks of `textrawl doctor`."""

import getpass
import os
import time
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import anyio
from rich.filesize import decimal

from textrawl.access.access_token import hash_token
from textrawl.access.principal import WRITES_OR_PROPOSES, Caller, Directory, Principal
from textrawl.cluster.migration import inspect_cluster
from textrawl.cluster.opening import asks_cells, open_connection
from textrawl.doctor.configuration import DEFAULT, list_settings
from textrawl.doctor.setting_mistakes import find_ignored
from textrawl.embedded.cluster import run_embedded
from textrawl.embedded.postmaster import APP, OWNER, State, read_state
from textrawl.errors import (
    EmbeddingUnavailable,
    LlmFailed,
    NotAuthenticated,
    SchemaOutdated,
    ScopeMissing,
    StartRefused,
    TextrawlError,
)
from textrawl.host.entrance import find_address
from textrawl.memory.facts import MemoryOperations
from textrawl.memory.questions import Question
from textrawl.memory.store import Store, list_graphs
from textrawl.memory.webhooks import WebhookRow, Webhooks
from textrawl.models.active_model import Models, choose_named
from textrawl.models.choice import choose_embedder, choose_llm, explain_choice
from textrawl.models.llm import Prompt
from textrawl.postgres.connection import describe_error
from textrawl.postgres.inspection import (
    Server,
    ServerPair,
    compare_servers,
    find_active_model,
    find_vector_indexes,
    inspect_server,
    rehearse,
    require_expected_schema,
)
from textrawl.postgres.migrations import check, migrate
from textrawl.postgres.standby import MOST_LAG
from textrawl.settings import Settings, read_settings
from textrawl.values.word_lists import list_destinations
from textrawl.wire.token_counter import choose_counter
from textrawl_client.unix_socket import FolderTaken, require_private


@dataclass(frozen=True)
class CheckResult:
    """The result of one check. If the verdict is `broken`, calls fail and `message` has the fix."""

    name: str
    verdict: Literal["ok", "note", "broken"]
    message: str


@contextmanager
def record_errors(findings: list[CheckResult], name: str) -> Generator[None]:
    """Record an expected error of the block as a finding."""
    try:
        yield
    except (StartRefused, TextrawlError) as error:
        findings.append(CheckResult(name, "broken", describe_error(error)))


_TEXT = "textrawl doctor: is anybody there?"
_NAME = "textrawl doctor"  # an entity that exists only within the trial


async def try_call(
    conninfo: str,
    credential: bytes | None,
    settings: Settings,
    findings: list[CheckResult],
    *,
    person: str | None = None,
) -> None:
    """Check that a server would answer a call, and report what the caller can read and write.

    `person` is the author of the caller's facts, or None if the author is the caller's actor.
    """
    with record_errors(findings, "access"):
        async with _open_memory(conninfo, settings) as memory:
            principal = await Directory(memory.database).find(credential)
            if principal is None:
                raise NotAuthenticated(None if credential else _NO_CALLER)
            if settings.space is not None:
                principal = principal.pin(settings.space)
            principal.require("read")
            caller = Caller(principal, None, "doctor")
            findings.append(CheckResult("access", "ok", _describe(principal, person)))
            await _try_search(memory, caller, findings)
            if not settings.read_only:
                await _try_write(memory, caller, findings)
            findings.extend(await _find_clear_graphs(memory, credential))


async def _try_search(memory: Store, caller: Caller, findings: list[CheckResult]) -> None:
    """Search as a client does. If the search fails, say what to do until it works."""
    try:
        await _search(memory, caller)
    except TextrawlError as error:
        way_out = await _find_way_out(memory, caller)
        findings.append(CheckResult("search", "broken", f"{describe_error(error)}. {way_out}"))


async def _search(memory: Store, caller: Caller) -> None:
    await MemoryOperations(memory).search(Question(_TEXT, limit=1), caller)


async def _find_way_out(memory: Store, caller: Caller) -> str:
    """Return what a person can do whose searches fail, although the arguments are right."""
    principal = caller.principal
    if not principal.pinned:
        for space in principal.readable:
            with suppress(TextrawlError):
                await _search(memory, replace(caller, principal=principal.pin(space.name)))
                return _ONE_SPACE.format(space.name)
    elif principal.home_space is not None and principal.home_space.tier is not None:
        return _HOME_IS_GRAPH
    return _NO_SPACE


_ONE_SPACE = (
    "A search of {0} alone works: set TEXTRAWL_SPACE={0} for now, and report this with the output "
    "of `textrawl doctor`"
)
_HOME_IS_GRAPH = "TEXTRAWL_SPACE names it: name a space with facts, or unset TEXTRAWL_SPACE"
_NO_SPACE = (
    "If it stays so, report it with the output of `textrawl doctor`. `textrawl export` still "
    "writes everything that is stored"
)


async def _find_clear_graphs(memory: Store, credential: bytes | None) -> list[CheckResult]:
    """Return a note for each sensitive graph that still has texts in the clear."""
    graphs = await list_graphs(memory.database, credential, sensitive=True)
    clear = [graph.name for graph in graphs if graph.tier == "sensitive" and graph.chunks]
    fix = "has documents in the clear: run `textrawl space tier {0} sensitive`, which encrypts them"
    return [CheckResult("encryption", "note", f"{name} {fix.format(name)}") for name in clear]


async def _try_write(memory: Store, caller: Caller, findings: list[CheckResult]) -> None:
    """Store a fact as remember_fact does, and roll it back."""
    home = caller.principal.home_space
    if home is None or not home.scopes & {*WRITES_OR_PROPOSES} or home.tier is not None:
        return
    if await asks_cells(memory.database):
        return  # `try_cluster` checks the workers, and their cells cannot be rolled back from here
    with record_errors(findings, "write"):
        fact = {"entity": _NAME, "type": "concept", "observation": _TEXT}
        await rehearse(memory.database, "remember_fact", **fact, **caller.writing)
        message = f"a fact was stored in {home.name} and rolled back"
        findings.append(CheckResult("write", "ok", message))


_NO_CALLER = (
    "A server over stdio needs an access token: set TEXTRAWL_ACCESS_TOKEN to a token that "
    "`textrawl token create` made. For a server over HTTP, whose clients send their own tokens, "
    "run `textrawl doctor --http`"
)


@asynccontextmanager
async def _open_memory(conninfo: str, settings: Settings) -> AsyncGenerator[Store]:
    """Open the memory as a server does, but without the model, which `try_model` checks."""
    async with open_connection(conninfo, timeout=settings.database_timeout) as database:
        yield Store(database, Models(database, None, read_only=True))


async def try_issuer(
    conninfo: str, credential: bytes | None, settings: Settings, findings: list[CheckResult]
) -> None:
    """Check that a server over HTTP can accept tokens of its identity provider."""
    with record_errors(findings, "access"):
        async with _open_memory(conninfo, settings) as memory:
            principal = await Directory(memory.database).find(credential) if credential else None
            if principal is None:
                raise NotAuthenticated(
                    "With TEXTRAWL_OAUTH_ISSUER the server needs an access token of its own: set "
                    "TEXTRAWL_ACCESS_TOKEN to a valid token with the scope admin"
                )
            if not any("admin" in space.scopes for space in principal.spaces):
                raise ScopeMissing(
                    "admin",
                    f"the TEXTRAWL_ACCESS_TOKEN of {principal.actor} does not have it in any space",
                )
            message = f"{principal.actor} can register tokens of {settings.oauth_issuer}"
            findings.append(CheckResult("access", "ok", message))


def _describe(principal: Principal, person: str | None) -> str:
    reads = ", ".join(space.name for space in principal.readable)
    home = principal.home_space
    if home is None:
        writes = "writes to the space that a call names"
    else:
        scopes = [scope for scope in ("write", "forget") if scope in home.scopes]
        writes = f"may {' and '.join(scopes)} in {home.name}" if scopes else "only reads"
    return f"{person or principal.actor} reads {reads}; {writes}"


async def try_llm(settings: Settings, findings: list[CheckResult]) -> None:
    """Ask the LLM for one word, if the settings name an LLM.

    A fault is only a note, because only consolidation and extraction need the LLM.
    """
    with record_errors(findings, "llm"):
        llm = choose_llm(settings)  # if this raises, servers do not start either
        if llm is None:
            return
        start = time.perf_counter()
        try:
            await llm.complete_text(_PROMPT)
        except LlmFailed as failure:
            findings.append(CheckResult("llm", "note", f"{failure}. {_WITHOUT_LLM}"))
        else:
            seconds = time.perf_counter() - start
            findings.append(CheckResult("llm", "ok", f"{llm.name}: an answer in {seconds:.1f} s"))
        finally:
            await llm.aclose()


_PROMPT = Prompt("You check a connection. Answer with one word.", "Are you there?", max_tokens=500)
_WITHOUT_LLM = "Until it works, the journal is not consolidated, and nothing is extracted"


_MOST_LAG = 2.0  # seconds that a change of the directory waits for the workers
_AWAY = (
    "{} does not answer, so calls for its spaces fail: start it, and let the login of "
    "TEXTRAWL_DATABASE_URL connect to it as to the coordinator"
)
_LATE = (
    "{} does not copy new spaces, tokens and grants: look for errors of its subscription "
    "textrawl_directory in its log"
)
_FAULTS = (
    "{} on {}, so calls for its spaces fail: if no `textrawl cluster` is running, run `textrawl "
    "migrate --distributed` as a superuser of the cluster"
)


async def try_cluster(conninfo: str, timeout: float, findings: list[CheckResult]) -> None:
    """Report the workers and their cells, if the memory is distributed."""
    with record_errors(findings, "cluster"):
        state = await inspect_cluster(conninfo, timeout=timeout, most_lag=_MOST_LAG)
        if state is None:
            return
        faults = [_AWAY.format(node.address) for node in state.findings.away]
        faults += [
            _FAULTS.format(f"{fault.schema} is {fault.kind}", fault.node.address)
            for fault in state.findings.faults
            if fault.cell is not None
        ]
        faults += [_LATE.format(node.address) for node in state.late]
        findings.extend(CheckResult("cluster", "broken", fault) for fault in faults)
        if not faults:
            names = ", ".join(node.address for node in state.cells.nodes)
            findings.append(
                CheckResult("cluster", "ok", f"{len(state.cells.cells)} cells on {names}")
            )


_NO_STANDBY = (
    "TEXTRAWL_DATABASE_READ_URL leads to {}, which is not a standby, so the primary answers all "
    "calls: write the address of a standby, or unset it"
)
_OTHER_SYSTEM = (
    "{} does not follow the primary {}, or has another database or login, so the primary answers "
    "all calls: write the address of a standby of this primary, with the same database and login"
)
_OTHER_TIMELINE = (
    "{} does not show yet that it follows {}, which was promoted, so the primary answers all "
    "calls: run `checkpoint` on {}, and make it anew with pg_basebackup if this changes nothing"
)
_BEHIND = (
    "{} is more than {:.0f} s behind the primary {}, so the primary answers all calls: look at "
    "`select * from pg_stat_replication` on the primary"
)


async def try_standby(settings: Settings, findings: list[CheckResult]) -> None:
    """Report both servers and the lag. A fault of the standby fails no call, so it is a note."""
    if settings.database_url is None or settings.database_read_url is None:
        return
    primary, standby = settings.database_url, settings.database_read_url
    found: list[CheckResult] = []
    with record_errors(found, "standby"):
        servers = await compare_servers(
            primary.get_secret_value(),
            standby.get_secret_value(),
            timeout=settings.database_timeout,
            most_lag=MOST_LAG,
        )
        found.append(_judge(servers))
    findings += [
        CheckResult("standby", "note", f"{one.message}. The primary answers all calls")
        if one.verdict == "broken"
        else one
        for one in found
    ]


def _judge(servers: ServerPair) -> CheckResult:
    standby, primary = servers.standby, servers.primary
    if not servers.related:
        fault = _OTHER_SYSTEM.format(standby, primary)
    elif not servers.in_recovery:
        fault = _NO_STANDBY.format(standby)
    elif not servers.follows:
        fault = _OTHER_TIMELINE.format(standby, primary, standby)
    elif servers.lag is None:
        fault = _BEHIND.format(standby, MOST_LAG, primary)
    else:
        message = f"{standby} replayed the newest write of {primary} within"
        return CheckResult("standby", "ok", f"{message} {servers.lag * 1000:.0f} ms")
    return CheckResult("standby", "note", fault)


async def try_webhooks(
    conninfo: str, credential: bytes | None, settings: Settings, findings: list[CheckResult]
) -> None:
    """Report the webhooks that the caller administers. A fault fails no call, so it is a note."""
    async with open_connection(conninfo, timeout=settings.database_timeout) as database:
        try:
            rows = await Webhooks(database, credential).list_all()
        except (NotAuthenticated, ScopeMissing):
            if settings.webhook_hosts:
                findings.append(CheckResult("webhooks", "note", _NO_ADMIN))
            return
    named = list_destinations(settings.webhook_hosts)
    faults = [fault for row in rows if (fault := _judge_webhook(row, named))]
    findings.extend(CheckResult("webhooks", "note", fault) for fault in faults)
    if rows and not faults:
        waiting = sum(row.queue for row in rows)
        message = f"{len(rows)} webhooks work, and {waiting:,} events wait"
        findings.append(CheckResult("webhooks", "ok", message))


def _judge_webhook(row: WebhookRow, named: list[str]) -> str | None:
    what = f"{row.url} of {row.space_name}"
    waiting = f"{row.queue:,} events wait"
    if row.state == "paused":
        fix = f"then run `textrawl webhook resume {row.id}`"
        return f"{what} is paused ({row.last_error}), and {waiting}: repair the receiver, {fix}"
    if row.state == "not allowed":
        return f"{what} gets nothing, because {row.author_name} may not administer the space now"
    if row.host not in named:
        return (
            f"{what} gets nothing from a server with these settings: add {row.host} to "
            "TEXTRAWL_WEBHOOK_HOSTS"
        )
    if row.state == "retrying":
        return f"{what} failed {row.failures} times ({row.last_error}), and {waiting}"
    return None


_NO_ADMIN = (
    "a server with these settings posts nothing: set TEXTRAWL_ACCESS_TOKEN to a token with the "
    "scope admin in the spaces of the webhooks"
)
_LOADING = 10.0  # seconds that the check waits for a model to load
_WITHOUT_VECTORS = "Until it works, search uses only keywords, and new facts do not get vectors"


async def try_model(active: str | None, settings: Settings, findings: list[CheckResult]) -> None:
    """Compute a vector with the active model, or else with the model of the settings.

    A provider that is away is only a note, because without vectors all calls except a semantic
    search still work, and the provider comes back. A model that is not installed does not.
    """
    with record_errors(findings, "embeddings"):
        configured = choose_embedder(settings)  # if this raises, servers do not start either
        if configured is None:
            message = "none: search uses only keywords"
            findings.append(CheckResult("embeddings", "note", message))
            return
        await configured.aclose()
        name = active or configured.name
        try:
            message = await _ask(settings, name)
            why = explain_choice(active, settings)
            findings.append(CheckResult("embeddings", "ok", f"{message}; {why}"))
        except (EmbeddingUnavailable, StartRefused) as reason:
            message = f"{name} cannot be used: {reason}. {_WITHOUT_VECTORS}"
            lasts = isinstance(reason, StartRefused)
            findings.append(CheckResult("embeddings", "broken" if lasts else "note", message))


async def _ask(settings: Settings, name: str) -> str:
    embedder = choose_named(settings, name)
    if embedder is None:
        raise StartRefused(f"no embedding provider has the model {name}")
    try:
        with anyio.move_on_after(_LOADING):
            await embedder.warm()
        start = time.perf_counter()
        [vector] = await embedder.embed_documents([_TEXT])
        milliseconds = (time.perf_counter() - start) * 1000
    finally:
        await embedder.aclose()
    return f"{embedder.name}: {len(vector)} dimensions, one text in {milliseconds:.1f} ms"


async def examine(*, http: bool) -> list[CheckResult]:
    """Check the settings, and what a server with these settings needs.

    If SERVER_URL names a server, a command needs only this server, and only the settings are
    checked.
    """
    findings: list[CheckResult] = []
    with record_errors(findings, "settings"):
        settings = read_settings()
        rows = [row for row in list_settings(settings) if row.source != DEFAULT]
        lines = [f"{row.name}={row.value} ({row.source})" for row in rows]
        lines.append("all other settings have their defaults")
        findings.append(CheckResult("settings", "ok", "\n".join(lines)))
        if settings.server_url is None or http:
            findings += await examine_memory(settings, http=http)
    return findings


async def examine_memory(settings: Settings, *, http: bool = False) -> list[CheckResult]:
    """Check what a server with `settings` needs. With `http`, its clients send tokens."""
    findings: list[CheckResult] = []
    with record_errors(findings, "settings"):
        findings += [CheckResult(".env", "note", line) for line in find_ignored()]
        if not settings.enable_memory:
            findings.append(
                CheckResult("memory", "note", "off: set TEXTRAWL_ENABLE_MEMORY=true to offer it")
            )
        active = await _examine_database(settings, findings, http=http)
        await try_model(active, settings, findings)
        await try_llm(settings, findings)
        counter = choose_counter()
        exactly, estimated = f"counted exactly, {counter.name}", f"counted by {counter.name}"
        estimated += ". The number can be too high, but never too low"
        kind, message = ("ok", exactly) if counter.exact else ("note", estimated)
        findings.append(CheckResult("tokens", kind, message))
        findings.extend(_examine_socket())
    return findings


async def _examine_database(
    settings: Settings, findings: list[CheckResult], *, http: bool
) -> str | None:
    """Check the database. Return its active model, or None if there is none or it is unknown."""
    token = settings.access_token
    credential = hash_token(token.get_secret_value()) if token is not None else None
    with record_errors(findings, "database"):
        if settings.database_url is not None:
            conninfo = settings.database_url.get_secret_value()
            usable = await _examine_server(conninfo, settings.database_timeout, findings)
            await try_cluster(conninfo, settings.database_timeout, findings)
            if not usable:
                return None
            if settings.database_read_url is not None:
                await try_standby(settings, findings)
            await try_webhooks(conninfo, credential, settings, findings)
            if not http:
                await try_call(conninfo, credential, settings, findings)
            elif settings.oauth_issuer is not None:
                await try_issuer(conninfo, credential, settings, findings)
            return await _examine_vectors(conninfo, settings.database_timeout, findings)
        return await _examine_embedded(credential, settings, findings)
    return None


async def _examine_embedded(
    credential: bytes | None, settings: Settings, findings: list[CheckResult]
) -> str | None:
    state, timeout = read_state(settings.data_dir), settings.database_timeout
    findings.append(_examine_folder(settings.data_dir, state))
    if state.phase == "not initialised":
        return None
    async with run_embedded(settings.data_dir) as cluster:
        conninfo = cluster.dsn(APP)
        owner = cluster.dsn(OWNER)
        if not await _examine_server(conninfo, timeout, findings, owner=owner):
            return None
        # Without a token, a call is made as the user of this machine, with the owner's rights.
        login, person = (conninfo, None) if credential else (owner, getpass.getuser())
        await try_call(login, credential, settings, findings, person=person)
        await try_webhooks(login, credential, settings, findings)
        return await _examine_vectors(conninfo, timeout, findings, embedded=True)


def _examine_folder(data_dir: Path, state: State) -> CheckResult:
    if state.phase != "not initialised":
        message = f"{data_dir}: {decimal(state.size)}, Postgres was {state.phase} before the check"
        return CheckResult("data folder", "ok", message)
    folder = next(path for path in (data_dir, *data_dir.parents) if path.exists())
    if not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
        fault = "cannot be written" if folder.is_dir() else "is not a folder"
        fix = "set TEXTRAWL_DATA_DIR to a writable folder, or set TEXTRAWL_DATABASE_URL"
        return CheckResult("data folder", "broken", f"{folder} {fault}: {fix}")
    message = f"{data_dir}: no database yet; the first `textrawl serve` creates it"
    return CheckResult("data folder", "note", message)


async def _examine_server(
    conninfo: str, timeout: float, findings: list[CheckResult], *, owner: str | None = None
) -> bool:
    """Return True if the schema is up to date and a server may use this login.

    `owner` is the owner's conninfo if the Postgres is embedded.
    """
    server = await inspect_server(conninfo, timeout=timeout)
    route = ", through a pooler" if server.pooled else ""
    findings.append(CheckResult("database", "ok", f"PostgreSQL {server.postgres}{route}"))
    findings.append(judge_extension(server))
    with record_errors(findings, "schema"):
        try:
            await check(conninfo, connect_timeout=timeout, serving=False)
            await require_expected_schema(conninfo, timeout=timeout)
        except SchemaOutdated as outdated:
            if owner is None:
                raise
            # A start would migrate it, so find out whether this works.
            await migrate(owner, rehearse=True)
            message = f"{outdated}, or start a server, which does the same"
            findings.append(CheckResult("schema", "note", message))
            return False
        findings.append(CheckResult("schema", "ok", "up to date"))
        with record_errors(findings, "login"):
            await check(conninfo, connect_timeout=timeout)
            findings.append(CheckResult("login", "ok", f"{server.login}, which a server can use"))
            return True
    return False


async def _examine_vectors(
    conninfo: str, timeout: float, findings: list[CheckResult], *, embedded: bool = False
) -> str | None:
    active = await find_active_model(conninfo, timeout=timeout)
    message = f"{active}; `textrawl embed` changes it" if active else "no vectors yet"
    findings.append(CheckResult("model", "ok", message))
    indexes = await find_vector_indexes(conninfo, timeout=timeout)
    if active or indexes:
        findings.append(judge_indexes(indexes, embedded=embedded))
    return active


def judge_indexes(indexes: dict[str, str], *, embedded: bool) -> CheckResult:
    """Return a note if vector indexes are missing. Searches without an index work, but slowly."""
    faults = [f"{name} is {state}" for name, state in indexes.items() if state != "ready"]
    if not faults:
        return CheckResult("vector indexes", "ok", ", ".join(indexes))
    fix = "a server starts one within a minute" if embedded else "run `textrawl migrate`"
    message = f"{', '.join(faults)}. If no build is running, {fix}"
    return CheckResult("vector indexes", "note", message)


def judge_extension(server: Server) -> CheckResult:
    """Return a finding about pgvector. `textrawl migrate` refuses a version that is too old."""
    if server.pgvector is not None:
        return CheckResult("pgvector", "ok", server.pgvector)
    if server.offered is not None:
        fix = "run `create extension vector` in this database as a superuser"
        return CheckResult(
            "pgvector", "broken", f"{server.offered} is installed but not active: {fix}"
        )
    return CheckResult("pgvector", "broken", "missing: install 0.8 or newer on the database server")


def _examine_socket() -> list[CheckResult]:
    """Return a note if nobody can share an open memory. Without it, all calls still work."""
    try:
        require_private(find_address().folder)
    except FolderTaken as error:
        return [CheckResult("sharing", "note", str(error))]
    return []
