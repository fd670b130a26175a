"""Counts are those of tiktoken, without its download."""

import base64
import hashlib
import importlib
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
import tiktoken
from hypothesis import given, settings
from hypothesis import strategies as st

from textrawl.tokens import choose_counter

# Where tiktoken would download its vocabulary from: the name of its cached file is made of this.
_ADDRESS = "https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken"
_RANKS = 199_998
_ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="session")
def o200k(tmp_path_factory: pytest.TempPathFactory) -> tiktoken.Encoding:
    """tiktoken itself, which finds the vocabulary that toktok carries in its cache.

    tiktoken checks the file against the SHA-256 of its own: the two vocabularies are one.
    """
    folder: Path = tmp_path_factory.mktemp("vocabulary")
    carried = importlib.import_module("toktok")._encoding("o200k_base")  # it has no types
    with (folder / hashlib.sha1(_ADDRESS.encode()).hexdigest()).open("wb") as file:  # noqa: S324
        for rank in range(_RANKS):
            token = carried.decode_single_token_bytes(rank)
            file.write(base64.b64encode(token) + b" %d\n" % rank)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TIKTOKEN_CACHE_DIR", str(folder))
        return tiktoken.get_encoding("o200k_base")


@pytest.mark.parametrize("text", [
    "", " ", "a", "prefers TypeScript over JavaScript", '{"n":3,"e":[{"n":"Jeff","t":"person"}]}',
    "Zürich Straße naïve", "東京は日本の首都です", "مرحبا بالعالم", "Привет, мир", "👩‍👩‍👧‍👦 🇩🇪",
    "x" * 5000,
    "<|endoftext|>", "\n\n\t  \r\n", "0123456789" * 50, "don't can't I'll", "कुछ हिंदी में",
])  # fmt: skip
def test_a_count_is_that_of_tiktoken(o200k: tiktoken.Encoding, text: str) -> None:
    assert choose_counter("o200k_base").count(text) == len(o200k.encode_ordinary(text))


@settings(max_examples=500, deadline=None)
@given(text=st.text(max_size=300))
def test_any_count_is_that_of_tiktoken(o200k: tiktoken.Encoding, text: str) -> None:
    assert choose_counter("o200k_base").count(text) == len(o200k.encode_ordinary(text))


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
