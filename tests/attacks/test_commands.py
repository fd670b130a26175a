"""The endpoint of commands: each operation with each kind of token, and with wrong arguments."""

from collections.abc import Callable
from typing import Any

import psycopg
import pytest

from tests.attacks.site import (
    SEALED,
    SECRETS,
    Site,
    add_graphs,
    add_spaces,
    digest,
    issue,
    open_site,
)
from tests.support.http_team import bear
from textrawl.memory.commands import OPERATIONS
from textrawl.settings import Settings

pytestmark = pytest.mark.anyio

PATH = "/mcp/t/commands"
ADA = {"name": "Ada"}
SINCE = "2026-01-01T00:00:00Z"
IDS = {"ids": ["12345678"]}
WHOSE: dict[str, Any] = {"author": "ana", "since": SINCE}
READERS = {"read", "propose", "write"}
# The arguments of each operation, and the scopes of which one is enough. One that is not here fails
# the first test below: say first who may do what it does.
CALLS: dict[str, tuple[dict[str, Any], set[str]]] = {
    "identify": ({}, {"read", "propose", "write", "forget", "review", "admin"}),
    "search": ({"query": "canary"}, {"read"}),
    "explain": ({"query": "canary"}, {"read"}),
    "list_here": ({"everywhere": True}, {"read"}),
    "list_anchored": ({}, {"read"}),
    "offer_model": ({}, {"read"}),
    "describe": (ADA, {"read"}),
    "get_fact": ({"fact": "12345678-1234-4234-8234-123456789abc"}, {"read"}),
    "list_entities": ({}, {"read"}),
    "report": ({}, {"read"}),
    "find_same": ({}, {"read"}),
    "list_aliases": ({}, {"read"}),
    "list_own": ({}, {"read"}),
    "set_own": (ADA, {"read"}),
    "clear_own": ({}, {"read"}),
    "tidy": ({}, {"write", "propose"}),
    "list_proposals": ({}, READERS),
    "plan_decision": (IDS, {"review"}),
    "decide": ({**IDS, "decision": "accept"}, {"review"}),
    "list_events": ({}, {"admin"}),
    "find_cursor": ({}, {"admin"}),
    "read_events": ({"after": "0:0"}, {"admin"}),
    "list_imports": ({}, {"admin"}),
    "plan_undo": (WHOSE, {"admin"}),
    "undo": (WHOSE, {"admin"}),
    "undo_event": ({"event": 1 << 40}, {"write", "propose", "admin"}),
    "revert": ({"number": 1}, {"admin"}),
    "purge": ({}, {"admin"}),
    "set_description": ({**ADA, "text": "a countess"}, {"write"}),
    "add_alias": ({**ADA, "other": "Adah"}, {"write"}),
    "remove_alias": ({"other": "Adah"}, {"write"}),
    "merge": ({**ADA, "other": "Canary red"}, {"write"}),
    "split": ({"name": "Canary red"}, {"write"}),
    "revise": ({**ADA, "fact": "canary red", "reason": "no"}, {"write"}),
    "pin": ({**ADA, "fact": "canary red"}, {"write"}),
    "list_pins": ({}, {"read"}),
    "share": ({**ADA, "source": "red", "target": "green", "dry_run": False}, {"read"}),
    "forget": ({**ADA, "dry_run": False}, {"forget"}),
    "plan_erasure": ({"person": "Ada"}, {"admin"}),
    "erase": ({"person": "Ada"}, {"admin"}),
    "verify_receipt": ({"receipt": {"key": "x"}}, {"admin"}),
}  # fmt: skip
HELD = ("read", "propose", "write", "forget", "review", "admin", "metrics")


async def ask(
    site: Site, token: str | None, name: str, params: Any, path: str = PATH
) -> tuple[str, str]:
    """How a call ends (ok, the title of its error, or a status), and the whole answer."""
    body = {"jsonrpc": "2.0", "id": 1, "method": name, "params": params}
    headers = {"mcp-protocol-version": "2026-07-28"} | (bear(token) if token else {})
    answer = await site.http.post(f"{site.root}{path}", json=body, headers=headers)
    if answer.status_code != 200:
        return str(answer.status_code), answer.text
    error = answer.json().get("error")
    return (error["data"]["error"] if error else "ok"), answer.text


def test_the_attackers_try_each_operation() -> None:
    assert set(CALLS) == set(OPERATIONS)


