"""forget_entity: who must agree, whose no counts, what goes, and what stays of it."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from itertools import product
from typing import Any, Literal

import psycopg
import pytest
from mcp import Client
from mcp.types import ElicitRequestParams, ElicitResult, Implementation

from tests.attacks.site import issue
from tests.conftest import ACTOR, Connect, Era
from tests.support.commands import serve_over_stdio
from tests.support.listening import listen
from tests.support.tool_calls import (
    ask,
    count,
    forget,
    keep,
    read,
    read_refusal,
    read_tables,
    refuse,
    relate,
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
    """A person who answers one question after the other, the last answer again and again.

    `content` comes with a yes, and `asked` keeps the questions.
    """

    def __init__(self, *actions: Action, content: Any = None) -> None:
        self.actions = actions
        self.content: Any = content or {"confirm": True}
        self.asked: list[str] = []

    async def __call__(self, context: object, params: ElicitRequestParams) -> ElicitResult:
        action = self.actions[min(len(self.asked), len(self.actions) - 1)]
        self.asked.append(params.message)
        return ElicitResult(action=action, content=self.content if action == "accept" else None)


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


async def fill(client: Client) -> None:
    await remember(client, "Jeff", "likes tea")
    await remember(client, "Jeff", "lives in Oslo")
    await remember(client, "Ada", "likes coffee")
    await relate(client, "Jeff", "works_at", "Acme")
    await relate(client, "Ada", "manages", "Jeff")
    await relate(client, "Ada", "works_at", "Acme")


async def test_an_entity_goes_with_its_facts_vectors_and_relations_both_ways(
    client: Client, owner: psycopg.Connection
) -> None:
    await fill(client)

    assert (await forget(client, "jeff", confirm=True))["ok"]

    assert await ask(client, entityName="Jeff") == {"found": False}
    assert (count(owner, "fact"), count(owner, "relation")) == (1, 1)
    assert count(owner, "embedding_1") == count(owner, "observation") == 2  # one is a statement
    assert "r" in await ask(client, entityName="Ada")
    found = await ask(client, query="tea")
    assert [entity["n"] for entity in found["e"]] in ([], ["Ada"])


async def test_pending_work_goes_too(connect: Connect, era: Era, owner: psycopg.Connection) -> None:
    await fill(await connect(era))  # registers the model of the local embedder
    client = await connect(era, embedding_provider="none")
    await remember(client, "Later", "waits for a vector")
    assert count(owner, "embedding_pending") == 1

    await forget(client, "Later", confirm=True)

    assert count(owner, "embedding_pending") == 0


async def test_what_remains_is_a_trail_without_content(
    client: Client, owner: psycopg.Connection
) -> None:
    await remember(client, "Zaphod", "has a secretword")
    await relate(client, "Zaphod", "owns", "Ship")

    await forget(client, "Zaphod", confirm=True)

    everything = str(read_tables(owner)).lower()
    assert "secretword" not in everything
    assert "zaphod" not in everything
    [row] = owner.execute(
        "select entity_id is not null, detail from event where action = 'forgotten'"
    ).fetchall()
    assert row == (True, {"facts": 1, "relations": 1})


async def test_one_fact_can_be_forgotten(client: Client) -> None:
    for kind in ("prefix", "id", "text"):
        await fill(client)
        shown = await client.call_tool("query_memory", {"entityName": "Jeff"})
        reply: Any = shown.structured_content
        whole = next(o["id"] for o in reply["observations"] if o["content"] == "likes tea")
        reference = {"prefix": whole[:8], "id": whole, "text": "Likes tea."}[kind]

        answer = await forget(client, "Jeff", fact=reference, confirm=True)

        assert answer == {"ok": True, "obs": whole[:8]}, kind
        left = await ask(client, entityName="Jeff")
        assert left["o"] == ["lives in Oslo"]
        assert left["r"] == {"out": ["works_at→Acme"], "in": ["Ada→manages"]}


async def test_a_fact_that_is_not_there_is_an_error_and_nothing_goes(
    client: Client, owner: psycopg.Connection
) -> None:
    await fill(client)
    before = read_tables(owner)

    title, fix = await refuse(
        client, "forget_entity", entityName="Jeff", fact="likes coffee", confirm=True
    )

    assert (title, fix.split(":")[0]) == ("Fact not found", "fact")
    assert read_tables(owner) == before


async def test_documents_of_the_name_that_the_caller_can_read_are_named_before_and_after(
    client: Client, owner: psycopg.Connection
) -> None:
    store = "select store_source(%s, 'clip/' || %s, %s, 'Tea 1', '[[1, 0, 5, 5]]', repeat(%s, 64))"
    owner.execute("select create_space('handbook', tier => 'personal')")
    owner.execute("select create_space('foreign', tier => 'personal')")
    owner.execute("select grant_access(%s, 'handbook', '{read}')", (ACTOR,))
    await fill(client)
    sources = (("handbook", "jeff"), ("handbook", "Jeff Smith"), ("foreign", "Jeff"))
    for number, (graph, label) in enumerate(sources):
        owner.execute(store, (graph, label, label, str(number)))
    named = {"docs": ["handbook: jeff"]}

    plan = await forget(client, "Jeff", dryRun=True)
    fact = await forget(client, "Jeff", dryRun=True, fact="likes tea")
    refused = await keep(client, "Jeff")
    done = await forget(client, "Jeff", confirm=True)

    assert plan.items() >= named.items()
    assert "docs" not in fact
    assert "; documents of this name stay: handbook: jeff" in refused["fix"]
    assert done.items() >= named.items()
    assert owner.execute("select count(*) from document").fetchall() == [(3,)]


async def test_a_dry_run_counts_and_deletes_nothing(
    client: Client, owner: psycopg.Connection
) -> None:
    await fill(client)
    for number in range(4):
        await remember(client, "Jeff", f"owns boat {number}")
    before = read_tables(owner)

    whole = await client.call_tool("forget_entity", {"entityName": "Jeff", "dryRun": True})
    one = await forget(client, "Jeff", dryRun=True, confirm=True, fact="likes tea")

    sample = ["owns boat 3", "owns boat 2", "owns boat 1"]
    assert read(whole) == {"ok": True, "dry": True, "facts": 6, "rel": 2, "sample": sample}
    assert whole.structured_content == {
        "success": True,
        "message": "Would forget Jeff (facts 6, relations 2); nothing was deleted",
        "dryRun": True,
        "facts": 6,
        "relations": 2,
        "sample": sample,
    }
    assert one == {"ok": True, "dry": True, "facts": 1, "rel": 0, "sample": ["likes tea"]}
    assert await keep(client, "Nobody", dryRun=True) == {"ok": False, "err": "not_found"}
    assert read_tables(owner) == before


async def test_without_a_confirmation_nothing_goes(
    client: Client, owner: psycopg.Connection
) -> None:
    await fill(client)
    before = read_tables(owner)
    asks = "This would forget Jeff (facts 2, relations 2). Ask the user"

    for confirm in (False, "false", None, "null"):
        refused = await keep(client, "Jeff", confirm=confirm)
        unknown = await keep(client, "Jef", confirm=confirm)

        assert refused["err"] == "confirm", confirm
        assert refused["fix"].startswith(asks)
        assert unknown == {"ok": False, "err": "not_found", "fix": "Did you mean Jeff?"}
    assert read_tables(owner) == before


async def test_a_user_who_agrees_is_asked_once_and_told_how_much_goes(
    connect: Connect, era: Era
) -> None:
    user = User("accept")
    client = await connect(era, callback=user)
    await fill(client)

    assert (await forget(client, "jeff"))["ok"]

    assert user.asked == ["Forget Jeff (facts 2, relations 2)? This cannot be undone."]
    assert await ask(client, entityName="Jeff") == {"found": False}


async def test_a_user_is_asked_about_one_fact(connect: Connect, era: Era) -> None:
    user = User("accept")
    client = await connect(era, callback=user)
    await fill(client)

    await forget(client, "Jeff", fact="likes tea")

    assert user.asked == ["Forget one fact about Jeff? This cannot be undone."]
    assert (await ask(client, entityName="Jeff"))["o"] == ["lives in Oslo"]


async def test_a_user_who_does_not_agree_keeps_everything(
    connect: Connect, era: Era, owner: psycopg.Connection
) -> None:
    await fill(await connect(era))
    before = read_tables(owner)

    for user in (User("decline"), User("cancel"), User("accept", content={"confirm": False})):
        client = await connect(era, callback=user)
        assert (await keep(client, "Jeff"))["err"] == "declined"
        assert user.asked
    assert read_tables(owner) == before


async def test_a_caller_who_may_not_read_is_told_what_to_do_and_nothing_else(
    connect: Connect, owner: psycopg.Connection
) -> None:
    client = await connect(access_token=issue(owner, "eve", "default", "forget"))

    assert await keep(client, "Jeff") == {
        "ok": False,
        "err": "confirm",
        "fix": "Ask the user, then call again with confirm true once the user agrees",
    }


async def test_a_user_is_not_asked_where_there_is_nothing_to_ask(
    connect: Connect, era: Era
) -> None:
    user = User("accept")
    client = await connect(era, callback=user)
    await fill(client)

    assert await keep(client, "Nobody") == {"ok": False, "err": "not_found"}
    assert (await forget(client, "Jeff", dryRun=True))["dry"]
    assert (await keep(client, "Jeff", confirm=False))["err"] == "confirm"
    assert (await forget(client, "Jeff", confirm=True))["ok"]
    assert user.asked == []


async def test_an_answer_that_is_no_answer_deletes_nothing(
    connect: Connect, era: Era, owner: psycopg.Connection
) -> None:
    client = await connect(era, callback=User("accept", content={"confirm": "perhaps"}))
    await fill(client)
    before = read_tables(owner)

    title, fix = await refuse(client, "forget_entity", entityName="Jeff")

    assert title
    assert "confirm" in fix
    assert read_tables(owner) == before
