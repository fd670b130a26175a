"""Signing in, sessions, and forms: what gets nobody in who has no token."""

import re
from collections.abc import Callable

import pytest
from tenacity import AsyncRetrying, stop_after_delay, wait_fixed

from tests.attacks.site import revoke
from tests.explorer.visiting import Browser, Place
from textrawl.explorer.site import IDLE, LONGEST, BrowserSessions, Links
from textrawl.settings import Settings

pytestmark = pytest.mark.anyio


async def test_whoever_signs_in_sees_the_pages_until_they_sign_out(shared_place: Place) -> None:
    async with shared_place.browse() as browser:
        refused = await browser.get("search")
        await browser.sign_in(shared_place.tokens["reader"])
        shown = await browser.get("search")
        left = await browser.post("sign-out")
        after = await browser.get("search")

    assert refused.headers["location"] == "/explore/sign-in?next=search"
    assert (shown.status_code, left.status_code, after.status_code) == (200, 303, 303)


async def test_a_link_of_another_site_ends_no_session(shared_place: Place) -> None:
    """Browsers send no Strict cookie with it, but they would obey an answer that deletes one."""
    async with shared_place.browse() as browser:
        answer = await browser.get("search")

    assert (answer.status_code, "set-cookie" in answer.headers) == (303, False)


async def test_signing_in_leads_to_the_page_that_was_asked_for_and_to_no_other_site(
    shared_place: Place,
) -> None:
    async def follow(wanted: str) -> str:
        async with shared_place.browse() as browser:
            await browser.get("sign-in")
            token = shared_place.tokens["reader"]
            answer = await browser.post("sign-in", token=token, next=wanted)
        return answer.headers["location"]

    assert await follow("entity?name=Ada%20L") == "/explore/entity?name=Ada%20L"
    foreign = ("//evil.example", "https://evil.example", "/\\evil.example", "x\r\nset-cookie: a=b")
    assert {await follow(wanted) for wanted in foreign} == {"/explore/"}


@pytest.mark.parametrize("token", ["", "trl_wrong", "é", "x" * 9000, "Bearer x"])
async def test_no_other_text_signs_in(shared_place: Place, token: str) -> None:
    async with shared_place.browse() as browser:
        answer = await browser.sign_in(token)
        page = await browser.get("search")

    assert (answer.status_code, browser.session) == (401, None)
    assert token not in answer.text or not token
    assert page.status_code == 303


async def test_a_revoked_token_ends_its_sessions(place: Place) -> None:
    async with place.browse("writer") as browser:
        await browser.get("search")
        revoke(place.owner, place.tokens["writer"])
        async for attempt in AsyncRetrying(stop=stop_after_delay(60), wait=wait_fixed(0.1)):
            with attempt:  # principals are cached for a second
                assert (await browser.get("search")).status_code == 303
        again = await browser.sign_in(place.tokens["writer"])

    assert again.status_code == 401


async def test_the_session_of_an_attacker_is_never_taken_over(shared_place: Place) -> None:
    """Session fixation: a known id is worth nothing, and each sign-in gets a new one."""
    async with shared_place.browse() as victim:
        await victim.get("sign-in")
        name = next(c.name for c in victim.http.cookies.jar).replace("form", "session")
        victim.http.cookies.set(name, "fixed", domain="127.0.0.1", path="/explore")
        await victim.sign_in(shared_place.tokens["reader"])
        first = victim.session
        await victim.sign_in(shared_place.tokens["reader"])

    async with shared_place.browse() as attacker:
        attacker.http.cookies.set(name, "fixed", domain="127.0.0.1", path="/explore")
        fixed = await attacker.get("search")
        attacker.http.cookies.set(name, first or "", domain="127.0.0.1", path="/explore")
        old = await attacker.get("search")

    assert "fixed" != first != victim.session
    assert (fixed.status_code, old.status_code) == (303, 303)


async def test_cookies_are_for_this_server_alone_and_no_script_reads_them(
    shared_place: Place,
) -> None:
    async with shared_place.browse() as browser:
        await browser.get("sign-in")
        answer = await browser.post("sign-in", token=shared_place.tokens["reader"])
        sent = [c for c in answer.headers.get_list("set-cookie") if "session" in c]

    [cookie] = sent
    assert re.fullmatch(
        r"textrawl-session-\d+=[\w-]{43}; HttpOnly; Path=/explore; SameSite=strict", cookie
    )


async def _forge(browser: Browser, **changes: str) -> int:
    fields = {"form_token": browser.form_token} | {k: v for k, v in changes.items() if k != "at"}
    headers = {"origin": changes["at"]} if "at" in changes else None
    fields.pop("at", None)
    return (await browser.send("sign-out", fields, headers)).status_code


