"""The connection and the arguments that commands for administrators share.

These commands connect to DATABASE_URL, or else to the embedded Postgres. The login has to own the
memory, as for `textrawl migrate`. To list and change grants, a server's login is enough if
ACCESS_TOKEN has the scope `admin`.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import LiteralString, TypeVar, get_args

from textrawl.access.access_token import hash_token
from textrawl.access.principal import Scope
from textrawl.cli.console import show_wait
from textrawl.cli.foreground import run_foreground
from textrawl.cli.inputs import read_span
from textrawl.cluster.opening import open_connection
from textrawl.embedded.cluster import run_embedded
from textrawl.embedded.postmaster import OWNER, read_state
from textrawl.errors import ArgumentInvalid, StartRefused, require_writable
from textrawl.postgres.connection import OwnerLogin
from textrawl.postgres.database import Database
from textrawl.postgres.inspection import name_lock_holders
from textrawl.postgres.migrations import check, migrate
from textrawl.settings import Settings, read_settings


def require_memory(settings: Settings) -> None:
    """Require that the embedded Postgres exists, because a reading command does not create it.

    A database of DATABASE_URL is checked when it is opened. Raises StartRefused.
    """
    if settings.database_url is None and read_state(settings.data_dir).phase == "not initialised":
        raise StartRefused(
            f"There is no memory in {settings.data_dir} yet: `textrawl remember`, `textrawl "
            "ingest`, `textrawl space create` and the first `textrawl serve` create it. If your "
            "memory is elsewhere, set TEXTRAWL_DATA_DIR or TEXTRAWL_DATABASE_URL"
        )


@asynccontextmanager
async def open_login(
    settings: Settings, *, role: str = OWNER, empty: bool = False, any_version: bool = False
) -> AsyncGenerator[OwnerLogin]:
    """Open the memory of `settings` as its owner, or as `role` on the embedded Postgres.

    If `empty` is true, the memory does not need to exist. If `any_version` is false, the embedded
    memory is migrated, and a memory in DATABASE_URL has to have the schema of this version. Raises
    StartRefused, DatabaseUnavailable.
    """
    timeout = settings.database_timeout
    if settings.database_url is not None:
        conninfo = settings.database_url.get_secret_value()
        if not any_version:
            await check(conninfo, connect_timeout=timeout, serving=False)
        yield OwnerLogin(conninfo, None, timeout)
        return
    if not empty:
        require_memory(settings)
    async with run_embedded(settings.data_dir) as cluster:
        if not any_version:
            await migrate(cluster.dsn(OWNER))
        yield OwnerLogin(cluster.dsn(role), cluster.bin_path, timeout)


@dataclass(frozen=True)
class SwitchedRow:
    """The model that switch_embedding_model made active, and the model that was active before."""

    name: str
    previous: str


@dataclass(frozen=True)
class RolledBackRow:
    """The model that rollback_embedding_model made active, and the model that was active before."""

    name: str
    abandoned: str


@dataclass(frozen=True)
class SampleRow:
    """A fact of sample_facts."""

    entity_name: str
    content: str


@dataclass(frozen=True)
class ProgressRow:
    """A model of embedding_progress, with the numbers of its vectors and of its pending facts.

    `bytes` is the size of its table with the indexes. `calibrated_at` is None if the scale was not
    measured in this memory.
    """

    name: str
    dimensions: int
    status: str
    status_since: datetime
    vectors: int
    pending: int
    bytes: int
    cosine_floor: float
    cosine_ceiling: float
    trust: float
    calibrated_at: datetime | None


@dataclass(frozen=True)
class RecallCostsRow:
    """The costs of the last recalls in tokens, from recall_costs.

    `cut` is the number of answers that left items out, and `dropped` is the number of these items.
    Fields are None if there are no recalls.
    """

    recalls: int
    p50: int | None
    p95: int | None
    largest: int | None
    cut: int
    dropped: int
    since: datetime | None


@dataclass(frozen=True)
class MadeSpaceRow:
    """A space after create_space, rename_space or archive_space."""

    name: str
    language: str
    created_at: datetime
    archived_at: datetime | None


@dataclass(frozen=True)
class ChangedLanguageRow:
    """A space after change_language, with the number of documents that servers make anew."""

    space: str
    former_language: str
    new_language: str
    documents: int


@dataclass(frozen=True)
class PolicyRow:
    """The fading of memories in a space. `own` names the values that the space set itself."""

    space: str
    policy: dict[str, object]
    own: list[str]


@dataclass(frozen=True)
class SpaceListRow:
    """A space of list_spaces with the number of its valid facts and of actors with a grant.

    `own_index` is `ready` or `unfinished` if the space has its own vector index, else None.
    `rebuilding` is the number of facts whose search document still has a former language. The last
    four fields are None unless the space is a graph.
    """

    name: str
    created_at: datetime
    archived_at: datetime | None
    facts: int
    members: int
    own_index: str | None
    language: str
    rebuilding: int | None
    tier: str | None
    recall_tokens: int | None
    sources: int | None
    chunks: int | None


@dataclass(frozen=True)
class ChangedReviewRow:
    """The review of a space that change_review set, and the number of pending proposals."""

    space: str
    is_reviewed: bool
    days: int | None
    pending: int
    external: bool


@dataclass(frozen=True)
class ChangedTierRow:
    """A graph after change_tier. `cap` is the largest number of its tokens in one answer."""

    space: str
    new_tier: str
    cap: int


Row = TypeVar("Row")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Administration:
    """A memory that is open for an administrator.

    `credential` is None if the login owns the memory.
    """

    database: Database
    credential: bytes | None
    conninfo: str

    async def call(
        self, function: LiteralString, row: type[Row], /, **arguments: object
    ) -> list[Row]:
        """Call a SQL function. If the database refuses the call, raise an error with a fix."""
        return await self.database.call_explained(function, row, **arguments)

    async def value(self, function: LiteralString, kind: type[Row], /, **arguments: object) -> Row:
        """Return the only value of a SQL function, in the same way."""
        [value] = await self.call(function, kind, **arguments)
        return value


@asynccontextmanager
async def open_administration(
    settings: Settings, *, owned: bool = True, role: str = OWNER, empty: bool = False
) -> AsyncGenerator[Administration]:
    """Open the memory of `settings` as its owner, or with ACCESS_TOKEN if `owned` is false.

    `role` and `empty` are passed to `open_login`. Raises DatabaseUnavailable, and StartRefused if
    the schema is of another version or the login has too few rights.
    """
    async with (
        open_login(settings, role=role, empty=empty) as login,
        open_connection(login.conninfo, timeout=login.timeout) as database,
    ):
        owned_here = await database.value("owns_memory", bool)
        credential = None if owned_here else _require_token(settings, owned=owned)
        async with name_lock_holders(login.conninfo, login.timeout):
            yield Administration(database, credential, login.conninfo)


def _require_token(settings: Settings, *, owned: bool) -> bytes:
    if not owned and settings.access_token is not None:
        return hash_token(settings.access_token.get_secret_value())
    alternative = "" if owned else ", or set TEXTRAWL_ACCESS_TOKEN to a token with the scope admin"
    raise StartRefused(
        "The login of TEXTRAWL_DATABASE_URL does not own this memory: set TEXTRAWL_DATABASE_URL "
        f"to the value that you run `textrawl migrate` with{alternative}"
    )


def administer(
    work: Callable[[Administration], Awaitable[Result]],
    *,
    owned: bool = True,
    wait: str | None = "Asking the database",
    role: str = OWNER,
    empty: bool = False,
    changes_memory: bool = True,
) -> Result:
    """Run `work` on the memory of the settings and return its result.

    `owned`, `role` and `empty` are passed to `open_administration`. The message `wait` is shown
    meanwhile. If it is None, `work` shows its own progress. Raises ReadOnly unless `changes_memory`
    is false. Such `work` can still change who may read and write the memory.
    """
    settings = read_settings()
    if changes_memory:
        require_writable(settings.read_only)

    async def run() -> Result:
        async with open_administration(
            settings, owned=owned, role=role, empty=empty
        ) as administration:
            return await work(administration)

    with show_wait(wait) if wait else nullcontext():
        return run_foreground(run)


def call_database(
    function: LiteralString,
    row: type[Row],
    /,
    *,
    owned: bool = True,
    role: str = OWNER,
    empty: bool = False,
    changes_memory: bool = True,
    **arguments: object,
) -> list[Row]:
    """Call a SQL function on the memory of the settings, and return its rows.

    If `owned` is false, the function gets the credential too. `role` is the login on the embedded
    Postgres. If `empty` is true, an embedded memory that does not exist is created. Raises ReadOnly
    unless `changes_memory` is false.
    """

    async def work(memory: Administration) -> list[Row]:
        credential = {} if owned else {"credential": memory.credential}
        return await memory.call(function, row, **credential, **arguments)

    return administer(work, owned=owned, role=role, empty=empty, changes_memory=changes_memory)


def read_scopes(texts: Sequence[str]) -> list[str]:
    """Read scopes that are separated by commas, without repetitions. Raises ArgumentInvalid."""
    text = ",".join(texts)
    scopes = {word.strip().lower() for word in text.split(",")}
    if not scopes <= set(get_args(Scope)):
        raise ArgumentInvalid(
            f"use {', '.join(get_args(Scope))}, with commas between them",
            title=f"Wrong scopes: {text!r}",
        )
    return [scope for scope in get_args(Scope) if scope in scopes]


def find_end(text: str | None) -> datetime | None:
    """Return the current time plus a span such as 90d, or None if `text` is None."""
    return None if text is None else datetime.now(UTC) + read_span(text)
