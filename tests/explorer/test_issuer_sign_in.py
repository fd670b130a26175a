"""Signing in at the identity provider, with what attackers send in its place."""

import base64
import json
import re
from collections.abc import AsyncGenerator, Callable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import httpx2
import psycopg
import pytest
from tenacity import AsyncRetrying, stop_after_delay, wait_fixed

from tests.attacks.site import issue
from tests.explorer.markup import Document
from tests.explorer.visiting import Browser, Place, open_place
from tests.support.issuer import Fault, IdentityProvider
from tests.support.listening import find_port
from textrawl.access.code_flow import CodeFlow, Registration
from textrawl.settings import Settings

pytestmark = pytest.mark.anyio

CLIENT_ID = "textrawl-explorer"


class SignInProvider(IdentityProvider):
    """`person` is signed in at the provider, which knows `client_id`.

    A client that registers itself takes its place. The other attributes replace what it would say.
    `answer_changes` is for the parameters of the redirect back, where None leaves one out.
    """

    def __init__(self) -> None:
        super().__init__()
        self.person = "ana"
        self.client_id = CLIENT_ID
        self.answer_changes: dict[str, str | None] = {}
        self.token_claims: dict[str, object] = {}
        self.token_answer: dict[str, object] = {}
        self.asked: list[dict[str, str]] = []
        self.exchanges: list[dict[str, str]] = []
        self._codes: dict[str, dict[str, str]] = {}
        self.metadata.update(
            authorization_endpoint=f"{self.url}/authorize",
            token_endpoint=f"{self.url}/token",
            registration_endpoint=f"{self.url}/register",
            response_types_supported=["code"],
            code_challenge_methods_supported=["S256"],
            authorization_response_iss_parameter_supported=True,
            scopes_supported=["openid", "textrawl:read", "textrawl:write"],
        )

    def answer(self, handler: Any) -> None:
        parts = urlsplit(str(handler.path))
        if parts.path == "/authorize":
            handler.send(302, b"", location=self._authorize(dict(parse_qsl(parts.query))))
        elif parts.path in ("/token", "/register") and handler.command == "POST":
            body = handler.rfile.read(int(handler.headers["content-length"])).decode()
            act = self._exchange if parts.path == "/token" else self._register
            status, document = act(body)
            handler.send(status, json.dumps(document).encode())
        else:
            super().answer(handler)

    def _authorize(self, asked: dict[str, str]) -> str:
        """Return the address that a browser is sent back to, with a new code."""
        self.asked.append(asked)
        code = f"code-{len(self.asked)}"
        if (asked["client_id"], asked["code_challenge_method"]) == (self.client_id, "S256"):
            self._codes[code] = asked
        given: dict[str, str | None] = {"code": code, "state": asked["state"], "iss": self.url}
        query = {
            key: value for key, value in (given | self.answer_changes).items() if value is not None
        }
        return f"{asked['redirect_uri']}?{urlencode(query)}"

    def _register(self, body: str) -> tuple[int, dict[str, object]]:
        """Make a client as RFC 7591 describes."""
        self.client_id = f"registered-{len(self.requests)}"
        return 201, {**json.loads(body), "client_id": self.client_id}

    def _exchange(self, body: str) -> tuple[int, dict[str, object]]:
        form = dict(parse_qsl(body))
        self.exchanges.append(form)
        asked = self._codes.pop(form.get("code", ""), None)  # a code is for one exchange
        challenge = base64.urlsafe_b64encode(sha256(form["code_verifier"].encode()).digest())
        if (
            asked is None
            or challenge.rstrip(b"=").decode() != asked["code_challenge"]
            or any(form[key] != asked[key] for key in ("redirect_uri", "client_id", "resource"))
        ):
            return 400, {"error": "invalid_grant"}
        claims = {"sub": self.person, "aud": asked["resource"], "scope": asked["scope"]}
        token = self.issue(self.claims(**claims | self.token_claims))
        return 200, {"access_token": token, "token_type": "Bearer", **self.token_answer}


@dataclass(frozen=True)
class Gate:
    """A place whose people sign in at a provider."""

    place: Place
    provider: SignInProvider

    async def begin(self, browser: Browser, **parameters: str) -> str:
        """Return the address that the provider sends the browser back to."""
        asked = await browser.get("issuer", **parameters)
        assert asked.status_code == 303, asked.text
        async with httpx2.AsyncClient() as http:
            return (await http.get(asked.headers["location"])).headers["location"]

    async def sign_in(self, browser: Browser, **parameters: str) -> httpx2.Response:
        return await follow(browser, await self.begin(browser, **parameters))

    async def attempt(self, address: str = "", **changes: str) -> tuple[int, bool]:
        """Return the status of an answer for a browser that began, and whether it is signed in."""
        async with self.place.browse() as browser:
            began = await self.begin(browser)
            answer = await follow(browser, address or began, **changes)
            search = await browser.get("search")
        return answer.status_code, search.status_code == 200


