"""A server over HTTP that a person meets: in a browser, and before anybody has a token."""

from collections.abc import Callable

import psycopg
import pytest

from tests.attacks.site import issue, open_site
from textrawl import Settings

pytestmark = pytest.mark.anyio


async def test_a_browser_gets_a_page_that_says_what_the_server_is_and_a_program_an_error(
    settings: Callable[..., Settings], owner: psycopg.Connection
) -> None:
    async with open_site(settings(explorer=True)) as site:
        pages = [
            await site.http.get(f"{site.root}{path}", headers={"accept": "text/html,*/*"})
            for path in ("/", "/mcp")
        ]
        program = await site.http.get(f"{site.root}/", headers={"accept": "*/*"})

    assert [page.status_code for page in pages] == [200, 401]
    for page in pages:
        assert f"--url {site.root}/mcp" in page.text
        assert 'href="/explore"' in page.text
        assert "default-src 'none'" in page.headers["content-security-policy"]
    assert (program.status_code, program.json()["error"]) == (401, "invalid_token")


async def test_a_server_for_which_nobody_has_a_token_says_how_to_make_one(
    settings: Callable[..., Settings], owner: psycopg.Connection, caplog: pytest.LogCaptureFixture
) -> None:
    owner.execute("update token set revoked_at = now()")
    async with open_site(settings()):
        assert "`textrawl token create" in caplog.text
    caplog.clear()
    issue(owner, "ana", "default", "read")
    async with open_site(settings()):
        assert "listens on" in caplog.text
        assert "token create" not in caplog.text
