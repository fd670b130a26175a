"""By which names a server is called, and from which pages."""

from typing import Any

import anyio
import httpx2
import pytest

from tests.support.http_team import ANA, HELLO, bear, call_modern, gather
from textrawl.errors import StartRefused
from textrawl.server.http.guards import refuse_exposure

pytestmark = pytest.mark.anyio

PUBLIC = "https://memory.example.com"
BINDS = [
    pytest.param({"http_host": "127.0.0.1"}, id="127.0.0.1"),
    pytest.param({"http_host": "127.0.0.1", "public_url": PUBLIC}, id="behind a proxy"),
    pytest.param({"http_host": "0.0.0.0", "public_url": PUBLIC}, id="in the open"),  # noqa: S104
]
VARIANTS = [
    ({"host": "evil.example"}, 421),
    ({"host": "evil.example:8000"}, 421),
    ({"host": "127.0.0.1.evil.example"}, 421),
    ({"host": "127.0.0.1:evil.example"}, 421),
    ({"host": "127.0.0.1:80@evil.example"}, 421),
    ({"host": "127.0.0.1:8000:80"}, 421),
    ({"host": "localhost:99999"}, 421),
    ({"host": "localhost."}, 421),
    ({"host": "evil.example, localhost"}, 421),
    ({"host": "0.0.0.0"}, 421),  # noqa: S104
    ({"host": "[::2]"}, 421),
    ({"host": "memory.example.com.evil.example"}, 421),
    ({"host": "memory.example.com:evil"}, 421),
    ({"host": "memory.example.com:8443"}, 421),
    ({"origin": "https://evil.example"}, 403),
    ({"origin": "null"}, 403),
    ({"origin": "http://localhost.evil.example"}, 403),
    ({"origin": "http://localhost:80@evil.example"}, 403),
    ({"origin": "http://localhost/evil"}, 403),
    ({"origin": "ftp://localhost"}, 403),
    ({"origin": "localhost"}, 403),
    ({"origin": "https://memory.example.com.evil.example"}, 403),
    ({"origin": "http://memory.example.com"}, 403),
    ({"host": "localhost"}, 200),
    ({"host": "LOCALHOST:80"}, 200),
    ({"host": "[::1]:9"}, 200),
    ({"origin": "http://localhost:6274"}, 200),
    ({"origin": "https://[::1]"}, 200),
]


@pytest.mark.parametrize("settings", BINDS)
async def test_names_and_pages_of_others_are_refused_on_every_address(
    http: httpx2.AsyncClient, settings: dict[str, Any]
) -> None:
    async with gather(**settings) as team:
        for headers, status in VARIANTS:
            answer = await http.post(team.mcp, json=HELLO, headers={**bear(ANA), **headers})
            assert (headers, answer.status_code) == (headers, status)


@pytest.mark.parametrize("public", [False, True])
async def test_the_public_name_is_answered_to_where_it_is_set(
    http: httpx2.AsyncClient, public: bool
) -> None:
    async with gather(public_url=PUBLIC if public else None) as team:
        for headers in ({"host": "memory.example.com"}, {"host": "Memory.Example.com"}):
            answer = await http.post(team.mcp, json=HELLO, headers={**bear(ANA), **headers})
            assert answer.status_code == (200 if public else 421)
        answer = await http.post(team.mcp, json=HELLO, headers={**bear(ANA), "origin": PUBLIC})
        assert answer.status_code == (200 if public else 403)


async def test_the_pages_of_connectors_are_allowed_only_where_people_can_sign_in(
    http: httpx2.AsyncClient,
) -> None:
    asking = {"access-control-request-method": "POST"}
    for issuer, status in ((None, 403), ("https://login.example.com", 200)):
        async with gather(public_url=PUBLIC, oauth_issuer=issuer) as team:
            for name in ("chatgpt.com", "claude.ai", "claude.com", "claude.ai.evil.example"):
                page = {"origin": f"https://{name}"}
                asked = await http.options(team.mcp, headers={**page, **asking})
                called = await http.post(team.mcp, json=HELLO, headers={**bear(ANA), **page})
                pages = await http.get(f"{team.root}/explore/search", headers=page)
                codes = (asked.status_code, called.status_code, pages.status_code)
                expected = 403 if "evil" in name else status
                assert (name, codes) == (name, (expected, expected, 403))


async def test_no_route_but_liveness_answers_to_another_name_nor_a_call_of_the_modern_era(
    http: httpx2.AsyncClient,
) -> None:
    headers, body = call_modern("introduce")
    async with gather(lookup=None) as team:
        named = {"host": "evil.example"}
        for path in ("/mcp", "/mcp/team", "/readyz", "/metrics"):
            answer = await http.get(f"{team.root}{path}", headers=named)
            assert answer.status_code == 421, path
        assert (await http.get(f"{team.root}/healthz", headers=named)).status_code == 200
        assert (await http.post(team.mcp, json=body, headers=headers)).status_code == 200
        evil = {**headers, "host": "127.0.0.1:evil"}
        assert (await http.post(team.mcp, json=body, headers=evil)).status_code == 421


async def test_a_second_host_or_origin_is_refused() -> None:
    async with gather(lookup=None) as team:
        for line, status in ((b"host: localhost", 421), (b"origin: http://localhost", 403)):
            host = b"" if line.startswith(b"host") else b"host: localhost\r\n"
            async with await anyio.connect_tcp("127.0.0.1", team.port) as raw:
                await raw.send(b"GET /readyz HTTP/1.1\r\n" + host + 2 * (line + b"\r\n") + b"\r\n")
                assert (await raw.receive()).startswith(b"HTTP/1.1 %d " % status), line


def test_addresses_of_this_machine_may_be_listened_on() -> None:
    for host in ("127.0.0.1", "127.0.0.2", "::1", "localhost"):
        for insecure in (False, True):
            refuse_exposure(host, public_url=None, insecure=insecure)


OTHERS = ("::", "192.168.1.5", "10.0.0.1", "example.com", "localhost.evil", "fe80::1", "")


def test_addresses_that_others_reach_need_a_public_name_and_tokens() -> None:
    alone = r"TEXTRAWL_HTTP_HOST: other machines can reach .*TEXTRAWL_PUBLIC_URL"
    for host in ("0.0.0.0", *OTHERS):  # noqa: S104 - it is not bound to
        with pytest.raises(StartRefused, match=alone):
            refuse_exposure(host, public_url=None, insecure=False)
        with pytest.raises(StartRefused, match=r"--insecure: other machines can reach "):
            refuse_exposure(host, public_url=PUBLIC, insecure=True)
        refuse_exposure(host, public_url=PUBLIC, insecure=False)