async def test_a_token_runs_the_operations_of_its_scopes_and_no_other(
    owner: psycopg.Connection, settings: Callable[..., Settings]
) -> None:
    add_spaces(owner)
    async with open_site(settings()) as site:
        for held in HELD:
            alone = issue(owner, f"the {held}", "red", held)
            reader = issue(owner, f"a reader and {held}", "red", held, "read")
            before = digest(owner)
            for name, (given, scopes) in CALLS.items():
                end, answer = await ask(site, alone, name, given)
                if held not in scopes and name != "identify":
                    assert end in {"Not allowed", "Space not found"}, (held, name)
                    assert SECRETS["red"] not in answer
                if end != "ok":
                    assert digest(owner) == before, (held, name)
                both, _ = await ask(site, reader, name, given)
                assert (both != "Not allowed") == bool({held, "read"} & scopes), (held, name)
                if "ok" in {end, both}:
                    before = digest(owner)


async def test_no_operation_reaches_another_space_or_serves_nobody(
    owner: psycopg.Connection, settings: Callable[..., Settings]
) -> None:
    add_spaces(owner)
    add_graphs(owner, "red")
    token = issue(owner, "of red", "red", *(set(HELD) - {"metrics"}))
    aims = {"name": "Canary green", "query": SECRETS["green"], "other": "Canary green"}
    async with open_site(settings()) as site:
        before = digest(owner, ("space", "space_grant"))
        for name, (given, _) in CALLS.items():
            foreign = {key: aims.get(key, value) for key, value in given.items()}
            for path in (f"{PATH}/green", f"{PATH}/nowhere", f"{PATH}/red-safe"):
                assert (await ask(site, token, name, foreign, path))[0] == "Space not found"
            for path in (PATH, f"{PATH}/red"):
                _, answer = await ask(site, token, name, foreign, path)
                said = answer.replace(SECRETS["green"], "", 1) if "query" in given else answer
                assert SECRETS["green"] not in said
                assert SEALED not in said
            # Too many wrong tokens are refused before they are compared.
            assert (await ask(site, None, name, given))[0] in {"401", "429"}
            assert (await ask(site, token[:-1] + "A", name, given))[0] in {"401", "429"}
        assert digest(owner, ("space", "space_grant")) == before


async def test_wrong_arguments_are_named_and_change_nothing(
    owner: psycopg.Connection, settings: Callable[..., Settings]
) -> None:
    add_spaces(owner)
    token = issue(owner, "of red", "red", *(set(HELD) - {"metrics"}))
    junk: tuple[Any, ...] = (None, [], {}, -1, 1 << 70, "", "\0", "x" * 200_000)
    async with open_site(settings()) as site:
        before = digest(owner)
        for name, (given, _) in CALLS.items():
            end, answer = await ask(site, token, name, {**given, "credential": "x"})
            assert (end, "credential" in answer) == ("Invalid argument", True), name
            for argument in given:
                for wrong in junk:
                    if wrong is None and name == "forget":
                        continue
                    end, _ = await ask(site, token, name, {**given, argument: wrong})
                    assert end not in {"ok", "500"}, (name, argument, wrong)
        assert digest(owner) == before


async def test_a_header_names_the_repository_and_opens_nothing(
    owner: psycopg.Connection, settings: Callable[..., Settings]
) -> None:
    add_spaces(owner)
    red, green = (issue(owner, f"of {name}", name, "read", "write") for name in ("red", "green"))
    fact = {"entityName": "Deploy", "entityType": "concept", "observation": "runs on Monday"}
    search = {"mode": "search", "query": "when does the deploy run"}
    async with open_site(settings()) as site:
        found = dict[tuple[str, str], bool]()
        site.http.headers["textrawl-repository"] = "git@github.com:acme/api.git"
        assert (await site.call(red, "remember_fact", fact)).status_code == 200
        for name, token in (("red", red), ("green", green)):
            for place in (
                "https://github.com/Acme/api",
                "github.com/ben/api",
                "",
                "'; drop",
                "x" * 9,
            ):
                site.http.headers["textrawl-repository"] = place
                answer = await site.call(token, "query_memory", search)
                found[name, place] = "runs on Monday" in answer.text
                assert answer.status_code == 200
        known = {place for (name, place), is_found in found.items() if is_found and name == "red"}
        assert known == {"https://github.com/Acme/api", ""}
        assert not any(is_found for (name, _), is_found in found.items() if name == "green")
