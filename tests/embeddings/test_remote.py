import numpy as np
import pytest
from anyio import create_task_group, to_thread
from anyio.lowlevel import checkpoint

from tests.embeddings.conftest import Connect
from tests.support.providers import EmbeddingServer, Fault, embed_words
from textrawl.models.embeddings import Embedder, ProviderFailed, Vector
from textrawl.models.remote import QueryCache, split_batches

pytestmark = pytest.mark.anyio


async def test_vectors_come_back_in_order_as_unit_vectors(
    server: EmbeddingServer, connect: Connect
) -> None:
    texts = ["likes tea", "plays chess", "likes strong tea"]

    vectors = await connect().embed_documents(texts)

    assert [vector.dtype for vector in vectors] == [np.float32] * 3
    for text, vector in zip(texts, vectors, strict=True):
        raw = np.array(embed_words(text, 64))
        np.testing.assert_allclose(vector, raw / np.linalg.norm(raw), atol=1e-6)
    assert vectors[0] @ vectors[2] > 0.5 > vectors[0] @ vectors[1]


@pytest.mark.parametrize("provider", ["openai"], indirect=True)
@pytest.mark.parametrize("first_index", [0, 2])
async def test_vectors_are_put_in_the_order_of_their_indexes(
    first_index: int, server: EmbeddingServer, connect: Connect
) -> None:
    texts = ["likes tea", "plays chess", "walks dogs"]
    plain = await connect().embed_documents(texts)
    server.index_of = lambda position: abs(first_index - position)

    vectors = await connect().embed_documents(texts)

    expected = plain if first_index == 0 else plain[::-1]
    np.testing.assert_array_equal(np.stack(vectors), np.stack(expected))


@pytest.mark.parametrize("provider", ["openai"], indirect=True)
async def test_a_server_without_indexes_is_taken_to_answer_in_order(
    server: EmbeddingServer, connect: Connect
) -> None:
    texts = ["likes tea", "plays chess"]
    plain = await connect().embed_documents(texts)
    server.index_of = lambda _: 0

    vectors = await connect().embed_documents(texts)

    np.testing.assert_array_equal(np.stack(vectors), np.stack(plain))


@pytest.mark.parametrize("provider", ["openai"], indirect=True)
async def test_indexes_that_do_not_fit_the_texts_are_refused(
    server: EmbeddingServer, connect: Connect
) -> None:
    server.index_of = lambda position: position + 1

    with pytest.raises(ProviderFailed, match="without valid embeddings"):
        await connect().embed_documents(["likes tea", "plays chess"])


async def test_a_batch_is_one_request(server: EmbeddingServer, connect: Connect) -> None:
    texts = [f"fact number {number}" for number in range(50)]

    await connect().embed_documents(texts)

    assert [request.texts for request in server.requests] == [tuple(texts)]


async def test_no_texts_need_no_request(server: EmbeddingServer, connect: Connect) -> None:
    assert await connect().embed_documents([]) == []
    assert server.requests == []


async def test_a_batch_beyond_the_limit_of_one_request_is_split_and_joined_in_order(
    server: EmbeddingServer, connect: Connect
) -> None:
    texts = [f"fact {number}" for number in range(2_100)]

    vectors = await connect(limit=30).embed_documents(texts)

    assert sorted(len(request.texts) for request in server.requests) == [52, 2_048]
    raw = np.array(embed_words(texts[-1], 64))
    np.testing.assert_allclose(vectors[-1], raw / np.linalg.norm(raw), atol=1e-6)
    assert len(vectors) == 2_100


def test_batches_hold_at_most_300_000_bytes_unless_one_text_is_longer() -> None:
    sizes = [
        [len(text) for text in batch]
        for batch in split_batches(["x" * 200_000, "y" * 100_000, "z" * 400_000, "ö"])
    ]

    assert sizes == [[200_000, 100_000], [400_000], [1]]


async def test_a_lone_surrogate_does_not_stop_a_batch(
    server: EmbeddingServer, connect: Connect
) -> None:
    await connect().embed_documents(["half an emoji \ud83d", "fine"])

    assert server.texts == ["half an emoji ?", "fine"]


async def test_a_model_with_prefixes_gets_them(server: EmbeddingServer, connect: Connect) -> None:
    server.dimensions = 768
    embedder = connect(embedding_model="nomic-embed-text")

    await embedder.embed_documents(["likes tea"])
    await embedder.embed_query("tea")

    assert server.texts == ["search_document: likes tea", "search_query: tea"]


async def test_the_key_and_the_model_reach_the_provider(
    provider: str, server: EmbeddingServer, connect: Connect
) -> None:
    url = {"openai_base_url": server.openai_url, "ollama_base_url": server.url}
    await connect(**url, embedding_model="some/model:tag").embed_query("tea")

    [request] = server.requests
    assert request.model == "some/model:tag"
    paths = {"openai": "/v1/embeddings", "ollama": "/api/embed"}
    assert request.path == paths[provider]
    keys = {"openai": "Bearer canary-key", "ollama": None}
    assert request.authorization == keys[provider]


