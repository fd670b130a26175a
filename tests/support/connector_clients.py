"""Clients that connect like ChatGPT and claude.ai: with nothing but the address of a server."""

import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import parse_qsl, urljoin, urlsplit

import httpx2
from mcp import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthToken,
)
from pydantic import AnyUrl

from tests.conftest import Era

CHATGPT = "https://chatgpt.com/connector_platform_oauth_redirect"
CLAUDE = "https://claude.ai/api/mcp/auth_callback"
DOCUMENT = "https://claude.ai/oauth/mcp-client.json"
"""The address of a client id metadata document."""

_FORM = re.compile(r'<form[^>]* action="([^"]+)"')
_FIELD = re.compile(r'<input[^>]* name="([^"]+)"(?:[^>]* value="([^"]*)")?')


class Kept:
    """What a client keeps: its registration, and its token."""

    def __init__(self) -> None:
        self.token: OAuthToken | None = None
        self.registration: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.token

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.token = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.registration

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.registration = client_info


async def agree(address: str, back: str, person: str) -> dict[str, str]:
    """Sign in as a person who fills in each form, and return the answer at `back`."""
    async with httpx2.AsyncClient() as browser:
        page = await browser.get(address)
        for _ in range(20):
            if page.is_redirect:
                address = urljoin(str(page.url), page.headers["location"])
                if address.startswith(back):
                    return dict(parse_qsl(urlsplit(address).query))
                page = await browser.get(address)
                continue
            found = _FORM.search(page.text)
            assert page.is_success, page.text
            assert found, page.text
            fields = dict(_FIELD.findall(page.text)) | {"login": person, "password": "x"}
            page = await browser.post(urljoin(str(page.url), found[1]), data=fields)
    raise AssertionError(page.text)


@asynccontextmanager
async def connect_by_address(
    address: str, era: Era, back: str, document: str | None = None, person: str = "ana"
) -> AsyncGenerator[tuple[Client, Kept]]:
    """A client that registers itself, or that the issuer knows by the address of a document."""
    kept, answers = Kept(), list[dict[str, str]]()

    async def lead(to: str) -> None:
        answers.append(await agree(to, back, person))

    async def take() -> AuthorizationCodeResult:
        given: dict[str, Any] = answers[-1]
        return AuthorizationCodeResult(
            code=given["code"], state=given["state"], iss=given.get("iss")
        )

    metadata = OAuthClientMetadata(
        client_name="connector",
        redirect_uris=[AnyUrl(back)],
        token_endpoint_auth_method="none",
    )
    provider = OAuthClientProvider(address, metadata, kept, lead, take, document)
    async with (
        httpx2.AsyncClient(auth=provider, timeout=30) as http,
        Client(streamable_http_client(address, http_client=http), mode=era) as client,
    ):
        yield client, kept
