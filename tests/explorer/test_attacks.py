"""Attacks on every page and every action of the explorer. None may change or show anything."""

import re
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import LiteralString
from uuid import uuid4

import httpx2
import psycopg
import pytest
from psycopg import sql
from tenacity import AsyncRetrying, stop_after_delay, wait_fixed

import textrawl.explorer
from tests.explorer.markup import PAYLOADS, Document
from tests.explorer.siege import (
    ACTIONS,
    FOR_ALL,
    HIDDEN,
    OWNER_ONLY,
    PAGES,
    PERMITTED,
    Form,
    Material,
    Siege,
    Tally,
    compare,
)
from tests.explorer.visiting import Browser, open_place
from textrawl.access.access_token import hash_token
from textrawl.settings import Settings
from textrawl.values.text import clean_name

pytestmark = pytest.mark.anyio
RARE = (pytest.mark.slow, pytest.mark.release)
share = pytest.mark.parametrize(
    "step", [59, pytest.param(5, marks=pytest.mark.slow), pytest.param(1, marks=RARE)]
)
"""The default run and the slow one try some of the attacks, in steps; a release tries all."""


@pytest.mark.ordinary("these spaces are in different cells")
async def test_whoever_has_all_rights_succeeds_with_each_action(siege: Siege) -> None:
    """Otherwise the attacks below would prove nothing."""
    assert set(siege.team.valid) == set(ACTIONS)
    idle: list[str] = []
    async with siege.browse("boss") as browser:
        for action, valid in siege.team.valid.items():
            form = {"space": "team", **valid}
            if action in PAGES:  # some forms name the plan that is confirmed
                shown = Document((await browser.get(action, **form)).text)
                form |= {"planned": shown.fields.get("planned", "")}
            before = siege.look()
            answer = await browser.post(action, **form)
            if (siege.look() == before) != (action in {*OWNER_ONLY, *FOR_ALL}):
                idle.append(f"{action}: {answer.status_code}")

    assert idle == []


def test_every_parameter_is_attacked() -> None:
    folder = Path(textrawl.explorer.__file__).parent
    modules = [*folder.glob("*_page*.py"), folder / "changes.py"]
    source = "".join(path.read_text(encoding="utf-8") for path in modules)
    named = re.findall(r"""(?:\.read|\.get|getlist)\("([a-z_]+)"[,)]""", source)
    assert {"q", "author", "ids"} <= set(named)
    assert set(named) - set(Material("", "", "", "", "", "", "", "").parameters) == set()


def _list_forgeries(root: str, own: str, other: str) -> dict[str, tuple[dict[str, str], str]]:
    """Headers and the form token of forms that our pages did not send."""
    port = root.rpartition(":")[2]
    return {
        "no token": ({}, ""),
        "another token": ({}, other),
        "a longer token": ({}, f"{own}x"),
        "another site": ({"origin": "https://evil.example"}, own),
        "no page": ({"origin": "null"}, own),
        "another port": ({"origin": "http://127.0.0.1:1"}, own),
        "another name": ({"origin": f"http://localhost:{port}"}, own),
        "a longer name": ({"origin": f"{root}.evil.example"}, own),
        "no origin": ({"origin": ""}, own),
        "cross-site": ({"sec-fetch-site": "cross-site"}, own),
        "same-site": ({"sec-fetch-site": "same-site"}, own),
        "plain text": ({"content-type": "text/plain"}, own),
        "JSON": ({"content-type": "application/json"}, own),
        "multipart": ({"content-type": "multipart/form-data; boundary=x"}, own),
    }


