"""Sentence encoders in this process: MiniLM in a folder, as fastembed runs it."""

import json
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
import numpy as np
import pytest
from anyio import create_task_group
from anyio.lowlevel import checkpoint

from tests.support.minilm import FILES, find_file, make_folder
from tests.support.providers import Clock
from textrawl.errors import EmbeddingUnavailable, StartRefused
from textrawl.models.choice import choose_embedder
from textrawl.models.embeddings import TextRefused, Vector, find_model
from textrawl.models.fastembed import FastEmbedder, build_embedder
from textrawl.settings import Settings, read_settings

pytestmark = pytest.mark.anyio

ALONE = """
import asyncio, json, logging, sys

attempts = []
sys.addaudithook(
    lambda event, _: attempts.append(event)
    if event in ("socket.connect", "socket.getaddrinfo", "socket.sendto") else None
)

from textrawl.models.choice import choose_embedder
from textrawl.settings import read_settings


async def embed():
    settings = read_settings(embedding_provider="fastembed", embedding_model=sys.argv[1])
    embedder = choose_embedder(settings)
    await embedder.warm()  # a call would give up after some seconds, with the thread still loading
    return [float(number) for number in await embedder.embed_query("who likes tea?")]


vector = asyncio.run(embed())
root = logging.getLogger()
json.dump([len(vector), attempts, len(root.handlers), root.level], sys.stdout)
"""

# The process ends while the thread that loads the model is in ONNX Runtime.
HASTY = """
import sys, threading
from pathlib import Path
import anyio, anyio.to_thread
from textrawl.models.embeddings import find_model
from textrawl.models.fastembed import FastEmbedder, open_folder, read_folder

inside = threading.Event()


def open_encoder():
    encoder = open_folder(read_folder(Path(sys.argv[1])))
    inside.set()
    for _ in range(60):
        list(encoder.passage_embed(["Ada drinks tea"] * 4, batch_size=4))
    return encoder


async def leave():
    embedder = FastEmbedder("test", find_model("all-MiniLM-L6-v2"), open_encoder)
    async with anyio.create_task_group() as group:
        group.start_soon(embedder.warm)
        await anyio.to_thread.run_sync(inside.wait)
        group.cancel_scope.cancel()


anyio.run(leave)
"""

# The model as its card describes it: the mean of its tokens, by ONNX Runtime alone.
CARD = """
import json, sys
import numpy as np, onnxruntime, tokenizers

folder, texts = sys.argv[1], json.loads(sys.argv[2])
session = onnxruntime.InferenceSession(f"{folder}/model.onnx")
tokenizer = tokenizers.Tokenizer.from_file(f"{folder}/tokenizer.json")
for text in texts:
    ids = np.array([tokenizer.encode(text).ids])
    inputs = {"input_ids": ids, "attention_mask": ids * 0 + 1, "token_type_ids": ids * 0}
    [tokens] = session.run(None, inputs)
    vector = tokens[0, 0] if sys.argv[3] == "cls" else tokens[0].mean(0)
    print(json.dumps((vector / np.linalg.norm(vector)).tolist()))
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_folder(tmp_path_factory.mktemp("models"))


@pytest.fixture(scope="module")
def shared(folder: Path) -> FastEmbedder:
    """One that every test may use, and that is loaded, however long that takes."""
    embedder = build_embedder(choose(folder))
    anyio.run(embedder.warm)
    return embedder


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A folder with the model that a test may change."""
    made = make_folder(tmp_path)
    for name in FILES:
        (made / name).unlink()
        shutil.copyfile(find_file(name), made / name)
    return made


def choose(model: object = None, **more: Any) -> Settings:
    named = None if model is None else str(model)
    return read_settings(**{"embedding_provider": "fastembed", "embedding_model": named, **more})


def ask_card(folder: Path, texts: list[str], pooling: str = "mean") -> list[list[float]]:
    ran = subprocess.run(
        [sys.executable, "-c", CARD, str(folder), json.dumps(texts), pooling],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    return [json.loads(line) for line in ran.stdout.splitlines()]


async def test_texts_that_mean_the_same_without_a_common_word_are_closer_than_others(
    shared: FastEmbedder,
) -> None:
    await shared.warm()
    query = await shared.embed_query("Which drink does she prefer?")

    tea, train = await shared.embed_documents(
        ["Her favourite beverage is tea", "A train leaves from platform nine"]
    )

    assert tea @ query > train @ query + 0.3
    assert (query.dtype, query.shape) == (np.float32, (384,))


def test_a_folder_needs_no_network_and_leaves_logging_and_output_alone(
    folder: Path, tmp_path: Path
) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", ALONE, str(folder)],
        capture_output=True, text=True, timeout=120, check=False, cwd=Path(__file__).parents[2],
        env={"HOME": str(tmp_path), "PYTHONPATH": str(Path(__file__).parents[2])},
    )  # fmt: skip

    assert (ran.stderr, ran.returncode) == ("", 0)
    size, attempts, *logging = json.loads(ran.stdout)
    assert (size, attempts, logging) == (384, [], [0, 30])


