"""Grants and tokens: administrators see and change those of their spaces, and nothing else."""

import logging
import re
from collections.abc import AsyncGenerator, Callable
from functools import partial

import anyio
import httpx2
import psycopg
import pytest

from tests.attacks.site import digest
from tests.conftest import Databases
from tests.explorer.markup import Document, Forms
from tests.explorer.visiting import Browser, Place, enrol_people
from tests.support.listening import find_port, wait_for_answer
from textrawl.access.access_token import hash_token, is_token
from textrawl.cli.commands.explore import open_owner
from textrawl.embedded.postmaster import OWNER
from textrawl.explorer.application import serve_explorer
from textrawl.settings import Settings

pytestmark = pytest.mark.anyio

_READ_AND_WRITE = {"scope-read": "1", "scope-write": "1"}


def _list_grants(place: Place, actor: str) -> list[tuple[str, list[str]]]:
    return place.owner.execute(
        "select space_name, scopes from list_grants() where actor_name = %s", (actor,)
    ).fetchall()


def _list_tokens(owner: psycopg.Connection) -> list[tuple[int, str, str]]:
    return owner.execute("select id, actor, state from list_tokens()").fetchall()


async def test_a_grant_says_what_will_change_is_made_and_taken_back(place: Place) -> None:
    given = {"actor": "dora", "space": "team"}
    async with place.browse("admin") as browser:
        await browser.get("grant", space="team")
        shown = await browser.post("grant", **given, **_READ_AND_WRITE)
        before = _list_grants(place, "dora")
        done = await browser.post("grant", **given, **_READ_AND_WRITE, confirmed="1")
        made = _list_grants(place, "dora")
        page = Document((await browser.get("grants")).text)
        asked = await browser.get("take-back", **given)
        unconfirmed = await browser.post("take-back", **given)
        kept = _list_grants(place, "dora")
        await browser.post("take-back", **given, confirmed="1")

    assert "no scopes" in shown.text
    assert "This actor loses: read, write" in asked.text
    assert (before, made) == ([], [("team", ["read", "write"])])
    assert (done.status_code, done.headers["location"]) == (303, "/explore/grants?space=team")
    assert "dora" in page.texts
    assert (unconfirmed.status_code, kept) == (400, made)
    assert _list_grants(place, "dora") == []


async def test_whoever_takes_their_own_right_is_warned(place: Place) -> None:
    given = {"actor": "admin", "space": "team"}
    async with place.browse("admin") as browser:
        shown = await browser.get("take-back", **given)
        await browser.get("grant", **given)
        lowered = await browser.post("grant", **given, **_READ_AND_WRITE)

    assert "This is your own grant" in shown.text
    assert "This is your own grant" in lowered.text


async def test_after_a_grant_the_next_page_knows_all_new_rights(place: Place) -> None:
    [(_, scopes)] = _list_grants(place, "admin")
    given = {"actor": "admin", "space": "team", **{f"scope-{scope}": "1" for scope in scopes}}
    async with place.browse("admin") as browser:
        await browser.get("grants")
        place.owner.execute("select create_space('yard')")
        place.owner.execute("select grant_access('admin', 'yard', '{read,admin}')")
        await browser.post("grant", **given, confirmed="1")
        page = await browser.get("grants", space="yard")
        await browser.post("take-back", actor="admin", space="yard", confirmed="1")
        left = await browser.get("grants", space="yard")

    assert (page.status_code, left.status_code) == (200, 404)
    assert _list_grants(place, "admin") == [("team", scopes)]


async def test_an_administrator_sees_and_changes_nothing_of_another_space(place: Place) -> None:
    place.owner.execute("select create_space('other'), grant_access('admin', 'other', '{read}')")
    place.owner.execute(
        "select create_token(sha256('x'), 'trl_other1', 'stranger', 'other', '{read}')"
    )
    before = digest(place.owner, ("space_grant", "actor"))
    async with place.browse("admin") as browser:
        pages = [(await browser.get(page)).text for page in ("grants", "tokens", "search")]
        given = {"actor": "admin", "confirmed": "1", **_READ_AND_WRITE}
        codes = [
            (await browser.post(action, **given, space=space, token="1")).status_code
            for action in ("grant", "take-back", "token", "revoke")
            for space in ("other", "nowhere", "")
        ]

    assert set(codes) <= {400, 403, 404}
    assert "stranger" not in "".join(pages)
    assert "trl_other" not in "".join(pages)
    assert digest(place.owner, ("space_grant", "actor")) == before


async def test_administrators_without_the_memory_make_and_revoke_no_tokens(place: Place) -> None:
    before = _list_tokens(place.owner)
    async with place.browse("admin") as browser:
        page = (await browser.get("tokens")).text
        given = {"actor": "eve", "space": "team", "confirmed": "1", **_READ_AND_WRITE}
        answers = [
            await browser.get("token", space="team"),
            await browser.post("token", **given),
            await browser.get("revoke", token="1", space="team"),
            await browser.post("revoke", **given, token="1"),
        ]

    assert "Only the owner of the memory makes and revokes tokens" in page
    assert [answer.status_code for answer in answers] == [403] * 4
    assert _list_tokens(place.owner) == before


