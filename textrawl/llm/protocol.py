"""A prompt, the request that is sent for it, and the protocol of all providers of LLMs."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from textrawl.llm.faults import LlmEndpoint

Form = Literal["schema", "object", "text"]
"""How a provider is asked for JSON: by a JSON schema, as any JSON object, or in words only."""


@dataclass(frozen=True)
class Prompt:
    """The `system` text says what to do. The `user` text holds the material, which is untrusted."""

    system: str
    user: str
    max_tokens: int = 2_000


@dataclass(frozen=True)
class Request:
    """A prompt, and the form of the answer. The form `schema` needs the JSON schema."""

    prompt: Prompt
    form: Form = "text"
    schema: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Completion:
    """The text of an answer. `cut` is true if the answer ended at the limit of tokens."""

    text: str
    cut: bool
    tokens_in: int
    tokens_out: int


class Source(Protocol):
    """The client of one provider, which implements only its protocol."""

    endpoint: LlmEndpoint

    async def ask(self, request: Request) -> Completion:
        """Send a request. Raises LlmFailed."""
        ...

    async def aclose(self) -> None:
        """Close connections."""
        ...
