"""Invitations: a role and a token for somebody, and who is connected."""

import re

import psycopg
import pytest

from tests.explorer.markup import Document
from tests.explorer.test_grants_page import own_browser
from tests.explorer.visiting import Browser, Place
from textrawl.access.access_token import hash_token, is_token

__all__ = ["own_browser"]
pytestmark = pytest.mark.anyio


async def test_an_invitation_is_a_name_a_role_and_a_token_with_its_lines_shown_once(
    own_browser: Browser, owner: psycopg.Connection
) -> None:
    offered = Document((await own_browser.get("clients")).text)
    shown = await own_browser.post(
        "token", actor="dora", space="team", role="writer", days="30", **{"scope-admin": "1"}
    )
    made = await own_browser.press(shown, "token")
    again = await own_browser.press(shown, "token")
    [token] = {word for word in re.findall(r"trl_\w+", made.text) if is_token(word)}
    [(spaces,)] = owner.execute(
        "select spaces from authenticate(%s)", (hash_token(token),)
    ).fetchall()

    assert "Invite somebody" in offered.prose
    assert [(each["name"], sorted(each["scopes"])) for each in spaces] == [
        ("team", ["forget", "read", "write"])
    ]
    assert "textrawl connect claude-code --url https://memory.example.com/mcp" in made.text
    assert "The address is an example" in made.text
    assert again.status_code == 409


async def test_an_administrator_of_a_server_grants_a_role_and_is_told_who_makes_the_token(
    place: Place,
) -> None:
    async with place.browse("admin") as browser:
        asked = await browser.get("grant", space="team")
        shown = await browser.post("grant", actor="dora", space="team", role="reviewer")
        done = await browser.follow(await browser.press(shown, "grant"))
        known = await browser.post(
            "grant", actor="reader", space="team", role="reader", confirmed="1"
        )
        kept = await browser.follow(known)
    granted = place.owner.execute(
        "select scopes from list_grants() where actor_name = 'dora'"
    ).fetchall()

    assert 'value="reader" checked' in asked.text
    assert granted == [(["read", "write", "forget", "review"],)]
    command = "textrawl token create --actor dora --space team --scope read,write,forget,review"
    assert f"If dora has no token yet, the owner of the memory makes one with: {command}" in (
        Document(done.text).prose
    )
    assert "textrawl token create" not in kept.text


async def test_a_client_is_named_with_what_it_wrote_and_recalled_in_spaces_that_one_reads(
    place: Place,
) -> None:
    place.owner.execute("select create_space('hidden')")
    for space, client in (("team", "claude-code 2.1"), ("hidden", "secret-client 1")):
        place.owner.execute(
            "select remember_fact('Ada', 'person', 'likes tea', client => %s,"
            " space => (select id from space where name = %s))",
            (client, space),
        )
    place.owner.execute(
        "insert into recall (space_id, at, actor_id, client, mode, facts, format, structured,"
        " tokens, budget, items, dropped) select s.id, now(), a.id, 'codex 1.0', 'search',"
        " array(select id from observation o where o.space_id = s.id), 'lean', false, 120, 800, 1,"
        " 0 from space s, actor a where s.name = 'team' and a.name = 'reader'"
    )
    async with place.browse("reader") as browser:
        page = Document((await browser.get("clients")).text)
        rows = (await browser.get("clients", **{"as": "json"})).json()

    found = {row["client"]: (row["facts"], row["answers"], row["recalled"]) for row in rows}
    assert found == {"claude-code 2.1": (1, 0, 0), "codex 1.0": (0, 1, 1)}
    assert "claude-code 2.1" in page.prose
    assert "Invite somebody" not in page.prose
    assert page.faults == []