async def test_nobody_else_sees_grants_or_tokens(place: Place) -> None:
    async with place.browse("writer") as browser:
        search = (await browser.get("search")).text
        codes = [
            (await browser.get(page, space="team", actor="ana")).status_code
            for page in ("grants", "grant", "take-back", "tokens", "token", "revoke")
        ]

    assert set(codes) == {403}
    assert "/explore/grants" not in search


@pytest.fixture
async def own_browser(
    settings: Callable[..., Settings], owner: psycopg.Connection, postgres: Databases, database: str
) -> AsyncGenerator[Browser]:
    """The browser of the owner, who followed the link of `textrawl explore`."""
    enrol_people(owner)
    url, port = postgres.cluster.dsn(OWNER, database), find_port()
    given = settings(embedding_provider="none", database_url=url, access_token=None)
    links: list[str] = []
    async with anyio.create_task_group() as group, httpx2.AsyncClient(timeout=30) as http:
        group.start_soon(serve_explorer, given, port, links.append, partial(open_owner, given))
        root = f"http://127.0.0.1:{port}"
        await wait_for_answer(f"{root}/explore/sign-in")
        code = links[0].partition("?code=")[2]
        browser = Browser(root, http, links=links)
        await browser.get("sign-in", code=code)
        assert (await browser.post("sign-in", code=code)).status_code == 303
        yield browser
        group.cancel_scope.cancel()


async def test_on_the_own_machine_a_new_link_leads_back_to_the_filled_form(
    own_browser: Browser,
) -> None:
    """Nobody has to start the command again, which would lose the form."""
    await own_browser.get("token", space="team")
    typed = {"actor": "dora", "space": "team", "days": "soon", "scope-write": "1"}
    refused = Forms((await own_browser.post("token", **typed)).text).find("token")
    own_browser.http.cookies.clear()
    asked = await own_browser.follow(await own_browser.post("token", **typed | {"days": "7"}))
    link = await own_browser.http.get(own_browser.links[-1])
    entered = await own_browser.send("sign-in", Forms(link.text).find("sign-in"))
    back = Forms((await own_browser.follow(entered)).text).find("token")
    pages = [await own_browser.get("sign-in") for _ in range(20)]

    assert {name: refused[name] for name in typed} == typed
    assert "is kept: sign in" in asked.text
    assert {name: back[name] for name in typed} == typed | {"days": "7"}
    assert (len(own_browser.links) < 10, {page.status_code for page in pages}) == (True, {200})


async def _make_token(browser: Browser) -> tuple[str, dict[str, str], list[str]]:
    """Return a new token, the form that made it, and the texts of the page before."""
    given = {"actor": "dora", "space": "team", "days": "30", **_READ_AND_WRITE}
    await browser.get("token", space="team")
    shown = Document((await browser.post("token", **given)).text)
    form = {key: value for key, value in shown.fields.items() if key != "form_token"}
    answer = await browser.post("token", **form)
    assert answer.headers["cache-control"] == "no-store"
    [found] = {word for word in re.findall(r"trl_\w+", answer.text) if is_token(word)}
    return found, form, shown.texts


async def test_the_owner_makes_a_token_which_is_shown_once_and_only_there(
    own_browser: Browser, owner: psycopg.Connection, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    token, form, texts = await _make_token(own_browser)
    again = await own_browser.post("token", **form)
    pages = [(await own_browser.get(page)).text for page in ("tokens", "trail", "grants")]

    assert any("expires in 30 days" in text for text in texts)
    assert again.status_code == 409
    assert token not in "".join([*pages, again.text, caplog.text])
    assert token[:10] in pages[0]
    assert token not in str(owner.execute("select row_to_json(t)::text from event t").fetchall())
    [(scopes,)] = owner.execute(
        "select spaces -> 0 -> 'scopes' from authenticate(%s)", (hash_token(token),)
    ).fetchall()
    assert sorted(scopes) == ["read", "write"]
    assert [row[1] for row in _list_tokens(owner)].count("dora") == 1


async def test_a_token_whose_end_is_not_clear_is_not_made(
    own_browser: Browser, owner: psycopg.Connection
) -> None:
    before = _list_tokens(owner)
    given = {"actor": "dora", "space": "team", **_READ_AND_WRITE}
    await own_browser.get("token", space="team")
    answers = [
        await own_browser.post("token", **given, days=days, **step)
        for days in ("", " ", "30 d", "-1", "1e2", "2.5", "3651", "9" * 40, "٣", "never")
        for step in ({}, {"confirmed": "1"})
    ]
    never = Document((await own_browser.post("token", **given, days="0")).text)

    assert {answer.status_code for answer in answers} == {400}
    assert all("from 1 to 3,650, or 0" in answer.text for answer in answers)
    assert "never expires" in never.text
    assert _list_tokens(owner) == before


async def test_the_owner_revokes_a_token(own_browser: Browser, owner: psycopg.Connection) -> None:
    [(number,)] = owner.execute(
        "select t.id::text from token t join actor a on a.id = actor_id where a.name = 'reader'"
    ).fetchall()
    given = {"token": number, "space": "team"}
    asked = await own_browser.get("revoke", **given)
    unconfirmed = await own_browser.post("revoke", **given)
    await own_browser.post("revoke", **given, confirmed="1")
    tokens = Document((await own_browser.get("tokens")).text)
    again = await own_browser.post("revoke", **given, confirmed="1")

    assert "reader" in asked.text
    assert (unconfirmed.status_code, again.status_code) == (400, 400)
    assert "revoked" in tokens.text
    assert tokens.faults == []
