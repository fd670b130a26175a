"""`textrawl webhook`: from the secret to the resumed webhook, and what doctor says."""

import json

import psycopg
import pytest
from standardwebhooks import Webhook

from tests.conftest import TOKEN, Databases
from tests.support.commands import Run
from tests.support.webhook_receiver import WebhookReceiver
from textrawl.embedded.postmaster import OWNER


@pytest.fixture(params=[True, False], ids=["owner", "token"])
def given(
    request: pytest.FixtureRequest, postgres: Databases, database: str, database_url: str
) -> dict[str, str]:
    """The settings of somebody who may administer webhooks."""
    url = postgres.cluster.dsn(OWNER, database) if request.param else database_url
    return {"DATABASE_URL": url, "ACCESS_TOKEN": TOKEN}


@pytest.mark.slow
def test_a_test_message_is_signed_and_only_goes_to_hosts_of_the_settings(
    run: Run, given: dict[str, str]
) -> None:
    with WebhookReceiver() as receiver:
        hosts = {"WEBHOOK_HOSTS": receiver.host}
        outcome = run("webhook", "add", receiver.url, **given)
        assert outcome.code == 0, outcome.err
        assert f"TEXTRAWL_WEBHOOK_HOSTS of a server has to name {receiver.host}." in outcome.err
        secret = outcome.out.strip()
        for command in ("list", "status"):
            assert secret not in run("webhook", command, "--json", **given).out
        refused = run("webhook", "test", receiver.url, **given)
        assert refused.code == 1
        assert f"TEXTRAWL_WEBHOOK_HOSTS does not name {receiver.host}" in refused.err
        assert run("webhook", "test", receiver.url, **given, **hosts).code == 0
        [message] = receiver.accepted
        assert Webhook(secret).verify(message.body, message.headers)["type"] == "memory.test"
        receiver.status = 500
        assert "HTTP 500" in run("webhook", "test", receiver.url, **given, **hosts).err


@pytest.mark.slow
def test_a_paused_webhook_is_seen_resumed_and_removed(
    run: Run, owner: psycopg.Connection, given: dict[str, str], database_url: str
) -> None:
    run("webhook", "add", "https://hooks.example.com/", "--events", "stored,forgotten", **given)
    owner.execute("select remember_fact('Ada', 'person', 'likes tea')")
    hint = "TEXTRAWL_WEBHOOK_HOSTS of no server names hooks.example.com:443."
    assert hint in run("webhook", "status", **given).err
    named = run("webhook", "status", **given, WEBHOOK_HOSTS="hooks.example.com")
    assert (named.code, hint in named.err) == (0, False)
    owner.execute("update webhook set paused_at = now(), last_error = 'HTTP 500'")
    for command in ("list", "status"):
        [row] = json.loads(run("webhook", command, "--json", **given).out)
        assert (row["state"], row["queue"], row["events"]) == ("paused", 2, ["forgotten", "stored"])
        assert "paused" in run("webhook", command, **given).out
    report = json.loads(run("doctor", "--json", **{**given, "DATABASE_URL": database_url}).out)
    [(verdict, told)] = [
        (item["verdict"], item["told"]) for item in report["findings"] if item["name"] == "webhooks"
    ]
    assert verdict == "note"
    assert "is paused (HTTP 500), and 2 events wait" in told
    assert f"`textrawl webhook resume {row['id']}`" in told
    assert run("webhook", "resume", row["id"][:8], **given).code == 0
    assert owner.execute("select state from list_webhooks()").fetchone() == ("active",)
    assert run("webhook", "remove", "nothing", **given).code == 1
    assert "2 events were waiting" in run("webhook", "remove", row["id"], **given).err
    assert "There are no webhooks" in run("webhook", "list", **given).err


def test_an_address_or_a_kind_that_cannot_be_is_refused(run: Run, database_url: str) -> None:
    given = {"DATABASE_URL": database_url, "ACCESS_TOKEN": TOKEN}
    refused = run("webhook", "add", "http://hooks.example.com/", **given)
    assert (refused.code, "Not an address for a webhook" in refused.err) == (1, True)
    refused = run("webhook", "add", "https://hooks.example.com/", "--events", "all", **given)
    assert (refused.code, "Wrong kinds of events" in refused.err) == (1, True)
    refused = run("webhook", "list", DATABASE_URL=database_url)
    assert refused.code == 1
    hosts = {"WEBHOOK_HOSTS": "hooks.example.com"}
    report = run("doctor", "--http", "--json", DATABASE_URL=database_url, **hosts)
    assert "posts nothing: set TEXTRAWL_ACCESS_TOKEN" in report.out
    assert run("settings", WEBHOOK_HOSTS="https://x/").code == 1