@share
async def test_no_forged_form_does_anything(siege: Siege, step: int) -> None:
    tally, before = Tally(), siege.look()
    async with siege.browse("boss") as browser, siege.browse("looker") as other:
        root, own = siege.place.root, browser.form_token
        forgeries = _list_forgeries(root, own, other.form_token)
        for (name, (headers, token)), action in list(product(forgeries.items(), ACTIONS))[::step]:
            if (name, action) == ("multipart", "upload"):
                continue
            form = {"space": "team", **siege.team.valid[action], "form_token": token}
            answer = await browser.send(action, form, headers)
            tally.check(f"{action}, {name}: {answer.status_code}", holds=answer.status_code == 403)
        for action in list(ACTIONS):
            form = {"space": "team", **siege.team.valid[action], "form_token": own}
            for method in ("GET", "HEAD", "PUT", "DELETE", "PATCH"):
                address = f"{root}/explore/{action}"
                code = (await browser.http.request(method, address, params=form)).status_code
                tally.check(f"{method} {action}: {code}", holds=code < 500)
        tally.check("a session ended", holds=(await browser.get("search")).status_code == 200)
    tally.check(f"changed: {siege.find_changes(before)}", holds=siege.look() == before)
    tally.report("forged forms")


@share
async def test_nobody_does_more_than_their_token_allows(siege: Siege, step: int) -> None:
    tally = Tally()
    people = sorted(set(siege.tokens) - {"boss"})
    attempts = list(product(people, sorted(ACTIONS), ("team", "", "hidden", "absent")))
    for person in people:
        before = siege.look()
        async with siege.browse(person) as browser:
            for who, action, space in attempts[::step]:
                if (
                    who != person
                    or action in FOR_ALL
                    or (person == "stranger" and space in ("hidden", ""))
                    or (action in PERMITTED.get(person, ()) and space in ("team", ""))
                ):
                    continue
                answer = await browser.post(action, **siege.team.valid[action] | {"space": space})
                code = answer.status_code
                what = f"{person}, {action} in {space!r}: {code}"
                tally.check(what, holds=code in {400, 403, 404} and HIDDEN[1] not in answer.text)
        changes = siege.find_changes(before)
        tally.check(f"{person} changed {changes}", holds=not changes)
    tally.report("actions without the right")


def _list_guesses(siege: Siege) -> list[tuple[str, str, str]]:
    """Each parameter with something that another space has, and something that nobody has."""
    hidden, names = (
        siege.hidden,
        ("name", "names", "alias", "other", "entity", "q", "actor", "author"),
    )
    return [
        # Both have one token, since a page of a search says how many its answer has.
        *((name, HIDDEN[0], "Fault") for name in names),
        *((name, HIDDEN[2], "hidez") for name in ("actor", "author", "name")),
        ("fact", hidden.fact, str(uuid4())),
        ("fact", HIDDEN[1], "hides golz"),
        ("id", hidden.proposal, str(uuid4())),
        ("ids", hidden.proposal, str(uuid4())),
        ("id", hidden.proposal[:8], "00000000"),
        ("undo", hidden.undo, "999999"),
        ("one", hidden.fact, str(uuid4())),
        *((name, hidden.pair, f"{uuid4()}/{uuid4()}") for name in ("pair", "pairs")),
        ("event", hidden.event, "999999"),
        ("token", hidden.token, "999999"),
        *((name, "hidden", "absent") for name in ("space", "source", "target", "spaces")),
    ]


_DOCUMENTED = {("undo", "author")}  # docs/security.md, names of authors


@share
async def test_what_another_space_holds_is_answered_like_what_does_not_exist(
    siege: Siege, step: int
) -> None:
    tally, before = Tally(), siege.look()
    given = {"space": "team", **siege.team.parameters}
    tried = [
        (page, kind, *guess)
        for guess in _list_guesses(siege)
        for page, kind in [*((p, "get") for p in PAGES), *((a, "post") for a in ACTIONS)]
        if kind == "get" or guess[0] in siege.team.valid[page]
        if (page, guess[0]) not in _DOCUMENTED
    ]
    for person in ("boss", "looker"):
        async with siege.browse(person) as browser:
            for page, kind, name, held, absent in tried[::step]:
                form = {**given, **(siege.team.valid.get(page, {}) if kind == "post" else {})}
                form.pop("confirmed", None)
                answers = [
                    await _ask(browser, kind, page, {**form, name: t}) for t in (held, absent)
                ]
                said = [compare(answer, held, absent) for answer in answers]
                what = f"{person}: {kind} {page} with {name}={held}: {said[0][0]}, {said[1][0]}"
                tally.check(what, holds=said[0] == said[1] and said[0][0] < 500)
    tally.check(f"changed: {siege.find_changes(before)}", holds=siege.look() == before)
    tally.report("guesses of what another space holds")


