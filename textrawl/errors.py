"""The errors that callers and operators see.

Those that a program can catch are in `textrawl_client.errors`, and have the same names here. Of a
server alone are:

    TextrawlError
    ├── ExtractionNotEnabled   ENABLE_MEMORY_EXTRACTION is off
    ├── IssuerUnavailable      the identity provider's keys or metadata cannot be fetched
    ├── IssuerRefused          this server's token was not created for its identity provider
    ├── EmbeddingNotConfigured semantic search without a provider
    ├── EmbeddingUnavailable   the provider is down or slow, or sent invalid data
    │   └── NothingEmbedded    there are no vectors, and this process does not make any
    └── LlmFailed              the LLM made no usable answer
        ├── LlmNotConfigured   a call needs an LLM, and LLM_PROVIDER is none
        ├── LlmUnreachable     the provider is down or slow, or refuses requests
        ├── LlmModelMissing    the provider does not have the model
        └── LlmBadOutput       the answer is empty, cut, or not the JSON that was asked for
    StartRefused               the server must not start; the message says what to do (exit code 1)
    └── SchemaOutdated         only an embedded Postgres migrates at its start

Errors are raised, never returned. Each says what to do next.
"""

from textrawl_client.errors import *  # noqa: F403 - the same names
from textrawl_client.errors import TextrawlError


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


class StartRefused(Exception):
    """The server or command must not start. The message says what to run or set first."""


class SchemaOutdated(StartRefused):
    """An older textrawl made the database, and only an embedded Postgres migrates at its start."""