def test_a_process_that_ends_while_a_model_is_loaded_ends_well(folder: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", HASTY, str(folder)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert (ran.stdout, ran.stderr, ran.returncode) == ("", "", 0)


async def test_vectors_are_those_of_the_models_card(shared: FastEmbedder, folder: Path) -> None:
    texts = ["who likes tea?", "日本語 🤷🏽‍♂️", "a", "two words " * 40]

    vectors = await shared.embed_documents(texts)

    np.testing.assert_allclose(np.stack(vectors), ask_card(folder, texts), atol=1e-5)


async def test_a_batch_gives_the_same_vectors_as_single_texts(shared: FastEmbedder) -> None:
    texts = [f"fact number {number} " * (1 + number % 5) for number in range(20)]

    together = await shared.embed_documents(texts)

    alone = [await shared.embed_query(text) for text in texts]
    np.testing.assert_array_equal(np.stack(together), np.stack(alone))


async def test_a_text_longer_than_the_model_reads_is_cut(shared: FastEmbedder) -> None:
    [long, longer] = await shared.embed_documents(["tea and cake " * 300, "tea and cake " * 600])

    assert long @ longer == pytest.approx(1, abs=1e-5)


async def test_a_blank_text_is_refused_by_position(shared: FastEmbedder) -> None:
    with pytest.raises(TextRefused) as caught:
        await shared.embed_documents(["fine", " "])

    assert caught.value.positions == (1,)
    assert await shared.embed_documents([]) == []


async def test_calls_at_the_same_time_agree(folder: Path) -> None:
    embedder = build_embedder(choose(folder))
    vectors: list[Vector] = []

    async def ask(text: str) -> None:
        vectors.append(await embedder.embed_query(text))
        vectors.extend(await embedder.embed_documents([text]))

    await embedder.warm()
    async with create_task_group() as group:
        for _ in range(3):
            group.start_soon(ask, "tea")

    assert len({vector.tobytes() for vector in vectors}) == 1


async def test_a_folder_that_is_called_like_a_known_model_has_its_scale(folder: Path) -> None:
    embedder = build_embedder(choose(folder))

    assert embedder.name == f"fastembed:{folder}"
    assert embedder.model.scale == find_model("all-MiniLM-L6-v2").scale


async def test_the_files_of_sentence_transformers_choose_pooling_and_prompts(copy: Path) -> None:
    (copy / "1_Pooling").mkdir()
    (copy / "1_Pooling/config.json").write_text('{"pooling_mode_cls_token": true}', "utf-8")
    prompts = {"prompts": {"query": "query: ", "passage": "passage: "}}
    (copy / "config_sentence_transformers.json").write_text(json.dumps(prompts), "utf-8")
    embedder = build_embedder(choose(copy))
    await embedder.warm()

    vectors = [await embedder.embed_query("tea"), *await embedder.embed_documents(["tea"])]

    expected = ask_card(copy, ["query: tea", "passage: tea"], "cls")
    np.testing.assert_allclose(np.stack(vectors), expected, atol=1e-5)


def break_tokenizer(folder: Path) -> None:
    (folder / "tokenizer.json").unlink()


def break_model(folder: Path) -> None:
    (folder / "model.onnx").unlink()


def add_models(folder: Path) -> None:
    (folder / "model.onnx").rename(folder / "a.onnx")
    (folder / "b.onnx").touch()


def break_pooling(folder: Path) -> None:
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling/config.json").write_text("[", "utf-8")


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (break_tokenizer, "has no tokenizer.json"),
        (break_model, "has 0 ONNX files"),
        (add_models, "has 2 ONNX files"),
        (break_pooling, "is not a valid file of sentence-transformers"),
        (shutil.rmtree, "has no tokenizer.json and no tokenizer_config.json"),
    ],
)
def test_a_folder_without_a_usable_model_is_refused_naming_the_variable(
    spoil: Callable[[Path], None], said: str, copy: Path
) -> None:
    spoil(copy)

    with pytest.raises(StartRefused, match="TEXTRAWL_EMBEDDING_MODEL") as caught:
        choose_embedder(choose(copy))

    assert said in str(caught.value)


