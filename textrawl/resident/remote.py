"""The answers from the memory of a server over HTTP, which TEXTRAWL_SERVER_URL names.

A process that listens keeps its connections to the server, so a question takes one request.
"""

from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from operator import attrgetter
from uuid import NAMESPACE_OID, UUID, uuid5

from textrawl.client.client import Client
from textrawl.client.results import Fact
from textrawl.errors import ArgumentInvalid, ReadOnly
from textrawl.memory.fact_rows import HitRow
from textrawl.resident.answers import Operations
from textrawl.resident.requests import (
    Answer,
    DigestRequest,
    RecallRequest,
    RememberRequest,
    Request,
    build_answer,
    build_empty,
    count_wanted,
    describe_fact,
    describe_stored,
    leave_out_known,
    shorten,
)
from textrawl.settings import Settings
from textrawl.tools.memory.search_replies import FactLayout, SearchReply, SpaceLabels
from textrawl.values.names import write_space_address
from textrawl.values.text import escape_hidden
from textrawl.values.word_lists import MEMBERS, includes_everybody
from textrawl.wire.replies import build_renderer
from textrawl.wire.token_counter import choose_counter

_TIMEOUT = 12.0  # seconds for a request to the server, whose calls of Postgres may take 10


class RemoteServer:
    """A server over HTTP. Each space has a client of its own, because the address names the space.

    Every method raises the errors of its tool, and ServerUnreachable.
    """

    def __init__(self, url: str, settings: Settings, stack: AsyncExitStack) -> None:
        self._url = url
        self._settings = settings
        self._stack = stack
        self._renderer = replace(build_renderer(settings), format="lines", structured=False)
        self._clients: dict[str | None, Client] = {}

    async def ping(self, request: Request) -> Answer:
        """Return an empty answer. The server is not asked."""
        del request
        return build_empty()

    async def recall(self, request: RecallRequest) -> Answer:
        """Return facts that answer a question, without the known ones."""
        client = await self._open(request)
        limit = count_wanted(request)
        found = await client.recall(request.query, limit=limit, least_score=request.least_score)
        facts = self._choose_by_authors(found.facts, request)
        new = leave_out_known(facts, request.known, attrgetter("id"))[: request.limit]
        spaces = {fact.space for fact in new}
        layout = FactLayout(SpaceLabels(self._settings.space, several=len(spaces) > 1))
        reply = SearchReply.build([_build_row(fact) for fact in new], None, request.query, layout)
        reply.note = None if request.is_from_hook else found.note
        written = self._renderer.write(reply, request.max_tokens)
        return build_answer(written, [describe_fact(fact) for fact in new], request.format)

    def _choose_by_authors(self, facts: Sequence[Fact], request: RecallRequest) -> Sequence[Fact]:
        """Return the facts that a hook may give to a model.

        The answer of a server names authors, but does not say who is a member. So a hook that gives
        only facts of members gives none.
        """
        authors = request.authors or self._settings.digest_authors
        if not request.is_from_hook or includes_everybody(authors):
            return facts
        return [fact for fact in facts if authors != [MEMBERS] and fact.author in authors]

    async def digest(self, request: DigestRequest) -> Answer:
        """Return the digest of the server. Its facts have no ids there, so none are left out."""
        client = await self._open(request)
        digest = await client.digest(request.project or None, max_tokens=request.max_tokens)
        return {
            "text": escape_hidden(digest.text),
            "ids": [shorten(identity) for identity in digest.ids],
            "tokens": choose_counter().count(digest.text),
            "items": sum(line.startswith("- ") for line in digest.text.split("\n")),
        }

    async def remember(self, request: RememberRequest) -> Answer:
        """Store a fact. Raises ReadOnly."""
        if self._settings.read_only or request.read_only:
            raise ReadOnly("TEXTRAWL_READ_ONLY is on: unset it to change the memory")
        client = await self._open(request)
        stored = await client.remember(
            request.entity,
            request.fact,
            type=request.type,
            replaces=request.replaces,
            valid_until=request.until,
        )
        return describe_stored(stored, None)

    async def _open(self, request: Request) -> Client:
        """Return the client for the space of a request. Raises ArgumentInvalid."""
        space = request.space or self._settings.space
        if space not in self._clients:
            client = Client(_name_space(self._url, space), timeout=_TIMEOUT)
            self._clients[space] = await self._stack.enter_async_context(client)
        return self._clients[space]


@asynccontextmanager
async def open_remote_operations(url: str, settings: Settings) -> AsyncGenerator[Operations]:
    """Yield the operations on the server at `url`. The first request connects to it."""
    async with AsyncExitStack() as stack:
        server = RemoteServer(url, settings, stack)
        yield {
            "ping": (Request, server.ping),
            "recall": (RecallRequest, server.recall),
            "digest": (DigestRequest, server.digest),
            "remember": (RememberRequest, server.remember),
        }


def _name_space(url: str, space: str | None) -> str:
    """Return the address of a space. Raises ArgumentInvalid if the address names a space."""
    if space is None:
        return url
    try:
        return write_space_address(url, space)
    except ValueError as error:
        raise ArgumentInvalid(f"TEXTRAWL_SERVER_URL: {error}") from None


def _build_row(fact: Fact) -> HitRow:
    """Return the fact as a row of a search. Only its text is shown, so its ids are not real."""
    owner = uuid5(NAMESPACE_OID, f"{fact.space}/{fact.entity}")
    return HitRow(
        observation_id=UUID(int=0),
        entity_id=owner,
        space=fact.space or "",
        entity_name=fact.entity,
        entity_type=fact.type,
        content=fact.content,
        source="",
        created_at=fact.said_at,
        said_at=fact.said_at,
        author=fact.author,
        score=fact.score,
        several_authors=True,  # the answer does not say that the space has only one author
    )
