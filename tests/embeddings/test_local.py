import json
import logging
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from anyio import create_task_group

from textrawl.errors import EmbeddingUnavailable
from textrawl.models.embeddings import TextRefused, Vector
from textrawl.models.local import LocalEmbedder, StaticModel, load_model, map_rows

pytestmark = pytest.mark.anyio

ALONE = """
import asyncio, json, logging, sys

attempts = []
sys.addaudithook(
    lambda event, _: attempts.append(event)
    if event in ("socket.connect", "socket.getaddrinfo", "socket.sendto") else None
)

from textrawl.models.local import LocalEmbedder


async def embed():
    embedder = LocalEmbedder()
    await embedder.embed_documents([f"fact number {number}" for number in range(100)])
    return [float(number) for number in await embedder.embed_query("who likes tea?")]


vector = asyncio.run(embed())
root = logging.getLogger()
logging.getLogger("other").info("must not be shown")
json.dump([len(vector), attempts, len(root.handlers), root.level], sys.stdout)
"""

PACKAGE = """
import json, sys
from pathlib import Path
import wordllama

folder = Path(wordllama.__file__).parent
model = wordllama.WordLlama.load(cache_dir=folder, disable_download=True)
rows = [
    model.embedding[model.tokenizer.encode(text, add_special_tokens=False).ids].mean(0).tolist()
    for text in json.loads(sys.argv[1])
]
json.dump(rows, sys.stdout)
"""


@pytest.fixture(params=[True, False], ids=["splintr", "without"])
def splintr(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A platform that has a wheel of splintr, and one that has none."""
    if not request.param:
        monkeypatch.setitem(sys.modules, "splintr", None)


def load_afresh() -> StaticModel:
    """The model as this platform loads it."""
    return load_model.__wrapped__()


async def test_texts_that_mean_the_same_are_closer_than_others() -> None:
    query = await LocalEmbedder().embed_query("Which drink does she prefer?")

    tea, chess = await LocalEmbedder().embed_documents(
        ["Her favourite beverage is tea", "The train leaves from platform nine"]
    )

    assert tea @ query > chess @ query + 0.1
    assert (query.dtype, query.shape) == (np.float32, (256,))


def test_it_needs_no_network_and_leaves_logging_and_output_alone(tmp_path: Path) -> None:
    """In a process of its own: here the model may be loaded already."""
    ran = subprocess.run(
        [sys.executable, "-c", ALONE],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        cwd=Path(__file__).parents[2],
        env={"HOME": str(tmp_path), "PYTHONPATH": str(Path(__file__).parents[2])},
    )

    assert (ran.stderr, ran.returncode) == ("", 0)
    assert json.loads(ran.stdout) == [256, [], 0, logging.WARNING]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("text", ["🤷🏽‍♂️🔥", "日本語", "ᚠᛇᚻ", "\u200b", "a", "\x00", "\ud83d"])
async def test_every_text_that_is_not_blank_has_a_vector(text: str) -> None:
    [vector] = await LocalEmbedder().embed_documents([text])

    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)


async def test_a_blank_text_is_refused_by_position() -> None:
    with pytest.raises(TextRefused) as caught:
        await LocalEmbedder().embed_documents(["fine", " "])

    assert caught.value.positions == (1,)


async def test_no_texts_give_no_vectors() -> None:
    assert await LocalEmbedder().embed_documents([]) == []


async def test_a_large_batch_gives_the_same_vectors_as_single_texts() -> None:
    embedder = LocalEmbedder()
    texts = [f"fact number {number} " * 20 for number in range(100)]

    together = await embedder.embed_documents(texts)

    alone = [await embedder.embed_query(text) for text in texts]
    np.testing.assert_array_equal(np.stack(together), np.stack(alone))


async def test_first_calls_at_the_same_time_agree() -> None:
    embedder = LocalEmbedder()
    load_model.cache_clear()
    vectors: list[Vector] = []

    async def ask() -> None:
        vectors.append(await embedder.embed_query("tea"))

    async with create_task_group() as group:
        for _ in range(5):
            group.start_soon(ask)

    assert load_model.cache_info().misses == 1
    assert len({vector.tobytes() for vector in vectors}) == 1


async def test_a_root_logger_without_handlers_stays_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logging.getLogger(), "handlers", [])
    load_model.cache_clear()

    await LocalEmbedder().warm()

    assert logging.getLogger().handlers == []


async def test_a_closed_embedder_loads_again() -> None:
    embedder = LocalEmbedder()
    before = await embedder.embed_query("tea")

    await embedder.aclose()

    np.testing.assert_array_equal(await embedder.embed_query("tea"), before)


async def test_missing_files_are_told_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    load_model.cache_clear()
    monkeypatch.setitem(sys.modules, "wordllama", None)

    with pytest.raises(EmbeddingUnavailable, match="install the package wordllama again"):
        await LocalEmbedder().warm()


@pytest.mark.usefixtures("splintr")
def test_vectors_are_those_of_the_package_bit_for_bit() -> None:
    """In a process of its own: the package sets up logging when it is imported."""
    page = (Path(__file__).parents[2] / "docs/search.md").read_text("utf-8")
    texts = [
        "who likes tea?",
        "日本語 🤷🏽‍♂️",
        "a",
        " leading, trailing and  double spaces ",
        "▁\n\t\u00a0\u200b\ufeff\u0301é ß ﬀ ǅ 2² Ⅷ ٣",
        "<0x0A> <b>bold</b> [INST] def f(x): return x**2",
        *filter(None, page.split("\n")),
        " ".join(f"fact number {n}" for n in range(300)),
    ]

    ran = subprocess.run(
        [sys.executable, "-c", PACKAGE, json.dumps(texts)],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )

    model = load_afresh()
    assert json.loads(ran.stdout) == [model.average(text).tolist() for text in texts]


@pytest.mark.usefixtures("splintr")
def test_a_control_token_that_somebody_wrote_is_a_word_like_any_other() -> None:
    cut = load_afresh().encode("a <s>struck</s> word")

    assert not {0, 1, 2} & set(cut)  # <unk>, <s> and </s> of the vocabulary


def test_weights_stay_in_their_file_at_half_precision() -> None:
    rows = load_model().rows

    assert isinstance(rows.base, np.memmap)
    assert (rows.dtype, rows.shape, rows.flags.writeable) == (np.float16, (32_000, 256), False)


def test_a_file_of_weights_that_is_cut_short_is_refused(tmp_path: Path) -> None:
    header = b'{"w":{"dtype":"F16","shape":[2,2],"data_offsets":[0,8]}}'
    cut = tmp_path / "w.safetensors"
    cut.write_bytes(len(header).to_bytes(8, "little") + header + b"\x00" * 7)

    with pytest.raises(OSError, match="is truncated"):
        map_rows(cut)