@pytest.mark.parametrize("file", ["model.onnx", "tokenizer.json", "tokenizer_config.json"])
async def test_a_damaged_file_is_reported_and_tried_again_later(
    file: str, copy: Path, caplog: pytest.LogCaptureFixture
) -> None:
    clock = Clock()
    content = (copy / file).read_bytes()
    (copy / file).write_bytes(b"{" + content[:100])
    embedder = build_embedder(choose(copy), clock=clock)

    with pytest.raises(EmbeddingUnavailable, match="cannot be loaded"):
        await embedder.warm()
    (copy / file).write_bytes(content)
    with pytest.raises(EmbeddingUnavailable, match="cannot be loaded"):
        await embedder.embed_query("tea")
    assert len(caplog.records) == 1
    clock.now += 31

    await embedder.warm()
    assert len(await embedder.embed_query("tea")) == 384


async def test_an_unknown_name_is_answered_with_names_like_it() -> None:
    with pytest.raises(EmbeddingUnavailable, match="sentence-transformers/all-MiniLM-L6-v2"):
        await build_embedder(choose("all-MiniLM-L6")).warm()


async def test_a_model_that_cannot_be_downloaded_is_reported(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """HF_HUB_OFFLINE is set in tests."""
    monkeypatch.setenv("FASTEMBED_CACHE_PATH", str(tmp_path / "models"))

    with pytest.raises(
        EmbeddingUnavailable,
        match=r"could not be downloaded \(HF_HUB_OFFLINE is set\): check the network",
    ):
        await build_embedder(choose()).warm()


@pytest.fixture
def slow(folder: Path) -> Iterator[tuple[FastEmbedder, Clock, threading.Event]]:
    """A model that is loaded when the test says so, as after a long download."""
    arrived, clock = threading.Event(), Clock()
    ready = build_embedder(choose(folder))

    def open_late() -> Any:
        arrived.wait(60)
        return ready._open()  # pyright: ignore[reportPrivateUsage]

    yield FastEmbedder(ready.name, ready.model, open_late, clock=clock), clock, arrived
    arrived.set()


async def test_a_query_waits_a_few_seconds_for_a_model_that_is_being_downloaded(
    slow: tuple[FastEmbedder, Clock, threading.Event],
) -> None:
    embedder, clock, arrived = slow
    async with create_task_group() as group:
        group.start_soon(embedder.warm)
        while embedder._loading is None:  # pyright: ignore[reportPrivateUsage]
            await checkpoint()
        clock.now += 6

        with pytest.raises(EmbeddingUnavailable, match="is still being loaded"):
            await embedder.embed_query("tea")
        with pytest.raises(EmbeddingUnavailable, match="is still being loaded"):
            await embedder.embed_documents(["tea"])
        arrived.set()

    assert len(await embedder.embed_query("tea")) == 384


async def test_the_estimate_grows_with_the_texts_and_is_infinite_before_loading(
    folder: Path,
) -> None:
    embedder = build_embedder(choose(folder))
    assert embedder.estimate(["tea"]) == float("inf")

    await embedder.warm()

    assert 0 < embedder.estimate(["tea"]) < embedder.estimate(["tea"] * 50) < float("inf")


async def test_a_closed_embedder_loads_again(folder: Path) -> None:
    embedder = build_embedder(choose(folder))
    await embedder.warm()
    before = await embedder.embed_documents(["tea"])

    await embedder.aclose()
    await embedder.warm()

    np.testing.assert_array_equal(await embedder.embed_documents(["tea"]), before)


@pytest.mark.parametrize(
    ("model", "name"),
    [
        (None, "local:wordllama-l2-supercat-256"),
        ("BAAI/bge-small-en-v1.5", "fastembed:BAAI/bge-small-en-v1.5"),
        ("wordllama", "local:wordllama-l2-supercat-256"),
    ],
)
def test_auto_is_fastembed_only_if_its_model_is_named_or_on_this_machine(
    model: str | None, name: str
) -> None:
    embedder = choose_embedder(choose(model, embedding_provider="auto"))

    assert embedder is not None
    assert embedder.name == name


def test_without_the_extra_auto_is_local_and_fastembed_says_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "fastembed", None)

    embedder = choose_embedder(choose(embedding_provider="auto"))

    assert embedder is not None
    assert embedder.name == "local:wordllama-l2-supercat-256"
    with pytest.raises(StartRefused, match=r"pip install .*\[encoders\]'"):
        choose_embedder(choose())


def test_a_server_that_does_not_use_encoders_loads_none_of_their_libraries() -> None:
    lines = (
        "import sys; from textrawl.models.choice import choose_embedder;"
        "from textrawl.settings import read_settings; choose_embedder(read_settings());"
        "print({'fastembed', 'onnxruntime', 'huggingface_hub', 'loguru'} & set(sys.modules))"
    )

    ran = subprocess.run(
        [sys.executable, "-c", lines], capture_output=True, text=True, timeout=60, check=True
    )

    assert ran.stdout == "set()\n"
