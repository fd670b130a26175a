import pytest
from anyio import create_task_group, to_thread

from tests.embeddings.conftest import Connect
from tests.support.providers import Clock, EmbeddingServer, Fault
from textrawl.models.embeddings import Embedder, ProviderFailed, TextRefused

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.parametrize("provider", ["openai"], indirect=True),
]


async def fail(embedder: Embedder, times: int = 1) -> str:
    message = ""
    for _ in range(times):
        with pytest.raises(ProviderFailed) as caught:
            await embedder.embed_documents(["likes tea"])
        message = caught.value.fix
    return message


async def test_after_three_failures_the_provider_is_not_asked(
    server: EmbeddingServer, connect: Connect
) -> None:
    embedder = connect()
    server.fail(Fault.KEY_REFUSED)

    await fail(embedder, 3)
    message = await fail(embedder, 5)

    assert len(server.requests) == 3
    assert "refused the key" in message
    assert "calls are skipped; next attempt in 2 s" in message


async def test_after_the_delay_one_success_lets_all_calls_through(
    server: EmbeddingServer, clock: Clock, connect: Connect
) -> None:
    embedder = connect()
    server.fail(Fault.KEY_REFUSED)
    await fail(embedder, 3)
    server.heal()

    clock.now += 1.9
    await fail(embedder)
    clock.now += 0.1
    await embedder.embed_documents(["likes tea"])
    server.fail(Fault.KEY_REFUSED)
    await fail(embedder, 4)

    assert len(server.requests) == 3 + 1 + 3


async def test_the_delay_doubles_with_each_failed_probe_up_to_half_a_minute(
    server: EmbeddingServer, clock: Clock, connect: Connect
) -> None:
    embedder = connect()
    server.fail(Fault.KEY_REFUSED)
    await fail(embedder, 3)

    for delay in (2, 4, 8, 16, 30, 30):
        assert f"next attempt in {delay} s" in await fail(embedder)
        clock.now += delay
        await fail(embedder)

    assert len(server.requests) == 3 + 6


async def test_a_retry_after_outlasts_the_delay(
    server: EmbeddingServer, clock: Clock, connect: Connect
) -> None:
    embedder = connect()
    server.retry_after = "45"
    server.hold()
    server.fail(Fault.RATE_LIMITED)

    async with create_task_group() as group:
        group.start_soon(fail, embedder)
        group.start_soon(fail, embedder)
        await to_thread.run_sync(server.wait_for_requests, 2)
        server.release()

    clock.now += 35
    assert "next attempt in 10 s" in await fail(embedder)
    assert len(server.requests) == 2


async def test_only_one_call_probes_at_a_time(
    server: EmbeddingServer, clock: Clock, connect: Connect
) -> None:
    embedder = connect()
    server.fail(Fault.KEY_REFUSED)
    await fail(embedder, 3)
    server.heal()
    server.hold()
    clock.now += 2

    async with create_task_group() as group:
        group.start_soon(embedder.embed_documents, ["likes tea"])
        await to_thread.run_sync(server.wait_for_requests, 4)
        assert "next attempt in 0 s" in await fail(embedder)
        server.release()

    assert len(server.requests) == 4


async def test_a_cancelled_probe_leaves_the_next_call_to_probe(
    server: EmbeddingServer, clock: Clock, connect: Connect
) -> None:
    embedder = connect()
    server.fail(Fault.KEY_REFUSED)
    await fail(embedder, 3)
    server.heal()
    server.hold()
    clock.now += 2

    async with create_task_group() as group:
        group.start_soon(embedder.embed_documents, ["likes tea"])
        await to_thread.run_sync(server.wait_for_requests, 4)
        group.cancel_scope.cancel()
    server.release()

    assert len(await embedder.embed_documents(["likes tea"])) == 1


async def test_failures_that_are_not_in_a_row_do_not_add_up(
    server: EmbeddingServer, connect: Connect
) -> None:
    embedder = connect()

    for _ in range(3):
        server.fail(Fault.KEY_REFUSED)
        await fail(embedder, 2)
        server.heal()
        await embedder.embed_documents(["likes tea"])

    assert len(server.requests) == 9


async def test_a_poisoned_text_does_not_shut_out_the_others(
    server: EmbeddingServer, connect: Connect
) -> None:
    embedder = connect()
    server.poison = "arsenic"

    for _ in range(5):
        with pytest.raises(TextRefused):
            await embedder.embed_documents(["likes tea", "with arsenic"])

    assert len(await embedder.embed_documents(["likes tea"])) == 1


async def test_slow_failures_after_the_breaker_opened_do_not_prolong_it(
    server: EmbeddingServer, clock: Clock, connect: Connect
) -> None:
    embedder = connect()
    server.hold()
    server.fail(Fault.KEY_REFUSED)

    async with create_task_group() as group:
        for _ in range(6):
            group.start_soon(fail, embedder)
        await to_thread.run_sync(server.wait_for_requests, 6)
        server.release()
    server.heal()
    clock.now += 2

    assert len(await embedder.embed_documents(["likes tea"])) == 1
