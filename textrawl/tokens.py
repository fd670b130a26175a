"""Counting tokens, without a network and without waiting.

splintr carries the vocabularies of OpenAI's encodings inside its wheel and counts exactly as
tiktoken does. Where it has no wheel, tiktoken loads its vocabulary beside the calls, from its cache
or the network; until it has, the bytes of a text are counted, which no byte-level encoding exceeds.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from threading import Thread

logger = logging.getLogger("textrawl")


@dataclass(frozen=True)
class Counter:
    """A way to count: `name` says which, `exact` whether its counts are those of the encoding."""

    name: str
    exact: bool
    count: Callable[[str], int]


def choose_counter(encoding: str) -> Counter:
    """The best counter at hand for `encoding`, such as o200k_base; never waits for the network.

    Its first count loads the vocabulary, which takes 40 ms and 18 MB.
    """
    if find_spec("splintr") is None:
        return Counter(f"{encoding} (tiktoken; bytes while it loads)", False, Loading(encoding))

    def count(text: str) -> int:
        return len(load_vocabulary(encoding)(text))

    return Counter(f"{encoding} (splintr)", exact=True, count=count)


@cache
def load_vocabulary(encoding: str) -> Callable[[str], list[int]]:
    """What cuts a text into tokens of `encoding`, special ones taken for the text that they are."""
    from splintr import Tokenizer  # noqa: PLC0415 - where it has no wheel there is tiktoken

    return Tokenizer.from_pretrained(encoding).encode_ordinary


class Loading:
    """Counts bytes until tiktoken has its vocabulary, and tokens from then on."""

    def __init__(self, encoding: str) -> None:
        self._count: Callable[[str], int] = _count_bytes
        self.thread = Thread(target=self._load, args=(encoding,), daemon=True)
        self.thread.start()

    def __call__(self, text: str) -> int:
        """Tokens of `text`, or more."""
        return self._count(text)

    def _load(self, encoding: str) -> None:
        import tiktoken  # noqa: PLC0415 - seldom needed

        try:
            loaded = tiktoken.get_encoding(encoding)
        except (OSError, ValueError) as error:
            logger.warning("Tokens are overestimated: tiktoken has no vocabulary (%s)", error)
            return
        self._count = lambda text: len(loaded.encode_ordinary(text))


def _count_bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