async def follow(browser: Browser, address: str, **changes: str) -> httpx2.Response:
    """Go where the provider leads, with other parameters."""
    parts = urlsplit(address)
    parameters = dict(parse_qsl(parts.query, keep_blank_values=True)) | changes
    return await browser.get(parts.path.removeprefix("/explore/"), **parameters)


@pytest.fixture
def provider() -> Iterator[SignInProvider]:
    with SignInProvider() as provider:
        yield provider


@pytest.fixture
async def gate(
    settings: Callable[..., Settings], owner: psycopg.Connection, provider: SignInProvider
) -> AsyncGenerator[Gate]:
    port = find_port()
    owner.execute("select create_space('gates')")
    given = settings(
        embedding_provider="none",
        access_token=issue(owner, "gate", "gates", "admin", issuer=provider.url),
        public_url=f"http://127.0.0.1:{port}",
        oauth_issuer=provider.url,
        oauth_client_id=CLIENT_ID,
        toolsets=["connector"],
    )
    async with open_place(given, owner, port) as place:
        owner.execute(
            "select grant_access('gate', 'team', '{admin}'),"
            " grant_access('ana', 'team', '{read,write}')"
        )
        yield Gate(place, provider)


async def test_people_sign_in_at_the_provider_and_reach_the_page_they_asked_for(gate: Gate) -> None:
    async with gate.place.browse() as browser:
        page = Document((await browser.get("sign-in", next="entity?name=Ada")).text)
        answer = await gate.sign_in(browser, next="entity?name=Ada")
        shown = await browser.get("search")
    [asked], [exchange] = gate.provider.asked, gate.provider.exchanges

    assert "/explore/issuer?next=entity%3Fname%3DAda" in page.links
    assert answer.status_code == 200
    assert 'content="0;url=/explore/entity?name=Ada"' in answer.text
    assert (shown.status_code, "ana" in Document(shown.text).texts) == (200, True)
    assert asked["resource"] == exchange["resource"] == f"{gate.place.root}/mcp"
    assert asked["scope"] == "textrawl:read textrawl:write"
    assert asked["redirect_uri"] == f"{gate.place.root}/explore/signed-in"
    assert page.faults + Document(answer.text).faults == []


async def test_the_cookie_of_the_sign_in_is_lax_short_lived_and_deleted_at_the_end(
    gate: Gate,
) -> None:
    async with gate.place.browse() as browser:
        asked = await browser.get("issuer")
        answer = await gate.sign_in(browser)
    after = answer.headers.get_list("set-cookie")

    assert re.fullmatch(
        r"textrawl-flow-\d+=[\w.-]+; HttpOnly; Max-Age=600; Path=/explore; SameSite=lax",
        asked.headers["set-cookie"],
    )
    assert next(cookie for cookie in after if "session" in cookie).endswith("SameSite=strict")
    assert any("flow" in cookie and "Max-Age=0" in cookie for cookie in after)


async def test_no_answer_for_another_browser_signs_anybody_in(gate: Gate) -> None:
    """Login CSRF, a foreign state, and no cookie at all."""
    async with gate.place.browse() as attacker, gate.place.browse() as victim:
        address = await gate.begin(attacker)
        without = await follow(victim, address)
        page = await victim.get("search")
    attempts = [await gate.attempt(address), await gate.attempt(state="x" * 64)]

    assert (without.status_code, page.status_code) == (403, 303)
    assert attempts == [(403, False)] * 2
    assert gate.provider.exchanges == []


async def test_a_used_code_signs_nobody_in(gate: Gate) -> None:
    async with gate.place.browse() as browser, gate.place.browse() as thief:
        address = await gate.begin(browser)
        for cookie in browser.http.cookies.jar:
            thief.http.cookies.set(
                cookie.name, cookie.value or "", domain="127.0.0.1", path="/explore"
            )
        first = await follow(browser, address)
        again = await follow(browser, address)
        stolen = await follow(thief, address)
        page = await thief.get("search")

    assert [first.status_code, again.status_code, stolen.status_code] == [200, 403, 401]
    assert page.status_code == 303


async def test_an_answer_of_another_issuer_is_not_taken_for_ours(gate: Gate) -> None:
    for issuer in ("https://evil.example", None, ""):
        gate.provider.answer_changes["iss"] = issuer
        assert await gate.attempt() == (401, False)
        assert gate.provider.exchanges == []


async def test_only_an_issuer_that_does_not_promise_its_name_may_leave_it_out(gate: Gate) -> None:
    """An issuer without RFC 9207, which an answer of another issuer must not pass for either."""
    del gate.provider.metadata["authorization_response_iss_parameter_supported"]
    gate.provider.answer_changes["iss"] = "https://evil.example"
    assert await gate.attempt() == (401, False)
    assert gate.provider.exchanges == []

    gate.provider.answer_changes["iss"] = None
    assert await gate.attempt() == (200, True)


