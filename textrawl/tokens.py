"""Counting tokens, without a network and without waiting.

toktok carries the vocabularies of OpenAI's encodings inside its wheel and counts exactly as
tiktoken does. Where it has no wheel, tiktoken counts if its vocabulary is in its cache already;
otherwise the UTF-8 bytes are counted, which no byte-level encoding can exceed.
"""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Counter:
    """A way to count: `name` says which, `exact` whether its counts are those of the encoding."""

    name: str
    exact: bool
    count: Callable[[str], int]


def choose_counter(encoding: str) -> Counter:
    """The best counter at hand for `encoding`, such as o200k_base; never asks the network."""
    try:
        import toktok  # noqa: PLC0415 # pyright: ignore[reportMissingTypeStubs]
    except ImportError:  # pragma: no cover - toktok has no wheel for this platform
        return Counter("UTF-8 bytes", exact=False, count=lambda text: len(text.encode()))

    def count(text: str) -> int:
        return toktok.batch_count([text], encoding, threads=1)[0]

    count("")  # loads the vocabulary now rather than in the first answer
    return Counter(f"{encoding} (toktok)", exact=True, count=count)
