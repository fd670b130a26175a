"""The sentence encoder of an installed package, with its real weights."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import anyio
import numpy as np
import pytest

from tests.support.encoder import PACKAGE, list_path
from textrawl.errors import EmbeddingUnavailable, StartRefused
from textrawl.models.choice import choose_embedder
from textrawl.models.embeddings import Embedder, TextRefused, find_model
from textrawl.models.encoder import PACKAGED, load_model
from textrawl.models.minilm import load_minilm
from textrawl.settings import Settings, read_settings

pytestmark = pytest.mark.anyio

NAME = "encoder:all-minilm-l6-v2-int8"
SIZE = 384

# A process without a network, which reports what it did to logging and who was asked for.
ALONE = """
import json, logging, socket, sys
import anyio
asked = []
socket.getaddrinfo = lambda *given, **_: asked.append(given[0])
from textrawl.models.choice import choose_embedder
from textrawl.settings import read_settings
embedder = choose_embedder(read_settings())
loaded = "onnxruntime" in sys.modules
vector = anyio.run(embedder.embed_query, "tea")
print(json.dumps([embedder.name, len(vector), asked, loaded, NAME in sys.modules,
                  len(logging.root.handlers), logging.root.level]))
""".replace("NAME", repr(PACKAGE))


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """The package of the encoder is on the path."""
    monkeypatch.setattr(sys, "path", list_path())


@pytest.fixture
def embedder(shown: None) -> Embedder:
    return choose(embedding_provider="encoder")


@pytest.fixture
def damaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package with other weights; the loaded model is forgotten before and after."""
    (tmp_path / PACKAGE).mkdir()
    (tmp_path / PACKAGE / "__init__.py").touch()
    (tmp_path / PACKAGE / "model.onnx").write_bytes(b"not the model")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    load_model.cache_clear()
    yield tmp_path
    load_model.cache_clear()


def choose(**given: object) -> Embedder:
    settings: Settings = read_settings(**{"embedding_provider": "auto", **given})
    embedder = choose_embedder(settings)
    assert embedder is not None
    return embedder


async def test_texts_that_mean_the_same_without_a_common_word_are_closer_than_others(
    embedder: Embedder,
) -> None:
    query = await embedder.embed_query("Which drink does she prefer?")

    tea, train = await embedder.embed_documents(
        ["Her favourite beverage is tea", "A train leaves from platform nine"]
    )

    assert tea @ query > train @ query + 0.3
    assert (query.dtype, query.shape, query.flags.writeable) == (np.float32, (SIZE,), False)


async def test_a_fact_is_one_sentence_with_its_name_if_it_goes_on_with_it_or_with_a_small_letter(
    embedder: Embedder,
) -> None:
    facts = await embedder.embed_documents(
        ["C++: has templates: many", "Ada: Hey, how are you?", "Ada: Ada's cat", "Ann: Annabel"]
    )

    texts = ["C++ has templates: many", "Ada: Hey, how are you?", "Ada's cat", "Ann: Annabel"]
    np.testing.assert_array_equal(facts, [await embedder.embed_query(text) for text in texts])
    assert find_model("all-minilm-l6-v2").prepare("Ada: has tea") == "Ada: has tea"


async def test_a_batch_gives_the_vectors_of_single_texts_and_long_texts_are_cut(
    embedder: Embedder,
) -> None:
    texts = [f"fact number {number} " * (1 + number % 5) for number in range(9)]
    texts += ["tea and cake " * 300, "tea and cake " * 600, "日本語 🤷🏽‍♂️ \udcff"]
    together = await embedder.embed_documents(texts)

    alone = [await embedder.embed_query(text) for text in texts]

    np.testing.assert_array_equal(np.stack(together), np.stack(alone))
    assert together[-3] @ together[-2] == pytest.approx(1, abs=1e-5)
    with pytest.raises(TextRefused) as caught:
        await embedder.embed_documents(["fine", " "])
    assert caught.value.positions == (1,)


async def test_the_files_own_graph_makes_the_same_vectors_if_its_weights_cannot_be_read(
    embedder: Embedder, caplog: pytest.LogCaptureFixture
) -> None:
    weights = PACKAGED[0].find_weights()
    assert weights is not None
    bias = b"encoder.layer.5.output.dense.bias"

    encode = load_minilm(weights.read_bytes().replace(bias, bias.upper()), 1)

    assert "computes with floats, which takes twice the time" in caplog.text
    texts = ["tea", "has tea at four o'clock", "日本語 🤷🏽‍♂️", "cake, " * 200, "print(x[0]) # 7e-3"]
    for text, vector in zip(texts, await embedder.embed_documents(texts), strict=True):
        floats = encode(text)
        assert 0.99 < floats @ vector / np.linalg.norm(floats) < 0.99999


async def test_a_write_waits_for_no_model_that_is_not_loaded(shown: None) -> None:
    fresh = choose()
    assert fresh.estimate([]) == float("inf")

    async with anyio.create_task_group() as group:
        group.start_soon(fresh.warm)
        group.start_soon(fresh.embed_query, "tea")

    assert 0 < fresh.estimate(["tea"]) < fresh.estimate(["tea" * 100])
    await fresh.aclose()


async def test_questions_find_facts_in_another_language(shown: None) -> None:
    embedder = choose(embedding_model="multilingual-e5-small-q4")
    question = await embedder.embed_query("wo wohnt Maya?")

    facts = ["Maya: lives in Lisbon", "Maya: マヤはお茶が好き", "Maya: is allergic to walnuts"]
    likeness = [float(fact @ question) for fact in await embedder.embed_documents(facts)]

    assert likeness[0] == max(likeness)
    # As the package's own code computes it, and as the full model does within a hundredth.
    protein = await embedder.embed_query("how much protein should a female eat")
    [grams] = await embedder.embed_documents(["Wie viel Eiweiß Frauen am Tag brauchen: 46 Gramm"])
    assert protein @ grams == pytest.approx(0.862, abs=0.005)


def test_auto_is_the_encoder_where_it_is_installed_and_loads_it_for_the_first_vector(
    tmp_path: Path,
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", ALONE], capture_output=True, text=True, timeout=120, check=False,
        cwd=tmp_path, env={"HOME": str(tmp_path), "PYTHONPATH": str(Path(__file__).parents[2])},
    )  # fmt: skip

    assert (done.stderr, done.returncode) == ("", 0)
    assert json.loads(done.stdout) == [NAME, SIZE, [], False, False, 0, 30]


async def test_weights_with_another_hash_are_never_loaded(damaged: Path) -> None:
    with pytest.raises(EmbeddingUnavailable, match="is not the file that textrawl knows") as caught:
        await choose(embedding_provider="encoder").embed_query("tea")

    assert str(damaged) in caught.value.fix


def test_without_the_package_auto_is_the_local_model_and_the_encoder_names_the_command() -> None:
    assert choose().name == "local:wordllama-l2-supercat-256"
    for given in ({"embedding_provider": "encoder"}, {"embedding_model": PACKAGED[0].name}):
        with pytest.raises(StartRefused, match=r"is not installed: run `.*\[encoder\]"):
            choose(**given)
    with pytest.raises(StartRefused, match="no model bge-m3: choose all-minilm-l6-v2-int8"):
        choose(embedding_provider="encoder", embedding_model="bge-m3")
