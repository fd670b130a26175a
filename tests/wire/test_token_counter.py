"""Counts are those of tiktoken, without its download."""

import base64
import hashlib
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
import tiktoken
import tiktoken.registry
from hypothesis import given, settings
from hypothesis import strategies as st
from splintr import Tokenizer
from toktok import batch_count  # pyright: ignore[reportMissingTypeStubs]

from tests.support.examples import EXAMPLES
from textrawl.wire.token_counter import ENCODING, Loading, choose_counter, load_ahead

# Where tiktoken would download its vocabulary from: the name of its cached file is made of this.
_ADDRESS = "https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken"
_RANKS = 199_998
_ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def vocabulary(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache of tiktoken that holds the vocabulary which splintr carries."""
    folder: Path = tmp_path_factory.mktemp("vocabulary")
    carried = Tokenizer.from_pretrained("o200k_base")
    with (folder / hashlib.sha1(_ADDRESS.encode()).hexdigest()).open("wb") as file:  # noqa: S324
        for rank in range(_RANKS):
            token = carried.decode_token_bytes(rank)
            file.write(base64.b64encode(token) + b" %d\n" % rank)
    return folder


@pytest.fixture(scope="session")
def o200k(vocabulary: Path) -> tiktoken.Encoding:
    """tiktoken itself, which checks the file against its own SHA-256: the two are one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TIKTOKEN_CACHE_DIR", str(vocabulary))
        return tiktoken.get_encoding("o200k_base")


def test_a_count_is_that_of_tiktoken(o200k: tiktoken.Encoding) -> None:
    for text in (
        "",
        " ",
        "a",
        "prefers TypeScript over JavaScript",
        '{"n":3,"e":[{"n":"Jeff","t":"person"}]}',
        "Zürich Straße naïve",
        "東京は日本の首都です",
        "مرحبا بالعالم",
        "Привет, мир",
        "👩‍👩‍👧‍👦 🇩🇪",
        "x" * 5000,
        "<|endoftext|>",
        "\n\n\t  \r\n",
        "0123456789" * 50,
        "don't can't I'll",
        "कुछ हिंदी में",
    ):
        assert choose_counter().count(text) == len(o200k.encode_ordinary(text))


# Whether a character is a letter depends on the Unicode that a library was built with: of those
# that none has assigned yet, or the newest alone, a count may be a token off.
ASSIGNED = st.characters(exclude_categories=["Cs", "Cn"])


@settings(max_examples=5 * EXAMPLES)
@given(text=st.text(ASSIGNED, max_size=300))
def test_any_count_is_that_of_tiktoken(o200k: tiktoken.Encoding, text: str) -> None:
    assert choose_counter().count(text) == len(o200k.encode_ordinary(text))


def test_a_count_is_exact_while_the_vocabulary_is_loaded_beside(o200k: tiktoken.Encoding) -> None:
    text = "Zürich qwxzvk is fine"
    load_ahead()

    assert choose_counter().count(text) == len(o200k.encode_ordinary(text))


def test_without_splintr_nothing_is_loaded_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "splintr", None)

    load_ahead()


READY = """
import threading, time
from textrawl.wire.token_counter import choose_counter, load_ahead

load_ahead()
for thread in threading.enumerate():
    if thread is not threading.current_thread():
        thread.join()
began = time.thread_time()
choose_counter().count("zzxq jjkw 0191abc-3f")
print(time.thread_time() - began)
"""


def test_what_is_loaded_ahead_is_all_that_a_count_needs() -> None:
    output = subprocess.run(
        [sys.executable, "-c", READY], capture_output=True, text=True, check=True
    ).stdout

    assert float(output) < 0.02  # loading takes 0.2 s, and a count microseconds


@settings(max_examples=2 * EXAMPLES)
@given(text=st.text(st.sampled_from("aZ9 \n\t'.,<|>éß日🧠\u0301\u200d"), max_size=300))
def test_a_count_is_that_of_another_make(text: str) -> None:
    assert [choose_counter().count(text)] == batch_count([text], ENCODING)


def test_the_page_on_tokens_tells_what_the_benchmark_prints() -> None:
    page = (_ROOT / "docs/tokens.md").read_text("utf-8")
    command = [sys.executable, str(_ROOT / "benchmarks/tokens.py")]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout

    table = page.split("<!-- table -->\n")[1].split("<!-- end of table -->")[0]

    assert table.strip() == printed.strip()


def test_twenty_facts_cost_little_more_than_their_words() -> None:
    benchmark = runpy.run_path(str(_ROOT / "benchmarks/tokens.py"))
    rows = benchmark["build_rows"](20)
    alone = benchmark["count_facts"](rows)

    assert benchmark["count_answer"](rows, "lines", structured=False) <= 1.3 * alone
    assert benchmark["count_answer"](rows, "compact", structured=False) <= 2.05 * alone


def count_without_splintr(patch: pytest.MonkeyPatch, cache: Path, text: str) -> tuple[int, int]:
    """What a counter says before and after tiktoken was asked for its vocabulary."""
    patch.setitem(sys.modules, "splintr", None)
    patch.setenv("TIKTOKEN_CACHE_DIR", str(cache))
    patch.setitem(tiktoken.registry.ENCODINGS, "o200k_base", None)
    patch.delitem(tiktoken.registry.ENCODINGS, "o200k_base")
    for name in ("HTTP_PROXY", "HTTPS_PROXY"):
        patch.setenv(name, "http://127.0.0.1:9")
    counter = choose_counter()
    assert not counter.exact
    assert isinstance(counter.count, Loading)
    before = counter.count(text)
    counter.count.thread.join()
    return before, counter.count(text)


def test_without_splintr_tiktoken_counts_once_it_has_its_vocabulary(
    monkeypatch: pytest.MonkeyPatch, vocabulary: Path, o200k: tiktoken.Encoding
) -> None:
    tokens = len(o200k.encode_ordinary("Zürich is fine"))

    before, after = count_without_splintr(monkeypatch, vocabulary, "Zürich is fine")

    assert (before, after) == (len("Zürich is fine".encode()), tokens)


def test_without_any_vocabulary_a_count_is_never_too_small(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    _, after = count_without_splintr(monkeypatch, tmp_path, "Zürich is fine")

    assert after == len("Zürich is fine".encode())
    assert "overestimated" in caplog.text
