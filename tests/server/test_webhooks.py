"""Webhooks: what happens in a space reaches the receivers that its administrators set."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest
from anyio import to_thread
from standardwebhooks import Webhook, WebhookVerificationError

from tests.conftest import TOKEN, Connect
from tests.support.commands import wait_for
from tests.support.webhook_receiver import WebhookReceiver
from textrawl.access.access_token import hash_token

pytestmark = pytest.mark.anyio

FACT = {"entityName": "Ada", "entityType": "person", "observation": "likes tea"}


@pytest.fixture
def receiver() -> Iterator[WebhookReceiver]:
    with WebhookReceiver() as listening:
        yield listening


def add(owner: psycopg.Connection, url: str, *events: str, content: bool = False) -> str:
    """A webhook that the server's own actor added; its secret."""
    given = list(events) or ["stored", "proposed", "decided", "forgotten", "undone"]
    row = owner.execute(
        "select secret from add_webhook('default', %s, %s, %s, credential => %s)",
        (url, given, content, hash_token(TOKEN)),
    ).fetchone()
    assert row is not None
    return row[0]


def status(owner: psycopg.Connection) -> tuple[Any, ...]:
    row = owner.execute("select state, queue, last_error from list_webhooks()").fetchone()
    assert row is not None
    return row


async def wait(receiver: WebhookReceiver, condition: Callable[[WebhookReceiver], bool]) -> None:
    await to_thread.run_sync(receiver.wait, condition)


def read(receiver: WebhookReceiver) -> list[dict[str, Any]]:
    return [json.loads(message.body) for message in receiver.accepted]


async def test_events_arrive_signed_in_their_order_and_without_their_texts(
    owner: psycopg.Connection, connect: Connect, receiver: WebhookReceiver
) -> None:
    client = await connect(embedding_provider="none", webhook_hosts=[receiver.host])
    secret = add(owner, receiver.url)
    await client.call_tool("remember_fact", FACT)
    await client.call_tool(
        "forget_entity", {"entityName": "Ada", "fact": "likes tea", "confirm": True}
    )
    await wait(receiver, lambda r: len(r.accepted) == 3)

    found = [(one["type"], one["data"]["action"]) for one in read(receiver)]
    assert found == [
        ("memory.stored", "created"), ("memory.stored", "remembered"),
        ("memory.forgotten", "forgotten"),
    ]  # fmt: skip
    for message in receiver.accepted:
        assert (message.path, message.headers["content-type"]) == ("/memory", "application/json")
        verified = Webhook(secret).verify(message.body, message.headers)
        assert verified["data"]["space_name"] == "default"
        with pytest.raises(WebhookVerificationError):
            Webhook(secret).verify(message.body + b" ", message.headers)
        assert b"Ada" not in message.body
        assert b"tea" not in message.body


@pytest.mark.slow
async def test_texts_arrive_only_if_somebody_asked_for_them_and_only_the_kinds_of_events(
    owner: psycopg.Connection, connect: Connect, receiver: WebhookReceiver
) -> None:
    client = await connect(embedding_provider="none", webhook_hosts=[receiver.host])
    add(owner, receiver.url, "stored", content=True)
    await client.call_tool("remember_fact", FACT)
    await client.call_tool(
        "relate_entities", {"fromEntity": "Ada", "toEntity": "Bo", "relationType": "knows"}
    )
    await wait(receiver, lambda r: b"knows" in b"".join(m.body for m in r.accepted))
    texts = [one["data"].get("content") for one in read(receiver)]
    assert [text for text in texts if text] == ["likes tea", "Ada knows Bo"]
    assert {one["data"]["entity_name"] for one in read(receiver)} <= {"Ada", "Bo"}


