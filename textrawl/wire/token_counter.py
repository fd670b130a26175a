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
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from splintr import AnyTokenizer

ENCODING = "o200k_base"  # of OpenAI's models since GPT-4o; other models' counts are close to it
_RARE = "qwxzvk"  # a word that no encoding has as one token

logger = logging.getLogger("textrawl")


@dataclass(frozen=True)
class Counter:
    """A way to count: `name` says which, `exact` whether its counts are those of the encoding."""

    name: str
    exact: bool
    count: Callable[[str], int]


def choose_counter() -> Counter:
    """Return the best counter at hand; it never waits for the network.

    Its first counts load the vocabulary, which takes 0.2 s and 43 MB, but for what `load_ahead`
    did.
    """
    if find_spec("splintr") is None:
        return Counter(f"{ENCODING} (tiktoken; bytes while it loads)", False, Loading())

    def count(text: str) -> int:
        # Special tokens are taken for the text that they are.
        return len(_load_vocabulary().encode_ordinary(text))

    return Counter(f"{ENCODING} (splintr)", exact=True, count=count)


def load_ahead() -> None:
    """Load the vocabulary, most of it in a thread."""
    if find_spec("splintr") is not None:
        # What a word is cut with that is no token itself is made for the first of them, which takes
        # three times as long as reading the vocabulary. A batch holds no lock of the interpreter.
        # Not a daemon: one that wakes while the interpreter goes down would end it with a crash.
        Thread(target=_load_vocabulary().encode_batch, args=([_RARE],)).start()


@cache
def _load_vocabulary() -> "AnyTokenizer":
    from splintr import Tokenizer  # noqa: PLC0415 - where it has no wheel there is tiktoken

    return Tokenizer.from_pretrained(ENCODING)


class Loading:
    """Counts bytes until tiktoken has its vocabulary, and tokens from then on."""

    def __init__(self) -> None:
        self._count: Callable[[str], int] = _count_bytes
        self.thread = Thread(target=self._load, daemon=True)
        self.thread.start()

    def __call__(self, text: str) -> int:
        """Tokens of `text`, or more."""
        return self._count(text)

    def _load(self) -> None:
        import tiktoken  # noqa: PLC0415 - seldom needed

        try:
            loaded = tiktoken.get_encoding(ENCODING)
        except (OSError, ValueError) as error:
            logger.warning("Tokens are overestimated: tiktoken has no vocabulary (%s)", error)
            return
        self._count = lambda text: len(loaded.encode_ordinary(text))


def _count_bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
