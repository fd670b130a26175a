"""The errors that callers and operators see.

    TextrawlError              title and fix; a tool's result with isError contains both
    ├── MemoryNotEnabled       ENABLE_MEMORY is off
    ├── ReadOnly               READ_ONLY is on
    ├── ArgumentInvalid        a wrong argument: which, what was given, what is allowed
    │   ├── QueryMissing
    │   ├── EntityNameMissing
    │   ├── EntityTypeInvalid
    │   ├── EntityNotFound     no entity of that name, but the call needs one
    │   └── FactNotFound       an id, prefix or text that names no fact, or more than one
    ├── NotAuthenticated       a credential that is unknown, expired or revoked, or none at all
    ├── ScopeMissing           the caller lacks a scope
    ├── IssuerRefused          this server may not vouch for its identity provider
    ├── SpaceNotFound          no space of that name in which the caller has a scope
    ├── EmbeddingNotConfigured semantic search without a provider
    ├── EmbeddingUnavailable   the provider is down, slow, or sent invalid data
    │   └── NothingEmbedded    no vectors yet, and this process makes none
    ├── DatabaseUnavailable    Postgres cannot be reached within the time limit
    ├── ServerBusy             every connection is in use
    ├── NothingDeleted         a deletion that was not made
    │   ├── ConfirmationMissing
    │   ├── DeletionDeclined   the user was asked and said no
    │   └── NothingToDelete    no entity of that name
    └── InternalError          a defect
    StartRefused               the server must not start; says what to run first (exit code 1)

Errors are raised, never returned. Each says what to do next.
"""


class TextrawlError(Exception):
    """Base of every error that a tool call may answer."""

    title = "Failed"
    fix = "Try again"

    def __init__(self, fix: str | None = None, *, title: str | None = None) -> None:
        self.title = title or self.title
        self.fix = fix or self.fix
        super().__init__(f"{self.title}: {self.fix}")


class MemoryNotEnabled(TextrawlError):
    """ENABLE_MEMORY is off."""

    title = "Memory not enabled"
    fix = "Set ENABLE_MEMORY=true"


class ArgumentInvalid(TextrawlError):
    """An invalid argument."""

    title = "Invalid argument"


class QueryMissing(ArgumentInvalid):
    """A search without a query."""

    title = "Missing query"
    fix = "Provide query"


class EntityNameMissing(ArgumentInvalid):
    """A look-up without a name."""

    title = "Missing entityName"
    fix = "Provide entityName"


class EntityTypeInvalid(ArgumentInvalid):
    """An entity type that is none of the seven."""

    title = "Invalid entity type"


class ReadOnly(TextrawlError):
    """READ_ONLY is on and the tool would change something."""

    title = "Memory is read-only"
    fix = "Ask who runs this server to unset TEXTRAWL_READ_ONLY, or use query_memory"


class InternalError(TextrawlError):
    """A defect of textrawl; only the server's log has the details."""

    title = "Internal error"
    fix = "Retry once; if it happens again, report it with the server's log"


class FactNotFound(ArgumentInvalid):
    """An id, an id's prefix or a text that names no fact of this entity, or more than one."""

    title = "Fact not found"


class NothingDeleted(TextrawlError):
    """A deletion that was not made; `code` names the reason in compact text."""

    code = ""
    message = "Nothing was deleted"
    explained = False
    """True if compact text contains the fix too."""


class ConfirmationMissing(NothingDeleted):
    """The call has no `confirm: true`, and the user could not be asked."""

    title = "Confirmation required"
    fix = "Ask the user, then call again with confirm true once the user agrees"
    code = "confirm"


class DeletionDeclined(NothingDeleted):
    """The user was asked and did not agree, now or minutes ago."""

    title = "Declined by the user"
    fix = "Keep it: try again only when the user asks for the deletion"
    code = "declined"
    message = "Nothing was deleted: the user did not agree"
    explained = True


class NothingToDelete(NothingDeleted):
    """No entity of that `name`."""

    title = "Entity not found"
    fix = "Look for the name with query_memory"
    code = "not_found"

    def __init__(self, name: str) -> None:
        super().__init__()
        self.message = f"There is no entity named {name}"


class EntityNotFound(ArgumentInvalid):
    """No entity of that `name`, and the call creates none."""

    def __init__(self, name: str) -> None:
        super().__init__(
            "Create it first with create_entities, or look for its name with search_nodes; "
            "nothing was changed",
            title=f"Entity with name {name} not found",
        )


class NotAuthenticated(TextrawlError):
    """A credential that is unknown, expired or revoked, or none where one is needed."""

    title = "Not authenticated"
    fix = "The token is unknown, expired or revoked: ask who runs this memory for another"


class ScopeMissing(TextrawlError):
    """The caller lacks `scope` in this space."""

    title = "Not allowed"

    def __init__(self, scope: str, has: str) -> None:
        self.scope = scope
        super().__init__(f"It needs the scope {scope}, and {has}: ask who runs this memory")


class IssuerRefused(TextrawlError):
    """The token of this server was not created for its identity provider."""

    title = "Not allowed"
    fix = (
        "TEXTRAWL_ACCESS_TOKEN of this server does not vouch for TEXTRAWL_OAUTH_ISSUER: make one "
        "with `textrawl token create --scope admin --issuer URL`"
    )


class SpaceNotFound(TextrawlError):
    """No space of that name, or no scope in it; the error does not reveal which."""

    title = "Space not found"


class EmbeddingNotConfigured(TextrawlError):
    """A semantic search, although EMBEDDING_PROVIDER is none."""

    title = "Embedding service not configured"
    fix = "Set OPENAI_API_KEY or configure Ollama"


class EmbeddingUnavailable(TextrawlError):
    """The embedding provider is down, slow, or sent invalid data."""

    title = "Embedding service unavailable"
    fix = "Retry later, or use searchMode hybrid, which falls back to keywords"


class NothingEmbedded(EmbeddingUnavailable):
    """There are no vectors yet, and a reading command or READ_ONLY may not make any."""

    title = "No vectors are stored yet"
    fix = "Search by words until a server that may write has made them"


class DatabaseUnavailable(TextrawlError):
    """Postgres cannot be reached within the time limit."""

    title = "Database unavailable"
    fix = "Retry in a few seconds; nothing was changed, so the call may be repeated"


class ServerBusy(TextrawlError):
    """Every database connection is in use and the queue is full."""

    title = "Server busy"
    fix = "Retry in a second; nothing was changed"


class StartRefused(Exception):
    """The server must not start; the message says what to run or set first."""


class SchemaOutdated(StartRefused):
    """The database was made by an older textrawl; the embedded one is migrated at its start."""