@pytest.mark.parametrize("provider", ["openai"], indirect=True)
async def test_a_server_without_keys_needs_none(server: EmbeddingServer, connect: Connect) -> None:
    await connect(openai_api_key=None, openai_base_url=server.openai_url).embed_query("tea")

    assert server.requests[0].authorization == "Bearer none"


async def test_an_unknown_model_tells_its_dimensions_when_warmed(connect: Connect) -> None:
    embedder = connect()
    before = embedder.dimensions

    await embedder.warm()

    assert (before, embedder.dimensions) == (None, 64)


async def test_a_known_model_is_warm_without_a_request(
    server: EmbeddingServer, connect: Connect
) -> None:
    await connect(embedding_model="all-minilm").warm()

    assert server.requests == []


async def test_a_known_model_of_another_size_is_refused_from_the_first_answer(
    connect: Connect,
) -> None:
    with pytest.raises(ProviderFailed, match="64 dimensions instead of 384"):
        await connect(embedding_model="all-minilm").embed_query("tea")


async def test_a_model_too_large_to_index_is_refused(
    server: EmbeddingServer, connect: Connect
) -> None:
    server.dimensions = 4_001

    with pytest.raises(ProviderFailed, match="4001 dimensions, but pgvector indexes at most 4000"):
        await connect().embed_query("tea")


async def test_a_query_is_asked_once(server: EmbeddingServer, connect: Connect) -> None:
    embedder = connect()

    first = await embedder.embed_query("who likes tea?")
    again = await embedder.embed_query("who likes tea?")

    assert first is again
    assert len(server.requests) == 1


async def test_a_cached_vector_cannot_be_changed(connect: Connect) -> None:
    vector = await connect().embed_query("who likes tea?")

    with pytest.raises(ValueError, match="read-only"):
        vector[0] = 0


async def test_equal_queries_at_the_same_time_are_asked_once(
    server: EmbeddingServer, connect: Connect
) -> None:
    embedder = connect()
    answers: list[Vector] = []

    async def ask() -> None:
        answers.append(await embedder.embed_query("tea"))

    async with create_task_group() as group:
        for _ in range(10):
            group.start_soon(ask)

    assert len(answers) == 10
    assert len(server.requests) == 1


async def test_equal_queries_at_the_same_time_fail_together(
    server: EmbeddingServer, connect: Connect
) -> None:
    embedder = connect()
    server.fail(Fault.KEY_REFUSED)
    messages: list[str] = []

    async def ask() -> None:
        with pytest.raises(ProviderFailed) as caught:
            await embedder.embed_query("tea")
        messages.append(caught.value.fix)

    async with create_task_group() as group:
        for _ in range(10):
            group.start_soon(ask)

    assert len(messages) == 10
    assert len(set(messages)) == len(server.requests) == 1


async def test_when_the_caller_who_asks_is_cancelled_one_who_waits_asks(
    server: EmbeddingServer, connect: Connect
) -> None:
    embedder = connect()
    server.hold()
    answers: list[Vector] = []

    async def wait() -> None:
        answers.append(await embedder.embed_query("tea"))

    async with create_task_group() as waiting:
        async with create_task_group() as leading:
            leading.start_soon(embedder.embed_query, "tea")
            await to_thread.run_sync(server.wait_for_requests, 1)
            waiting.start_soon(wait)
            await checkpoint()
            leading.cancel_scope.cancel()
        await to_thread.run_sync(server.wait_for_requests, 2)
        server.release()

    assert len(answers) == 1


async def test_the_thousand_most_recent_queries_are_kept() -> None:
    cache = QueryCache()
    asked: list[str] = []

    async def fetch(text: str) -> None:
        async def ask() -> Vector:
            asked.append(text)
            return np.ones(1, np.float32)

        await cache.fetch(text, ask)

    for number in range(1_000):
        await fetch(str(number))
    await fetch("0")
    await fetch("one too many")
    await fetch("0")
    await fetch("1")

    assert asked[1_000:] == ["one too many", "1"]


async def test_many_calls_at_the_same_time_do_not_mix_their_answers(connect: Connect) -> None:
    embedder: Embedder = connect()
    wrong: list[str] = []

    async def ask(text: str) -> None:
        [vector] = await embedder.embed_documents([text])
        raw = np.array(embed_words(text, 64))
        if not np.allclose(vector, raw / np.linalg.norm(raw), atol=1e-6):
            wrong.append(text)

    async with create_task_group() as group:
        for number in range(40):
            group.start_soon(ask, f"fact number {number}")

    assert wrong == []
