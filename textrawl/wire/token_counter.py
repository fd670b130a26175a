"""The counting of tokens, which never waits for the network.

The wheel of splintr contains the vocabularies of OpenAI's encodings, and it counts exactly as
tiktoken does. Some platforms have no wheel of splintr. There, bytes are counted, because a
byte-level encoding never makes more tokens than bytes. A user who sets TIKTOKEN_CACHE_DIR lets
tiktoken load its vocabulary in a thread, from that folder, or from OpenAI's server if it is empty.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from threading import Thread
from typing import TYPE_CHECKING

from textrawl.environment import read_foreign

if TYPE_CHECKING:
    from splintr import AnyTokenizer

ENCODING = "o200k_base"  # OpenAI's models since GPT-4o use it; other models count similarly
_CACHE = "TIKTOKEN_CACHE_DIR"
_RARE_WORD = "qwxzvk"  # a word of more than one token in every encoding

logger = logging.getLogger("textrawl")


@dataclass(frozen=True)
class Counter:
    """A function that counts tokens. `exact` is true if it counts exactly as the encoding does."""

    name: str
    exact: bool
    count: Callable[[str], int]


def choose_counter() -> Counter:
    """Return the best available counter, which never waits for the network.

    The first count loads the vocabulary if `load_ahead` has not: this takes 0.2 s and 43 MB.
    """
    if find_spec("splintr") is None:
        if read_foreign(_CACHE) is None:
            return Counter(f"bytes, because {_CACHE} is not set", False, _count_bytes)
        return Counter(
            f"{ENCODING} (tiktoken; until it is loaded, each byte counts as a token)",
            False,
            Loading(),
        )

    def count(text: str) -> int:
        # Special tokens in a text are counted as ordinary text.
        return len(_load_vocabulary().encode_ordinary(text))

    return Counter(f"{ENCODING} (splintr)", exact=True, count=count)


def load_ahead() -> None:
    """Load the vocabulary, most of it in a thread."""
    if find_spec("splintr") is not None:
        # The first multi-token word makes splintr build its merge tables, which takes three times
        # as long as reading the vocabulary. `encode_batch` releases the GIL meanwhile.
        # This is not a daemon thread, because a daemon thread that wakes while the interpreter
        # shuts down crashes the interpreter.
        Thread(target=_load_vocabulary().encode_batch, args=([_RARE_WORD],)).start()


@cache
def _load_vocabulary() -> "AnyTokenizer":
    from splintr import Tokenizer  # noqa: PLC0415 - not installed on every machine

    return Tokenizer.from_pretrained(ENCODING)


class Loading:
    """Counts bytes until tiktoken has loaded its vocabulary. After that it counts tokens."""

    def __init__(self) -> None:
        self._count: Callable[[str], int] = _count_bytes
        self.thread = Thread(target=self._load, daemon=True)
        self.thread.start()

    def __call__(self, text: str) -> int:
        """Return the number of tokens of `text`, or of bytes while tiktoken loads."""
        return self._count(text)

    def _load(self) -> None:
        import tiktoken  # noqa: PLC0415 - rarely needed

        try:
            loaded = tiktoken.get_encoding(ENCODING)
        except (OSError, ValueError) as error:
            logger.warning("Tokens are overestimated: tiktoken has no vocabulary (%s)", error)
            return
        self._count = lambda text: len(loaded.encode_ordinary(text))


def _count_bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
