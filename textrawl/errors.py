"""The errors that callers and operators see.

Those that programs catch are in `textrawl_client.errors`, and have the same names here. A client
that does not know another error gets its nearest base class of those.

    TextrawlError
    ├── MemoryNotEnabled       ENABLE_MEMORY is off
    ├── ExtractionNotEnabled   ENABLE_MEMORY_EXTRACTION is off
    ├── ArgumentInvalid
    │   ├── QueryMissing
    │   ├── EntityNameMissing
    │   ├── EntityTypeInvalid
    │   ├── ItemNotFound       an id of a connector that names nothing
    │   └── SpaceIsGraph       a space holds documents, and the call needs one with facts
    ├── ScopeMissing
    │   └── OnlyProposes       the caller has propose instead of write
    ├── IssuerUnavailable      the identity provider's keys or metadata cannot be fetched
    ├── IssuerRefused          this server's token was not created for its identity provider
    ├── EmbeddingNotConfigured semantic search without a provider
    ├── EmbeddingUnavailable   the provider is down or slow, or sent invalid data
    │   └── NothingEmbedded    there are no vectors, and this process does not make any
    ├── LlmFailed              the LLM made no usable answer
    │   ├── LlmNotConfigured   a call needs an LLM, and LLM_PROVIDER is none
    │   ├── LlmUnreachable     the provider is down or slow, or refuses requests
    │   ├── LlmModelMissing    the provider does not have the model
    │   └── LlmBadOutput       the answer is empty, cut, or not the JSON that was asked for
    ├── EncryptionKeyUnusable  the key of an encrypted graph is missing, or another one
    ├── DecryptionFailed       an encrypted document was changed outside textrawl
    ├── DatabaseUnavailable
    │   └── SchemaUnfit        the tables or functions are not those of this version
    ├── NothingDeleted
    │   ├── ConfirmationMissing
    │   └── DeletionDeclined   the user was asked and said no
    └── InternalError          a defect of textrawl
    StartRefused               the server must not start; the message says what to do (exit code 1)
    └── SchemaOutdated         only an embedded Postgres migrates at its start

Errors are raised, never returned. Each says what to do next.
"""

from textrawl_client.errors import *  # noqa: F403 - the same names
from textrawl_client.errors import (
    ArgumentInvalid,
    DatabaseUnavailable,
    NothingDeleted,
    ReadOnly,
    ScopeMissing,
    TextrawlError,
)


class CallFailed(Exception):
    """The reason why a call found or changed nothing. Its tool answers with a FailureReply."""


def require_writable(*read_only: bool) -> None:
    """Raise ReadOnly if READ_ONLY is on in the settings, or a program wants to change nothing."""
    if any(read_only):
        raise ReadOnly("TEXTRAWL_READ_ONLY is on: unset it to change the memory")


class MemoryNotEnabled(TextrawlError):
    """ENABLE_MEMORY is off."""

    title = "Memory not enabled"
    fix = "Set ENABLE_MEMORY=true"


class QueryMissing(ArgumentInvalid):
    """A search without a query."""

    title = "Missing query"
    fix = "Provide query"


class EntityNameMissing(ArgumentInvalid):
    """A look-up without a name."""

    title = "Missing entityName"
    fix = "Provide entityName"


class EntityTypeInvalid(ArgumentInvalid):
    """An entity type that is not one of the seven."""

    title = "Invalid entity type"


class InternalError(TextrawlError):
    """A defect of textrawl. Only the server's log has the details."""

    title = "Internal error"
    fix = "Retry once; if it happens again, report it with the server's log"


class SpaceIsGraph(ArgumentInvalid):
    """A space holds documents, and the call needs a space with facts."""

    def __init__(self, space: str) -> None:
        super().__init__(
            "use a space with facts for this tool, or recall and remember of the corpus toolset",
            title=f"The space {space} is a graph, which holds documents",
        )


class ConfirmationMissing(NothingDeleted):
    """The call has no `confirm: true`, and the user could not be asked.

    `target` says what would be deleted, if the caller may know.
    """

    title = "Confirmation required"
    fix = "Ask the user, then call again with confirm true once the user agrees"
    code = "confirm"
    explained = True

    def __init__(self, target: str | None = None) -> None:
        super().__init__(f"This would forget {target}. {self.fix}" if target else None)


class DeletionDeclined(NothingDeleted):
    """The user was asked, now or in the last five minutes, and did not agree."""

    title = "Declined by the user"
    fix = "Keep it: try again only when the user asks for the deletion"
    code = "declined"
    message = "Nothing was deleted: the user did not agree"
    explained = True


