"""`textrawl webhook`: addresses to which servers post the events of a space."""

from collections.abc import Awaitable, Callable
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Annotated

import typer

from textrawl.access.principal import Directory
from textrawl.cli.administration import (
    Administration,
    administer,
)
from textrawl.cli.console import show_rows, write_instant, write_json, write_line, write_message
from textrawl.cli.inputs import AdministeredSpace, AsJson, argument, option
from textrawl.errors import ArgumentInvalid
from textrawl.memory.webhooks import WEBHOOK_EVENTS, AddedWebhook, WebhookRow, Webhooks
from textrawl.server.webhooks import DeliveryFailed, post_test
from textrawl.settings import read_settings
from textrawl.values.text import clean_name
from textrawl.values.word_lists import list_destinations

webhook = typer.Typer(no_args_is_help=True)

_KINDS = ", ".join(WEBHOOK_EVENTS)
Name = Annotated[str, argument("WEBHOOK", "Its address, its id, or how its id begins.")]


_Events = Annotated[str, option("EVENTS", f"Any of {_KINDS}, separated by commas; default: all.")]
_Home = Annotated[
    str | None, option("SPACE", "Space of the events; default: home space.", clean_name)
]
_Content = Annotated[bool, option("--content", "Also post names of entities and texts of facts.")]


@webhook.command()
def add(
    url: Annotated[str, argument("URL", "https, or http for a receiver on this machine.")],
    events: _Events = ",".join(WEBHOOK_EVENTS),
    space: _Home = None,
    content: _Content = False,
    as_json: AsJson = False,
) -> None:
    """Add a webhook, and write its secret to stdout, which checks the signatures of its messages.

    Servers post the events from now on. The host has to be in TEXTRAWL_WEBHOOK_HOSTS of a server.
    """
    kinds = [kind.strip().lower() for kind in events.split(",") if kind.strip()]

    settings = read_settings()

    async def work(memory: Administration) -> tuple[AddedWebhook, WebhookRow]:
        chosen = space or settings.space or await _find_home(memory)
        webhooks = Webhooks(memory.database, memory.credential)
        added = await webhooks.add(chosen, url, kinds, content=content)
        return added, await webhooks.find(str(added.id))

    added, row = administer(work, owned=False)
    if as_json:
        write_json({**asdict(added), "space": row.space_name, "url": row.url})
    else:
        write_message(f"Webhook {row.id} posts events of {row.space_name} to {row.url}.")
        write_message("Its secret is not shown again:")
        write_line(added.secret)
    if row.host not in list_destinations(settings.webhook_hosts):
        write_message(f"The TEXTRAWL_WEBHOOK_HOSTS of a server has to name {row.host}.")


async def _find_home(memory: Administration) -> str:
    principal = await Directory(memory.database).find(memory.credential)
    if principal is None or principal.home_space is None:
        raise ArgumentInvalid("name the space of the events with --space", title="Which space?")
    return principal.home_space.name


@webhook.command(name="list")
def list_webhooks(space: AdministeredSpace = None, as_json: AsJson = False) -> None:
    """Show the webhooks, without their secrets."""
    rows = _find_rows(space)
    if rows or as_json:
        columns = ("id", "space", "address", "events", "content", "added by", "state")
        show_rows(rows, columns, _list_cells, as_json=as_json)


def _list_cells(row: WebhookRow) -> list[str]:
    return [
        str(row.id)[:8],
        row.space_name,
        row.url,
        ",".join(row.events),
        "yes" if row.content else "no",
        row.author_name or "owner",
        row.state,
    ]


@webhook.command()
def status(space: AdministeredSpace = None, as_json: AsJson = False) -> None:
    """Show what waits to be delivered, and the last error of each webhook."""
    rows = _find_rows(space)
    if rows or as_json:
        show_rows(
            rows,
            ("id", "state", "queue", "oldest", "delivered", "failures", "next try", "error"),
            lambda row: [
                str(row.id)[:8],
                row.state,
                f"{row.queue:,}",
                write_instant(row.oldest_at, ""),
                write_instant(row.delivered_at, "never"),
                str(row.failures),
                write_instant(row.next_try_at, "") if row.state == "retrying" else "",
                row.last_error or "",
            ],
            as_json=as_json,
        )
    waiting = {row.host for row in rows if row.queue and not row.failures and not as_json}
    for host in sorted(waiting - {*list_destinations(read_settings().webhook_hosts)}):
        write_message(f"If the queue stays, the TEXTRAWL_WEBHOOK_HOSTS of no server names {host}.")


@webhook.command()
def remove(name: Name) -> None:
    """Remove a webhook. Events that were not delivered are not posted any more."""
    row = _act(name, Webhooks.remove)
    write_message(f"Removed the webhook {row.id} to {row.url}: {row.queue:,} events were waiting.")


@webhook.command()
def resume(name: Name) -> None:
    """Let servers post to a paused webhook again, from the first event that it did not get."""
    row = _act(name, Webhooks.resume)
    write_message(f"The webhook {row.id} continues: {row.queue:,} events are waiting.")


@webhook.command()
def test(name: Name) -> None:
    """Post a signed message of the type memory.test from this machine, and say how it ends."""

    async def post(webhooks: Webhooks, row: WebhookRow) -> None:
        try:
            now = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S.%fZ}"
            await post_test(await webhooks.open(row), read_settings().webhook_hosts, now)
        except DeliveryFailed as fault:
            raise ArgumentInvalid(str(fault), title=f"{row.url} did not get the message") from None

    row = _act(name, post, changes_memory=False)
    write_message(f"{row.url} got the message.")


def _find_rows(space: str | None) -> list[WebhookRow]:
    rows = administer(
        lambda memory: Webhooks(memory.database, memory.credential).list_all(),
        owned=False,
        changes_memory=False,
    )
    if not rows:
        write_message("There are no webhooks: see `textrawl webhook add --help`.")
    return [row for row in rows if space in (None, row.space_name)]


def _act(
    name: str,
    deed: Callable[[Webhooks, WebhookRow], Awaitable[None]],
    *,
    changes_memory: bool = True,
) -> WebhookRow:
    """Find a webhook, do something with it, and return it."""

    async def work(memory: Administration) -> WebhookRow:
        webhooks = Webhooks(memory.database, memory.credential)
        row = await webhooks.find(name)
        await deed(webhooks, row)
        return row

    return administer(work, owned=False, changes_memory=changes_memory)
