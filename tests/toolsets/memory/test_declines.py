"""A user's no to a deletion: told as such, and kept against a model that claims a yes."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from itertools import product
from typing import Any, Literal

import psycopg
import pytest
from mcp import Client
from mcp.types import ElicitRequestParams, ElicitResult, Implementation

from tests.conftest import Connect, Era
from tests.support.commands import serve_over_stdio
from tests.support.listening import listen
from tests.support.tool_calls import (
    ask,
    count,
    forget,
    keep,
    read_refusal,
    read_tables,
    remember,
    text_of,
)
from textrawl import Settings, create_server
from textrawl.server.lifespan import open_app
from textrawl.tools.call import RefusedDeletions, Target

pytestmark = pytest.mark.anyio

Transport = Literal["memory", "http", "stdio"]
Action = Literal["accept", "decline", "cancel"]
Open = Callable[..., Any]  # a client whose user is asked, or None for one that cannot ask

DECLINED = {
    "ok": False, "err": "declined",
    "fix": "Keep it: try again only when the user asks for the deletion",
}  # fmt: skip


class User:
    """A person who answers one question after the other, the last answer again and again."""

    def __init__(self, *actions: Action) -> None:
        self.actions = actions
        self.asked: list[str] = []

    async def __call__(self, context: object, params: ElicitRequestParams) -> ElicitResult:
        action = self.actions[min(len(self.asked), len(self.actions) - 1)]
        self.asked.append(params.message)
        return ElicitResult(
            action=action, content={"confirm": True} if action == "accept" else None
        )


@pytest.fixture(params=["memory", "http", "stdio"])
async def open_client(
    request: pytest.FixtureRequest, era: Era, settings: Callable[..., Settings], database_url: str
) -> AsyncIterator[Open]:
    """Connects clients of one server, or of one process each over stdio, in each era."""
    transport: Transport = request.param
    async with AsyncExitStack() as stack:
        target: Any = create_server(settings())
        if transport == "http":
            target = (await stack.enter_async_context(listen(settings()))).mcp
        elif transport == "stdio":
            target = serve_over_stdio(database_url)

        async def connect(user: User | None, name: str = "quill") -> Client:
            options: dict[str, Any] = {"elicitation_callback": user} if user else {}
            who = Implementation(name=name, version="1")
            client = Client(target, mode=era, client_info=who, **options)
            return await stack.enter_async_context(client)

        yield connect


async def test_after_a_no_the_same_deletion_with_confirm_is_asked_again_and_refused(
    open_client: Open, owner: psycopg.Connection
) -> None:
    user = User("decline")
    client = await open_client(user)
    await remember(client, "Doomed", "likes tea")
    before = read_tables(owner)

    assert await keep(client, "Doomed") == DECLINED
    assert await keep(client, " doomed", confirm=True) == DECLINED

    assert user.asked == 2 * ["Forget Doomed (facts 1, relations 0)? This cannot be undone."]
    assert read_tables(owner) == before


@pytest.mark.parametrize("open_client", ["memory"], indirect=True)
async def test_after_a_no_a_yes_to_a_new_question_deletes_and_is_the_last_word(
    open_client: Open,
) -> None:
    user = User("decline", "accept")
    client = await open_client(user)
    stored = await remember(client, "Doomed", "likes tea")

    await keep(client, "Doomed")
    assert await forget(client, "Doomed", confirm=True) == {"ok": True, "id": stored["entity"]}

    await remember(client, "Doomed", "likes tea")
    assert (await forget(client, "Doomed", confirm=True))["ok"]
    assert len(user.asked) == 2


@pytest.mark.parametrize("open_client", ["memory"], indirect=True)
async def test_a_no_concerns_what_was_asked_about(open_client: Open) -> None:
    client = await open_client(User("decline"))
    await remember(client, "Doomed", "likes tea")
    await remember(client, "Doomed", "lives in Oslo")
    await remember(client, "Doomed", "sings")
    await remember(client, "Other", "likes tea")

    assert await keep(client, "Doomed", fact="likes tea") == DECLINED

    [known] = [
        fact["id"]
        for fact in (await ask(client, entityName="Doomed", includeIds=True))["o"]
        if fact["c"] == "likes tea"
    ]
    assert await keep(client, "Doomed", fact=known, confirm=True) == DECLINED
    assert (await forget(client, "Doomed", fact="sings", confirm=True))["ok"]
    assert (await forget(client, "Other", confirm=True))["ok"]
    assert await keep(client, "Doomed", confirm=True) == DECLINED
    assert await keep(client, "Doomed", fact="lives in Oslo", confirm=True) == DECLINED
    assert (await ask(client, entityName="Doomed"))["o"] == ["lives in Oslo", "likes tea"]


@pytest.mark.slow
async def test_another_session_is_not_bound_by_a_no(
    open_client: Open, request: pytest.FixtureRequest
) -> None:
    client = await open_client(User("decline"))
    await remember(client, "Doomed", "likes tea")
    await keep(client, "Doomed")

    other = await open_client(None, name="pencil")

    assert (await forget(other, "Doomed", confirm=True))["ok"]


async def test_a_no_binds_a_client_without_sessions_also_where_it_cannot_ask(
    settings: Callable[..., Settings], owner: psycopg.Connection
) -> None:
    async with listen(settings()) as address:
        async with Client(address.mcp, elicitation_callback=User("decline")) as client:
            await remember(client, "Doomed", "likes tea")
            await keep(client, "Doomed")
        async with Client(address.mcp) as client:
            assert await keep(client, "Doomed", confirm=True) == DECLINED
            assert (await keep(client, "Doomed"))["err"] == "confirm"

    assert count(owner, "entity") == 1


async def test_a_no_and_a_missing_confirmation_differ_in_every_format(
    connect: Connect, era: Era
) -> None:
    for form, structured in product(("compact", "verbose", "lines"), ("full", "off")):
        changes = {"compact_responses": form, "structured_content": structured}
        asking = await connect(era, callback=User("decline"), **changes)
        await remember(asking, "Doomed", "likes tea")
        await check_refusals(asking, await connect(era, **changes), form, structured)


async def check_refusals(asking: Client, silent: Client, form: str, structured: str) -> None:
    """Compare what a user who declines leaves with what a missing confirmation leaves."""
    declined = await asking.call_tool("forget_entity", {"entityName": "Doomed"})
    missing = await silent.call_tool("forget_entity", {"entityName": "Doomed"})

    assert declined.is_error and missing.is_error  # noqa: PT018
    assert "declined" in text_of(declined).lower()
    assert "declined" not in text_of(missing).lower()
    assert "confirm" in text_of(missing).lower()
    if form == "compact":
        assert read_refusal(declined) == DECLINED
        assert read_refusal(missing)["err"] == "confirm"
    if form == "lines":
        assert text_of(missing) == (
            "Confirmation required. Nothing was deleted. This would forget Doomed (facts 1, "
            "relations 0). Ask the user, then call again with confirm true once the user agrees."
        )
    if structured == "full":
        assert declined.structured_content == {
            "success": False,
            "error": "Declined by the user",
            "message": "Nothing was deleted: the user did not agree",
            "fix": DECLINED["fix"],
        }
    else:
        assert declined.structured_content is None


async def test_a_no_that_comes_after_the_former_one_expired_counts(
    era: Era, settings: Callable[..., Settings], owner: psycopg.Connection
) -> None:
    now = [0.0]

    class Slow(User):
        async def __call__(self, context: object, params: ElicitRequestParams) -> ElicitResult:
            now[0] += 200
            return await super().__call__(context, params)

    user = Slow("decline")
    async with open_app(settings(embedding_provider="none")) as app:
        app.refused_deletions = RefusedDeletions(lambda: now[0])
        server = create_server(settings(), app=app)
        async with Client(server, mode=era, elicitation_callback=user) as client:
            await remember(client, "Doomed", "likes tea")
            await keep(client, "Doomed")
            now[0] += 200
            assert await keep(client, "Doomed", confirm=True) == DECLINED
            now[0] += 299
            assert await keep(client, "Doomed", confirm=True) == DECLINED
            assert count(owner, "entity") == 1
            now[0] += 301
            assert (await forget(client, "Doomed", confirm=True))["ok"]

    assert len(user.asked) == 3


def test_refusals_of_others_are_neither_found_nor_taken_back() -> None:
    refused, whole = RefusedDeletions(), Target("Doomed")
    refused.add("ada", whole)
    refused.add("ben", Target("Doomed", "likes tea"))

    refused.remove("ben", whole)

    assert refused.overlap("ada", Target("Doomed", "sings"))
    assert not refused.has_any("ben")
    assert not refused.overlap("ada", Target("Other"))