class ItemNotFound(ArgumentInvalid):
    """An id of a connector that names nothing which the caller can read.

    The error does not tell whether something has this id.
    """

    title = "Item not found"
    fix = "Use an id as search shows it: nothing that you can read has this one"


class OnlyProposes(ScopeMissing):
    """The caller has the scope `propose` instead of `write`, and the call stores no proposals."""

    def __init__(self) -> None:
        super().__init__(
            "write",
            "the caller can only propose here, with remember_fact, build_knowledge or "
            "relate_entities",
        )


class SchemaUnfit(DatabaseUnavailable):
    """The database does not have the tables or functions that this version needs."""

    title = "The schema of the database does not fit this version of textrawl"
    fix = (
        "Ask the administrator to run `textrawl doctor`, which says what to do, or to restart the "
        "server after an upgrade; nothing was changed; do not retry before"
    )


class ExtractionNotEnabled(TextrawlError):
    """ENABLE_MEMORY_EXTRACTION is off."""

    title = "Memory extraction not enabled"
    fix = (
        "Ask the administrator to set TEXTRAWL_ENABLE_MEMORY_EXTRACTION=true and "
        "TEXTRAWL_LLM_PROVIDER; do not retry before"
    )


class IssuerUnavailable(TextrawlError):
    """The identity provider's keys or metadata cannot be fetched, so nobody can sign in there."""

    # The caller is not authenticated yet, so only the log names the cause.
    title = "Identity provider unavailable"
    fix = "Retry in a few seconds; the server's log names the cause"


class IssuerRefused(TextrawlError):
    """The token of this server was not created for its identity provider."""

    title = "Not allowed"
    fix = (
        "TEXTRAWL_ACCESS_TOKEN of this server was not created for TEXTRAWL_OAUTH_ISSUER: create a "
        "token with `textrawl token create --scope admin --issuer URL`"
    )


class EmbeddingNotConfigured(TextrawlError):
    """A semantic search, although EMBEDDING_PROVIDER is none."""

    title = "Embedding service not configured"
    fix = "Set OPENAI_API_KEY or configure Ollama"


class EmbeddingUnavailable(TextrawlError):
    """The embedding provider is down or slow, or sent invalid data."""

    title = "Embedding service unavailable"
    fix = "Retry later, or use searchMode hybrid, which falls back to keywords"


class NothingEmbedded(EmbeddingUnavailable):
    """There are no vectors yet. A command or server that only reads does not make them."""

    title = "No vectors are stored yet"
    fix = "Search by words until a server without TEXTRAWL_READ_ONLY has made vectors"


class LlmFailed(TextrawlError):
    """The LLM made no usable answer. The title is a code that programs can compare."""


class LlmNotConfigured(LlmFailed):
    """A call needs an LLM, although LLM_PROVIDER is none."""

    title = "LLM_NOT_CONFIGURED"
    fix = (
        "Set TEXTRAWL_LLM_PROVIDER to openai or ollama, and if needed TEXTRAWL_LLM_MODEL, "
        "TEXTRAWL_LLM_BASE_URL and TEXTRAWL_LLM_API_KEY; do not retry before"
    )


class LlmUnreachable(LlmFailed):
    """The provider of the LLM is down or slow, or refuses requests."""

    title = "LLM_UNREACHABLE"


class LlmModelMissing(LlmFailed):
    """The provider of the LLM does not have the model."""

    title = "LLM_MODEL_MISSING"


class LlmBadOutput(LlmFailed):
    """The answer of the LLM is empty, cut, or not the JSON that was asked for."""

    title = "LLM_BAD_OUTPUT"


class EncryptionKeyUnusable(TextrawlError):
    """The key of an encrypted graph is missing, is another one, or can be read by others."""

    title = "The key of the graph cannot be used"


class DecryptionFailed(TextrawlError):
    """A row of an encrypted document was changed, damaged or put in the place of another one."""

    title = "A document cannot be decrypted"

    def __init__(self, document: str) -> None:
        super().__init__(
            f"the row of {document} was changed outside textrawl, or it is damaged: restore it "
            "from a backup, or delete it with `textrawl document forget GRAPH ID` and ingest the "
            "file again"
        )


class StartRefused(Exception):
    """The server or command must not start. The message says what to run or set first."""


class SchemaOutdated(StartRefused):
    """An older textrawl made the database, and only an embedded Postgres migrates at its start."""