async def test_an_answer_that_names_two_issuers_is_not_read(gate: Gate) -> None:
    async with gate.place.browse() as browser:
        query = urlsplit(await gate.begin(browser)).query
        answer = await browser.get(f"signed-in?{query}&iss=https%3A%2F%2Fevil.example")

    assert answer.status_code == 403
    assert gate.provider.exchanges == []


async def test_the_address_of_a_metadata_document_can_be_the_name_of_the_client() -> None:
    name = "https://memory.example.org/client.json?team=1"
    with SignInProvider() as provider:
        provider.client_id = name
        back = "https://memory.example.org/explore/signed-in"
        flow = CodeFlow(Registration(provider.url, name, back, "https://memory.example.org/mcp"))
        async with httpx2.AsyncClient() as http:
            answer = await http.get(await flow.begin("state", "v" * 43))
        given = dict(parse_qsl(urlsplit(answer.headers["location"]).query))

        assert await flow.accepts(given["iss"])
        assert await flow.exchange(given["code"], "v" * 43)
    assert [asked["client_id"] for asked in provider.asked + provider.exchanges] == [name] * 2


async def test_a_token_that_is_not_for_this_server_signs_nobody_in(gate: Gate) -> None:
    wrong: tuple[dict[str, object], ...] = (
        {"aud": "https://else.example/mcp"}, {"iss": "https://evil.example"}, {"sub": "stranger"},
        {"exp": 1}, {"scope": ""}, {"scope": "openid"},
    )  # fmt: skip
    for claims in wrong:
        gate.provider.token_claims = claims
        assert await gate.attempt() == (401, False), claims


async def test_an_answer_without_a_bearer_token_of_the_provider_signs_nobody_in(gate: Gate) -> None:
    wrong: tuple[dict[str, object], ...] = (
        {"token_type": "DPoP"}, {"access_token": 1}, {"access_token": ""},
        {"access_token": gate.place.tokens["admin"]},
    )  # fmt: skip
    for answer in wrong:
        gate.provider.token_answer = answer
        assert await gate.attempt() == (401, False), answer


async def test_a_refusal_of_the_provider_is_explained(gate: Gate) -> None:
    gate.provider.answer_changes.update(code=None, error="access_denied")
    assert await gate.attempt() == (401, False)


async def test_the_end_of_a_sign_in_leads_to_no_other_site(gate: Gate) -> None:
    foreign = ("//evil.example", "https://evil.example", "/\\evil.example", "a\r\nb", "é" * 3000)
    for wanted in foreign:
        async with gate.place.browse() as browser:
            answer = await gate.sign_in(browser, next=wanted)
        assert 'content="0;url=/explore/"' in answer.text
        assert Document(answer.text).faults == []


async def test_a_session_ends_with_its_access_token(gate: Gate) -> None:
    async with gate.place.browse() as browser:
        await gate.sign_in(browser)
        before = await browser.get("search")
        [(most,)] = gate.place.owner.execute(
            "select max(expires_at - now()) <= '10 minutes' from token where kind = 'federated'"
        ).fetchall()
        gate.place.owner.execute("update token set expires_at = now() where kind = 'federated'")
        async for attempt in AsyncRetrying(stop=stop_after_delay(60), wait=wait_fixed(0.1)):
            with attempt:  # principals are cached for a second
                assert (await browser.get("search")).status_code == 303

    assert (before.status_code, most) == (200, True)


async def test_codes_that_the_provider_refuses_are_counted(gate: Gate) -> None:
    codes: list[int] = []
    async with gate.place.browse() as browser:
        for _ in range(22):
            address = await gate.begin(browser)
            codes.append((await follow(browser, address, code="guess")).status_code)

    assert codes == [401] * 20 + [429] * 2


async def test_a_provider_that_is_down_is_explained_and_a_pasted_token_still_signs_in(
    gate: Gate,
) -> None:
    gate.provider.fail(Fault.FAILING)
    async with gate.place.browse() as browser:
        codes = [(await browser.get("issuer")).status_code for _ in range(3)]
        federated = await browser.sign_in(gate.provider.issue())
        pasted = await browser.sign_in(gate.place.tokens["reader"])

    assert codes == [503] * 3
    assert len(gate.provider.requests) <= 6  # one look at each place of metadata, for each purpose
    assert (federated.status_code, pasted.status_code) == (503, 303)


async def test_the_button_is_offered_only_where_the_provider_leads_back_to(gate: Gate) -> None:
    port = gate.place.root.rpartition(":")[2]
    async with gate.place.browse() as browser:
        browser.http.headers["host"] = f"localhost:{port}"
        page = await browser.get("sign-in")
        begun = await browser.get("issuer")

    assert "Sign in with" not in page.text
    assert begun.status_code == 401