async def _ask(browser: Browser, kind: str, page: str, form: dict[str, str]) -> httpx2.Response:
    return await (browser.get(page, **form) if kind == "get" else browser.post(page, **form))


@pytest.mark.parametrize(
    "ending",
    [
        "revoked_at",
        "signed out",
        pytest.param("expires_at", marks=pytest.mark.slow),
        pytest.param("no session", marks=pytest.mark.slow),
    ],
)
async def test_without_a_living_session_every_page_asks_to_sign_in(
    siege: Siege, ending: str
) -> None:
    tally = Tally()
    async with siege.browse("boss") as browser:
        if ending == "signed out":
            stolen = {cookie.name: cookie.value or "" for cookie in browser.http.cookies.jar}
            await browser.post("sign-out")
            for name, value in stolen.items():
                browser.http.cookies.set(name, value, domain="127.0.0.1", path="/explore")
        elif ending == "no session":
            browser.http.cookies.clear()
        else:
            statement = sql.SQL("update token set {} = now() where hash is not null")
            siege.place.owner.execute(statement.format(sql.Identifier(ending)))
        async for attempt in AsyncRetrying(stop=stop_after_delay(60), wait=wait_fixed(0.1)):
            with attempt:  # principals are cached for a second
                assert (await browser.get("search")).status_code == 303
        before = siege.look()
        for page in PAGES:
            answer = await browser.get(page, **siege.team.parameters)
            leads = answer.headers.get("location", "").startswith("/explore/sign-in?next=")
            tally.check(f"{page}: {answer.status_code}", holds=leads)
        for action, form in siege.team.valid.items():
            answer = await browser.post(action, **{"space": "team", **form})
            leads = answer.headers.get("location", "").startswith("/explore/sign-in?next=")
            tally.check(f"{action}: {answer.status_code}", holds=leads)
    tally.check(f"changed: {siege.find_changes(before)}", holds=siege.look() == before)
    tally.report(f"requests of a session that is over ({ending})")


_ALWAYS = {
    "x-frame-options": "DENY",
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
}


async def test_every_answer_forbids_frames_caches_and_foreign_scripts(siege: Siege) -> None:
    tally = Tally()
    root = f"{siege.place.root}/explore"
    async with siege.browse("boss") as browser:
        answers = [await browser.get(page, **siege.team.parameters) for page in PAGES]
        answers += [await browser.post(action, form_token="") for action in ACTIONS]
        answers += [await browser.get(page) for page in ("", "nowhere", "static/x/y.js", "sign-in")]
        answers += [
            await browser.http.request("PUT", f"{root}/search"),
            await browser.get("entity", name="", as_of="never"),
            await browser.http.get(f"{root}/search", headers={"host": "evil.example"}),
            await browser.http.get(f"{root}/search", headers={"origin": "https://evil.example"}),
            await browser.http.post(f"{root}/correct", content=b"x" * 2_000_000),
        ]
    for answer in answers:
        what = f"{answer.request.method} {answer.request.url.path}: {answer.status_code}"
        policy = set(answer.headers.get("content-security-policy", "").split("; "))
        safe = {"default-src 'none'", "frame-ancestors 'none'"} <= policy
        if answer.headers.get("content-type", "").startswith("text/html"):
            safe = safe and {"form-action 'self'", "script-src 'self'"} <= policy
        missing = [name for name, value in _ALWAYS.items() if answer.headers.get(name) != value]
        tally.check(f"{what} without {missing}", holds=safe and not missing)
        tally.check(what, holds="access-control-allow-origin" not in answer.headers)
    tally.report("answers without a protecting header")


