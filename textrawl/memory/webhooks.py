"""The webhooks of a memory: addresses to which servers post the events of a space."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import LiteralString, TypeVar
from uuid import UUID

from textrawl.errors import ArgumentInvalid
from textrawl.postgres.database import Database

WEBHOOK_EVENTS = ("stored", "proposed", "decided", "forgotten", "undone")

Row = TypeVar("Row")


@dataclass(frozen=True)
class AddedWebhook:
    """A new webhook. `secret` signs its messages, and is not shown again."""

    id: UUID
    secret: str


@dataclass(frozen=True)
class WebhookRow:
    """A webhook of list_webhooks. `queue` is the number of events to deliver, up to 100,000.

    `state` is active, retrying, paused or not allowed. `oldest_at` is the time of the first event
    to deliver. `author_name` is None for the owner of the memory.
    """

    space_id: int
    id: UUID
    space_name: str
    url: str
    host: str
    events: list[str]
    content: bool
    author_name: str | None
    created_at: datetime
    state: str
    queue: int
    oldest_at: datetime | None
    delivered_at: datetime | None
    failures: int
    last_error: str | None
    next_try_at: datetime
    paused_at: datetime | None


@dataclass(frozen=True)
class Destination:
    """A webhook with what a delivery needs. `host` has the port, as in TEXTRAWL_WEBHOOK_HOSTS."""

    space_id: int
    id: UUID
    url: str
    host: str
    secret: bytes


@dataclass(frozen=True)
class MessageRow:
    """A message of next_webhook_events. Without a body, the event is not for this webhook."""

    cursor: str
    body: str | None


class Webhooks:
    """The webhooks of the spaces in which the credential has the scope `admin`.

    Each method raises NotAuthenticated, ScopeMissing, DatabaseUnavailable, and ArgumentInvalid for
    a webhook that does not exist.
    """

    def __init__(self, database: Database, credential: bytes | None) -> None:
        self._database = database
        self._credential = credential

    async def add(
        self, space: str, url: str, events: Sequence[str], *, content: bool
    ) -> AddedWebhook:
        """Add a webhook. Raises ArgumentInvalid for a wrong address or wrong events."""
        [row] = await self._call(
            "add_webhook", AddedWebhook, name=space, url=url, events=list(events), content=content
        )
        return row

    async def list_all(self) -> list[WebhookRow]:
        """Return all webhooks with their states."""
        return await self._call("list_webhooks", WebhookRow)

    async def find(self, name: str) -> WebhookRow:
        """Return the webhook with the address `name`, or whose id begins with it."""
        found = [
            row
            for row in await self.list_all()
            if name == row.url or (name and str(row.id).startswith(name.lower()))
        ]
        if len(found) == 1:
            return found[0]
        title = f"Several webhooks are called {name}" if found else f"No webhook {name}"
        raise ArgumentInvalid("use an id of `textrawl webhook list`", title=title)

    async def remove(self, row: WebhookRow) -> None:
        """Remove a webhook with its place in the trail."""
        await self._call("remove_webhook", str, space=row.space_id, hook=row.id)

    async def resume(self, row: WebhookRow) -> None:
        """Let servers post to a paused webhook again, from its place."""
        await self._call("resume_webhook", str, space=row.space_id, hook=row.id)

    async def open(self, row: WebhookRow) -> Destination:
        """Return what a test message needs."""
        [found] = await self._call("read_webhook", Destination, space=row.space_id, hook=row.id)
        return found

    async def claim(
        self, claim: UUID, hosts: Sequence[str], most: int, space: int | None
    ) -> list[Destination]:
        """Claim at most `most` webhooks to `hosts` (host:port) that have events to deliver."""
        return await self._call(
            "claim_webhooks",
            Destination,
            claim=claim,
            hosts=list(hosts),
            max_rows=most,
            space=space,
        )

    async def read_next(
        self, hook: Destination, claim: UUID, after: str | None
    ) -> list[MessageRow]:
        """Record the last delivered event, and return the next messages. None ends the claim."""
        return await self._call(
            "next_webhook_events",
            MessageRow,
            space=hook.space_id,
            hook=hook.id,
            claim=claim,
            after=after,
        )

    async def record_fault(
        self,
        hook: Destination,
        claim: UUID,
        error: str,
        *,
        after: str | None,
        wait: int,
        gone: bool,
    ) -> bool:
        """Record that a message could not be delivered. Return whether the webhook is paused."""
        [paused] = await self._call(
            "fail_webhook",
            bool,
            space=hook.space_id,
            hook=hook.id,
            claim=claim,
            error=error,
            after=after,
            wait=wait,
            gone=gone,
        )
        return paused

    async def _call(
        self, function: LiteralString, row: type[Row], /, **arguments: object
    ) -> list[Row]:
        return await self._database.call_explained(
            function, row, **arguments, credential=self._credential
        )