@pytest.mark.slow
async def test_what_a_receiver_refuses_is_repeated_in_order_and_never_with_a_forgotten_text(
    owner: psycopg.Connection, connect: Connect, receiver: WebhookReceiver
) -> None:
    client = await connect(embedding_provider="none", webhook_hosts=[receiver.host])
    secret = add(owner, receiver.url, content=True)
    receiver.status = 503
    await client.call_tool("remember_fact", FACT)
    await client.call_tool("remember_fact", {**FACT, "observation": "has a secret"})
    await wait(receiver, lambda r: len(r.messages) == 2)
    assert {one.headers["webhook-id"] for one in receiver.messages} == {
        receiver.messages[0].headers["webhook-id"]
    }
    assert status(owner) == ("retrying", 3, "HTTP 503")
    await client.call_tool(
        "forget_entity", {"entityName": "Ada", "fact": "has a secret", "confirm": True}
    )
    receiver.status = 204
    await wait(receiver, lambda r: len(r.accepted) == 4)

    actions = [one["data"]["action"] for one in read(receiver)]
    assert actions == ["created", "remembered", "remembered", "forgotten"]
    assert not any(b"has a secret" in message.body for message in receiver.accepted)
    assert b"likes tea" in receiver.accepted[1].body
    Webhook(secret).verify(receiver.accepted[0].body, receiver.accepted[0].headers)


@pytest.mark.slow
async def test_a_redirect_is_not_followed_and_410_or_five_days_of_faults_pause_in_place(
    owner: psycopg.Connection, connect: Connect, receiver: WebhookReceiver
) -> None:
    client = await connect(embedding_provider="none", webhook_hosts=[receiver.host])
    add(owner, receiver.url)
    with WebhookReceiver() as elsewhere:
        receiver.status, receiver.more = 307, {"location": elsewhere.url}
        await client.call_tool("remember_fact", FACT)
        await wait(receiver, lambda r: len(r.messages) == 1)
        await _until(owner, lambda row: row == ("retrying", 2, "HTTP 307"))
        receiver.status, receiver.more = 500, {}
        owner.execute(
            "update webhook set failing_since = now() - interval '6 days', next_try_at = now()"
        )
        await _until(owner, lambda row: row == ("paused", 2, "HTTP 500"))
        receiver.status = 410
        owner.execute("select resume_webhook(space_id, id) from webhook")
        await _until(owner, lambda row: row == ("paused", 2, "HTTP 410"))
        receiver.status = 204
        assert receiver.accepted == []
        owner.execute("select resume_webhook(space_id, id) from webhook")
        await wait(receiver, lambda r: len(r.accepted) == 2)
        await _until(owner, lambda row: row == ("active", 0, "HTTP 410"))
        assert elsewhere.messages == []


async def _until(owner: psycopg.Connection, condition: Callable[[tuple[Any, ...]], bool]) -> None:
    await to_thread.run_sync(lambda: wait_for(lambda: condition(status(owner))))


@pytest.mark.slow
async def test_a_server_posts_to_no_host_and_for_no_space_that_its_settings_do_not_name(
    owner: psycopg.Connection, connect: Connect, receiver: WebhookReceiver
) -> None:
    with WebhookReceiver() as named:
        owner.execute("select create_space('team')")
        owner.execute(
            "select grant_access(a.name, 'team', array['read', 'admin']) from actor a"
            " join token t on t.actor_id = a.id where t.hash = %s",
            (hash_token(TOKEN),),
        )
        owner.execute("select add_webhook('team', %s)", (named.url,))
        owner.execute(
            "select remember_fact('Bo', 'person', 'x', space => id) from space where name = 'team'"
        )
        given = {"embedding_provider": "none", "webhook_hosts": [named.host]}
        client = await connect(**given, space="default")
        add(owner, receiver.url)
        add(owner, named.url)
        await client.call_tool("remember_fact", FACT)
        await wait(named, lambda r: len(r.accepted) == 2)
        assert {one["data"]["space_name"] for one in read(named)} == {"default"}
        assert receiver.messages == []
        await connect(**given)
        await wait(named, lambda r: len(r.accepted) == 4)
        assert [one["data"]["space_name"] for one in read(named)[2:]] == ["team", "team"]