async def test_cookies_are_bound_to_this_host_and_to_https_beyond_this_machine(
    settings: Callable[..., Settings], owner: psycopg.Connection
) -> None:
    given = settings(embedding_provider="none", public_url="https://memory.example.com")
    async with open_place(given, owner) as place, place.browse() as browser:
        browser.http.headers["host"] = "memory.example.com"
        await browser.get("sign-in")
        browser.http.headers["cookie"] = ""
        form = {"form_token": browser.form_token, "token": place.tokens["reader"]}
        cookie = next(iter(browser.http.cookies.jar))
        headers = {
            "origin": "https://memory.example.com", "cookie": f"{cookie.name}={cookie.value}"
        }  # fmt: skip
        answer = await browser.send("sign-in", form, headers)
        plain = await browser.send(
            "sign-in", form, {**headers, "origin": "http://memory.example.com"}
        )

    sent = answer.headers.get_list("set-cookie")
    assert answer.status_code == 303
    assert len(sent) == 2
    for cookie in sent:
        assert cookie.startswith("__Secure-textrawl-")
        assert {"HttpOnly", "Path=/explore", "SameSite=strict", "Secure"} <= set(cookie.split("; "))
        assert "domain" not in cookie.lower()
    assert plain.status_code == 403


@share
async def test_no_name_of_a_host_is_believed(siege: Siege, step: int) -> None:
    tally = Tally()
    port = siege.place.root.rpartition(":")[2]
    hosts = (
        "evil.example", f"127.0.0.1:{port}.evil.example", "127.0.0.1:evil", "127.0.0.1@evil.org",
        f"127.0.0.1:{port}, evil.example", "127.0.0.1:99999", "", "evil.example:80", "[::1].evil",
    )  # fmt: skip
    tricks = ("x-forwarded-host", "x-host", "x-original-url", "x-rewrite-url", "forwarded")
    async with siege.browse("looker") as browser:
        for page, host in list(product(PAGES, hosts))[::step]:
            address = f"{siege.place.root}/explore/{page}"
            answer = await browser.http.get(address, headers={"host": host})
            wrong = answer.status_code in {400, 421} and "evil" not in answer.text
            tally.check(f"{page} at {host}: {answer.status_code}", holds=wrong)
        for page, trick in list(product(PAGES, tricks))[::step]:
            address = f"{siege.place.root}/explore/{page}"
            answer = await browser.http.get(address, headers={trick: "evil.example/x"})
            holds = "evil" not in answer.text + answer.headers.get("location", "")
            tally.check(f"{page} with {trick}", holds=holds)
    tally.report("false names of hosts")


_ODD = (
    "%00", "Ada%00", "%ED%A0%80", "%FF%FE", "%C0%AF", "%F4%90%80%80", "%E2%80%AE", "%0D%0Ax:+y",
    "a" * 3000, "%F0%9F%98%80" * 300, "-1", "0", "9" * 40, "1e309", "NaN", "infinity", "-infinity",
    "%D9%A3", "0001-01-01", "9999-12-31", "99999-12-31", "0001-01-01T00:00:00%2B23:59",
    "9999-12-31T23:59:59-23:59", "2026-02-30", "now", "%27%3B+drop+table+entity%3B--", "%25", "%5C",
    "null", "None", "[]", "%7B%7D", "..%2F..%2Fetc", "+", "",
)  # fmt: skip


@share
async def test_no_odd_value_breaks_a_page(siege: Siege, step: int) -> None:
    tally, before = Tally(), siege.look()
    given = siege.team.parameters
    tried = [
        (page, kind, name, odd)
        for page, kind in [*((p, "get") for p in PAGES), *((a, "post") for a in ACTIONS)]
        for name in given
        for odd in _ODD
        if name != "confirmed" and (kind == "get" or name in siege.team.valid[page])
    ]
    async with siege.browse("boss") as browser:
        for page, kind, name, odd in tried[:: step * 9]:
            rest = {k: v for k, v in given.items() if k not in {name, "confirmed"}}
            query = f"{httpx2.QueryParams(rest)}&{name}={odd}"
            code = await _send_raw(browser, kind, page, query)
            what = f"{kind} {page} {name}={odd[:40]}: {code}"
            tally.check(what, holds=code < 500)
    changed = {t for t, rows in siege.look().items() if rows != before[t]}
    tally.check(f"the memory changed: {changed}", holds=not changed - {"undo", "undone", "event"})
    tally.report("odd values")


async def _send_raw(browser: Browser, kind: str, page: str, query: str) -> int:
    address = f"{browser.root}/explore/{page}"
    if kind == "get":
        return (await browser.http.get(f"{address}?{query}")).status_code
    headers = {
        "origin": browser.root,
        "content-type": "application/x-www-form-urlencoded",
    }
    body = f"{query}&form_token={browser.form_token}"
    return (await browser.http.post(address, content=body, headers=headers)).status_code


