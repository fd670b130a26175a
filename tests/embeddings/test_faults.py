import time
import traceback
from email.utils import formatdate

import pytest

from tests.embeddings.conftest import Connect
from tests.support.providers import Clock, EmbeddingServer, Fault
from textrawl.errors import EmbeddingUnavailable
from textrawl.models import remote
from textrawl.models.embeddings import ProviderFailed, TextRefused
from textrawl.models.provider import name_address, read_retry_after

pytestmark = pytest.mark.anyio

LIMIT = 0.4  # seconds; only for calls that fail, because a busy machine can need longer for others
SECRET = "canary"  # also in the key, the user and the password that `connect` gives
PRIVATE = [f"the {SECRET} sings", f"the {SECRET} flies"]  # not in the line that a traceback shows

SAID = {
    Fault.DOWN: "cannot be reached",
    Fault.HANG: "did not answer within 0.5 s",
    Fault.DRIP: "did not answer within 0.5 s",
    Fault.RATE_LIMITED: "rate limit or quota",
    Fault.FAILING: "an internal error (HTTP 500)",
    Fault.KEY_REFUSED: "refused the key (HTTP 401)",
    Fault.MODEL_MISSING: "does not have the model test-model",
    Fault.TEXT_REFUSED: "refused a text (HTTP 400)",
    Fault.TEAPOT: "answered HTTP 418",
    Fault.WRONG_DIMENSIONS: "32 dimensions instead of 64",
    Fault.MIXED_DIMENSIONS: "empty vectors or vectors of mixed sizes",
    Fault.NO_DIMENSIONS: "empty vectors or vectors of mixed sizes",
    Fault.FEWER: "sent 1 vectors for 2 texts",
    Fault.NAN: "a vector with NaN or infinity",
    Fault.ZERO: "a vector of zeros",
    Fault.BAD_JSON: "without valid embeddings",
    Fault.OTHER_JSON: "without valid embeddings",
    Fault.TEXTS: "without valid embeddings",
    Fault.TRUTHS: "without valid embeddings",
    Fault.ENDLESS: "without valid embeddings",
    Fault.PACKED: "without valid embeddings",
    Fault.ELSEWHERE: "answered HTTP 307",
    Fault.HEADERS: "closed the connection",
    Fault.TRUNCATED: "closed the connection",
}


@pytest.mark.parametrize("fault", Fault)
async def test_every_fault_has_its_message_without_a_secret_and_a_healed_provider_is_used_again(
    fault: Fault, server: EmbeddingServer, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedder = connect()
    await embedder.warm()
    server.fail(fault)
    with monkeypatch.context() as patch:
        patch.setattr(remote, "TIMEOUT", LIMIT)
        with pytest.raises(EmbeddingUnavailable) as caught:
            await embedder.embed_documents(PRIVATE)

    assert SAID[fault] in caught.value.fix  # a call that is given up names its limit
    assert str(caught.value).startswith("Embedding service unavailable: ")
    assert SECRET not in "".join(traceback.format_exception(caught.value))

    server.heal()

    assert len(await embedder.embed_documents(["likes tea", "likes coffee"])) == 2


async def test_a_missing_model_is_told_with_what_to_run(
    provider: str, server: EmbeddingServer, connect: Connect
) -> None:
    embedder = connect()
    server.fail(Fault.MODEL_MISSING)

    with pytest.raises(ProviderFailed) as caught:
        await embedder.embed_query("tea")

    cure = {"openai": "set TEXTRAWL_EMBEDDING_MODEL", "ollama": "run `ollama pull test-model`"}
    assert cure[provider] in caught.value.fix


async def test_the_text_without_a_usable_vector_is_named_by_position(
    server: EmbeddingServer, connect: Connect
) -> None:
    embedder = connect()
    server.fail(Fault.NAN)

    with pytest.raises(TextRefused) as caught:
        await embedder.embed_documents(["one", "two", "three"])

    assert caught.value.positions == (2,)


async def test_a_blank_text_is_refused_without_a_request(
    server: EmbeddingServer, connect: Connect
) -> None:
    embedder = connect()

    with pytest.raises(TextRefused) as caught:
        await embedder.embed_documents(["fine", "", " \n"])

    assert caught.value.positions == (1, 2)
    assert server.requests == []


async def test_a_blip_is_retried_once(server: EmbeddingServer, connect: Connect) -> None:
    embedder = connect()
    server.fail(Fault.FAILING, times=1)

    await embedder.embed_documents(["likes tea"])

    assert len(server.requests) == 2


async def test_what_repeating_cannot_mend_is_not_repeated(
    server: EmbeddingServer, connect: Connect
) -> None:
    embedder = connect()
    server.fail(Fault.KEY_REFUSED)

    with pytest.raises(ProviderFailed):
        await embedder.embed_documents(["likes tea"])

    assert len(server.requests) == 1


async def test_a_retry_after_within_the_limit_is_waited_for(
    server: EmbeddingServer, connect: Connect
) -> None:
    embedder = connect()
    server.retry_after = "0.3"
    server.fail(Fault.RATE_LIMITED, times=1)

    started = time.monotonic()
    await embedder.embed_documents(["likes tea"])

    assert time.monotonic() - started >= 0.3
    assert len(server.requests) == 2


async def test_a_retry_after_beyond_the_limit_fails_at_once_and_is_obeyed(
    server: EmbeddingServer, clock: Clock, connect: Connect
) -> None:
    embedder = connect()
    server.retry_after = "30"
    server.fail(Fault.RATE_LIMITED, times=1)

    started = time.monotonic()
    with pytest.raises(ProviderFailed, match="rate limit"):
        await embedder.embed_query("tea")
    clock.now += 29
    with pytest.raises(ProviderFailed, match="next attempt in 1 s"):
        await embedder.embed_query("tea")
    requests = len(server.requests)
    clock.now += 1
    await embedder.embed_query("tea")

    assert time.monotonic() - started < 20
    assert (requests, len(server.requests)) == (1, 2)


def test_retry_after_is_read_as_number_and_as_date() -> None:
    assert read_retry_after("1.5") == 1.5
    assert read_retry_after("-3") == 0
    assert read_retry_after("inf") == read_retry_after("99999999999") == 60
    assert read_retry_after(formatdate(time.time() + 40, usegmt=True)) == pytest.approx(40, abs=3)
    assert read_retry_after(formatdate(time.time() - 40, usegmt=True)) == 0


@pytest.mark.parametrize("value", [None, "", "soon", "nan", "Mon, 99 Foo 2026 10:00:00 GMT"])
def test_a_retry_after_that_cannot_be_read_counts_as_none(value: str | None) -> None:
    assert read_retry_after(value) is None


def test_an_address_is_named_without_user_path_or_query() -> None:
    assert name_address("https://u:p@example.test/v1?key=1") == "https://example.test"
    assert name_address("http://u:p@[::1]:8080/v1") == "http://[::1]:8080"