async def test_forms_of_other_pages_are_refused(shared_place: Place) -> None:
    async with shared_place.browse("admin") as browser, shared_place.browse("reader") as other:
        await browser.get("search")
        await other.get("search")
        port = shared_place.root.rpartition(":")[2]
        codes = [
            await _forge(browser, form_token=""),
            await _forge(browser, form_token=other.form_token),
            await _forge(browser, at="https://evil.example"),
            await _forge(browser, at="http://127.0.0.1:1"),
            await _forge(browser, at=f"http://localhost:{port}"),
            await _forge(browser, at="null"),
            (await browser.send("sign-out", {"form_token": browser.form_token},
                                {"sec-fetch-site": "same-site"})).status_code,
            (await browser.send("sign-out", {"form_token": browser.form_token},
                                {"content-type": "text/plain"})).status_code,
        ]  # fmt: skip
        still = await browser.get("search")

    assert set(codes) == {403}
    assert still.status_code == 200


async def test_a_foreign_page_cannot_sign_a_browser_in(shared_place: Place) -> None:
    """Login CSRF: without the cookie of our own form, the token in the form is worth nothing."""
    async with shared_place.browse() as attacker, shared_place.browse() as victim:
        await attacker.get("sign-in")
        fields = {"form_token": attacker.form_token, "token": shared_place.tokens["admin"]}
        without_cookie = await victim.send("sign-in", fields)
        await victim.get("sign-in")
        with_other_cookie = await victim.send("sign-in", fields)

    assert (without_cookie.status_code, with_other_cookie.status_code) == (403, 403)
    assert victim.session is None


async def test_an_address_with_many_failures_has_to_wait(place: Place) -> None:
    async with place.browse() as browser:
        await browser.get("sign-in")
        codes = [(await browser.post("sign-in", token="trl_no")).status_code for _ in range(62)]

    assert codes == [401] * 60 + [429] * 2


async def test_every_answer_says_what_a_browser_may_do_with_it(shared_place: Place) -> None:
    async with shared_place.browse("reader") as browser:
        page = await browser.get("search")
        script = re.search(r'src="/explore/(static/[^"]+\.js)"', page.text)
        assert script is not None
        answers = [
            page,
            await browser.get(script[1]),
            await browser.get("nowhere"),
            await browser.get("entity"),
            await browser.post("nowhere"),
            await browser.get("static/x/../../pages/page.html"),
        ]

    for answer in answers:
        policy = answer.headers["content-security-policy"].split("; ")
        assert {"default-src 'none'", "script-src 'self'", "frame-ancestors 'none'"} <= set(policy)
        assert "unsafe" not in answer.headers["content-security-policy"]
        assert answer.headers["x-frame-options"] == "DENY"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "access-control-allow-origin" not in answer.headers
    assert [a.status_code for a in answers] == [200, 200, 404, 400, 404, 404]
    assert page.headers["cache-control"] == "no-store"


async def test_the_explorer_is_off_unless_a_setting_turns_it_on(
    settings: Callable[..., Settings],
) -> None:
    assert not settings().explorer


def test_a_session_ends_after_half_an_hour_without_a_request_and_after_half_a_day() -> None:
    now = 0.0
    sessions = BrowserSessions(lambda: now)
    idle, busy = sessions.begin(b"a"), sessions.begin(b"a")
    while now < LONGEST:
        now += IDLE - 1
        found = sessions.find(busy)
        assert (found is None) == (now > LONGEST)

    assert sessions.find(idle) is None


def test_the_least_recently_used_session_of_a_person_makes_room_for_a_new_one() -> None:
    now = 0.0
    sessions = BrowserSessions(lambda: now)
    other, used = sessions.begin(b"b"), sessions.begin(b"a")
    later: list[str] = []
    for _ in range(20):
        now += 1
        assert sessions.find(used) is not None
        later.append(sessions.begin(b"a"))

    assert sessions.find(later[0]) is None
    assert None not in [sessions.find(identity) for identity in (*later[1:], used, other)]


def test_the_least_recently_used_session_of_a_full_server_makes_room_for_a_new_one() -> None:
    sessions = BrowserSessions(lambda: 0.0)
    first, second, *rest = [sessions.begin(str(number).encode()) for number in range(1000)]
    assert sessions.find(first) is not None
    new = sessions.begin(b"new")

    assert sessions.find(second) is None
    assert None not in [sessions.find(identity) for identity in (first, *rest, new)]


def test_a_link_signs_in_once_and_within_five_minutes() -> None:
    now = 0.0
    links = Links(lambda: now)
    used, late = links.make(b"a"), links.make(None)

    assert links.use("guess") is None
    assert links.use(used) == (b"a",)
    assert links.use(used) is None
    now = 301
    assert links.use(late) is None