_STORE: tuple[LiteralString, ...] = (
    "select remember_fact(%(p)s, 'person', %(p)s, credential => %(boss)s, client => %(p)s)",
    "select relate_entities(%(p)s, %(p)s, 'Ada', credential => %(boss)s, client => %(p)s)",
    "select name_entity(%(p)s, %(p)s || ' alias', credential => %(boss)s)",
    "select remember_fact('Ada', 'person', %(p)s || ' once', credential => %(boss)s)",
    "select revise_fact('Ada', %(p)s || ' once', %(p)s, %(p)s || ' now', credential => %(boss)s)",
    "select create_token(%(own)s, %(prefix)s, %(p)s, 'team', '{read,propose}')",
    "select remember_fact(%(p)s, 'person', %(p)s || ' proposed', credential => %(own)s)",
)


def _store(siege: Siege, payload: str) -> Form:
    """Store a text wherever texts are stored. Return the parameters that lead to it."""
    name, owner = clean_name(payload), siege.place.owner
    boss, own = hash_token(siege.tokens["boss"]), hash_token(payload)
    for statement in _STORE:
        given = {"p": name, "boss": boss, "own": own, "prefix": f"trl_{payload[:12]}"}
        owner.execute(statement, given)
    [(fact, proposal)] = owner.execute(
        "select (select id::text from observation where content = %(p)s limit 1),"
        " (select id::text from proposal where content = %(p)s || ' proposed')",
        {"p": name},
    ).fetchall()
    return {
        **dict.fromkeys(("name", "q", "actor", "author", "reason", "text"), name),
        "alias": f"{name} alias", "fact": fact, "id": proposal, "ids": proposal, "other": "Ada",
        **dict.fromkeys(("entity", "as_of", "known_at", "action", "before", "until", "type"), ""),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("first", "step"),
    [(0, 300), pytest.param(0, 26, marks=pytest.mark.slow), pytest.param(0, 1, marks=RARE)],
)
async def test_no_stored_or_typed_text_becomes_markup_on_any_page(
    siege: Siege, first: int, step: int
) -> None:
    tally, seen = Tally(), set[str]()
    for payload in PAYLOADS[first::step]:
        found = siege.team.parameters | _store(siege, payload)
        async with siege.browse("boss") as browser:
            for page, kind in [*((p, "get") for p in PAGES), *((a, "post") for a in ACTIONS)]:
                if page == "sign-out":
                    continue
                form = found if kind == "get" else {**siege.team.valid[page], **found}
                form = {k: v for k, v in form.items() if k != "confirmed"}
                answer = await _ask(browser, kind, page, form)
                faults = Document(answer.text).faults
                what = f"{kind} {page} with {payload}: {answer.status_code} {faults}"
                tally.check(what, holds=not faults and answer.status_code < 500)
                seen |= {page} if clean_name(payload)[:9] in Document(answer.text).text else set()
    assert len(set(PAYLOADS)) >= 200
    assert {"search", "entity", "trail", "grants", "tokens", "proposals", "correct"} <= seen
    tally.report("texts as markup")


@pytest.mark.slow
async def test_very_many_or_very_long_parameters_break_nothing(siege: Siege) -> None:
    tally = Tally()
    floods = ("&".join(["id=x"] * 5000), "&".join(f"p{n}=1" for n in range(5000)), "x" * 60_000,
              "=" * 20_000, "&" * 20_000, "name=" + "%41" * 20_000, ";" * 20_000)  # fmt: skip
    async with siege.browse("boss") as browser:
        for page, flood in product(PAGES, floods):
            code = await _send_raw(browser, "get", page, flood)
            tally.check(f"{page}: {code}", holds=code < 500)
        for action, flood in product(set(ACTIONS) - {"sign-out"}, floods):
            code = await _send_raw(browser, "post", action, flood)
            tally.check(f"{action}: {code}", holds=400 <= code < 500)
        tally.check("no answer", holds=(await browser.get("search")).status_code == 200)
    tally.report("floods of parameters")
