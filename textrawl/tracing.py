"""Spans of SQL functions, embeddings and LLMs, as OpenTelemetry names them.

Nothing of OpenTelemetry is loaded here. Without a collector no span is made. A span has names and
numbers, but no text of facts, of queries or of errors. The local model is so quick that it has no
spans.
"""

from collections.abc import Callable, Generator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

SYSTEM = "db.system.name"
"""An attribute of the spans of SQL functions alone."""

Attributes = Mapping[str, str | int]


class Span(Protocol):
    """A span that has begun."""

    def set_attributes(self, attributes: Attributes, /) -> None:
        """Add to the attributes."""
        ...


OpenSpan = Callable[[str, Attributes], AbstractContextManager[Span]]

openers: list[OpenSpan] = []
"""The function that opens spans, or nothing: without a collector a call should not get slower."""


@contextmanager
def record_spans(opener: OpenSpan) -> Generator[None]:
    """Let `opener` open all spans of the block."""
    openers.append(opener)
    try:
        yield
    finally:
        openers.remove(opener)


@contextmanager
def trace_function(function: str) -> Generator[None]:
    """Record the call of a SQL function."""
    with _open(function, {SYSTEM: "postgresql", "db.stored_procedure.name": function}):
        yield


@contextmanager
def trace_embedding(model: str, texts: int) -> Generator[None]:
    """Record the embedding of a number of texts by a model such as `openai:bge-m3`."""
    name, attributes = _describe("embeddings", model)
    with _open(name, {**attributes, "textrawl.texts": texts}):
        yield


@contextmanager
def trace_completion(model: str) -> Generator[Callable[[int, int], None]]:
    """Record a request to an LLM. Yield the function that gets the numbers of tokens."""
    with _open(*_describe("chat", model)) as span:

        def count(tokens_in: int, tokens_out: int) -> None:
            if span is not None:
                span.set_attributes(
                    {
                        "gen_ai.usage.input_tokens": tokens_in,
                        "gen_ai.usage.output_tokens": tokens_out,
                    }
                )

        yield count


def _describe(operation: str, model: str) -> tuple[str, Attributes]:
    provider, _, name = model.partition(":")
    return f"{operation} {name}", {
        "gen_ai.operation.name": operation,
        "gen_ai.provider.name": provider,
        "gen_ai.request.model": name,
    }


@contextmanager
def _open(name: str, attributes: Attributes) -> Generator[Span | None]:
    """Record the block as a span, and yield it. Without a collector, yield None."""
    if not openers:
        yield None
        return
    with openers[0](name, attributes) as span:
        yield span
