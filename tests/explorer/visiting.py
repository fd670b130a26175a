"""Browsers without a browser: HTTP clients that keep cookies and send forms, as people do."""

import html
import re
import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial

import anyio
import httpx2
import psycopg

from tests.attacks.site import issue
from tests.support.commands import Process
from tests.support.listening import find_port, wait_for_answer
from textrawl import Settings, create_server
from textrawl.explorer.application import build_pages
from textrawl.server.http.application import serve_http
from textrawl.server.http.metrics import Metrics

SCOPES = {
    "reader": ("read",),
    "writer": ("read", "write", "forget"),
    "proposer": ("read", "propose"),
    "reviewer": ("read", "write", "review"),
    "admin": ("read", "write", "forget", "admin"),
    "keeper": ("read", "write", "forget", "review", "admin"),
}
Files = list[tuple[str, tuple[str, bytes]]]
FILES: dict[str, Files] = {"upload": [("file", ("tea.md", b"Tea is served at four."))]}
"""The files that a form has unless a test chooses others."""
_FORM = re.compile(r"<form.*?</form>", re.DOTALL)
_FIELD = re.compile(r'<input type="hidden" name="([^"]*)" value="([^"]*)"')
_FORM_TOKEN = re.compile(r'name="form_token" value="([^"]+)"')


@dataclass
class Browser:
    """A browser with its cookies, at a server."""

    root: str
    http: httpx2.AsyncClient
    form_token: str = ""
    links: list[str] = field(default_factory=list[str])
    """The links that the command of the server has printed, the newest last."""

    async def get(self, page: str, **parameters: str | list[str]) -> httpx2.Response:
        """Look at a page, and note the token of its forms."""
        answer = await self.http.get(f"{self.root}/explore/{page}", params=parameters or None)
        if found := _FORM_TOKEN.search(answer.text):
            self.form_token = html.unescape(found[1])
        return answer

    async def post(self, page: str, **fields: str) -> httpx2.Response:
        """Send a form of the last page."""
        return await self.send(page, {"form_token": self.form_token, **fields})

    async def press(
        self, shown: httpx2.Response, action: str, place: int = 0, **more: str
    ) -> httpx2.Response:
        """Send the form of a page for an action as it is, with more fields."""
        forms = [each for each in _FORM.findall(shown.text) if f'/explore/{action}"' in each]
        fields = _FIELD.findall(forms[place])
        found = {html.unescape(name): html.unescape(value) for name, value in fields}
        return await self.send(action, found | more)

    async def follow(self, answer: httpx2.Response) -> httpx2.Response:
        """Look at the page that an answer leads to."""
        assert answer.status_code == 303, answer.text
        return await self.http.get(f"{self.root}{answer.headers['location']}")

    async def send(
        self,
        page: str,
        fields: dict[str, str],
        headers: dict[str, str] | None = None,
        files: Files | None = None,
    ) -> httpx2.Response:
        """Send a form; `headers` replace those of a browser on our own page."""
        given = {"origin": self.root, "sec-fetch-site": "same-origin", **(headers or {})}
        address = f"{self.root}/explore/{page}"
        chosen = FILES.get(page) if files is None else files
        return await self.http.post(address, data=fields, files=chosen, headers=given)

    async def sign_in(self, token: str) -> httpx2.Response:
        await self.get("sign-in")
        return await self.post("sign-in", token=token)

    @property
    def session(self) -> str | None:
        """The id in the session cookie."""
        return next((c.value for c in self.http.cookies.jar if "session" in c.name), None)


@dataclass(frozen=True)
class Place:
    """A server with the explorer, and the tokens of its people."""

    root: str
    owner: psycopg.Connection
    tokens: dict[str, str]

    @asynccontextmanager
    async def browse(self, person: str | None = None) -> AsyncGenerator[Browser]:
        """A new browser; `person` has signed in."""
        async with httpx2.AsyncClient(timeout=30) as http:
            browser = Browser(self.root, http)
            if person is not None:
                answer = await browser.sign_in(self.tokens[person])
                assert answer.status_code == 303, answer.text
            yield browser


@asynccontextmanager
async def browse_own(process: Process) -> AsyncGenerator[Browser]:
    """The browser of the person whose `textrawl explore` has just begun. It ends with the block."""
    assert process.popen.stdout is not None
    root, _, code = process.popen.stdout.readline().strip().partition("/explore/sign-in?code=")
    async with httpx2.AsyncClient(timeout=30) as http:
        browser = Browser(root, http)
        await browser.get("sign-in", code=code)
        await browser.post("sign-in", code=code)
        yield browser
    process.end(signal.SIGINT)


def enrol_people(owner: psycopg.Connection, space: str = "team") -> dict[str, str]:
    """Make a space with a person for each set of scopes, and return their tokens."""
    owner.execute("select create_space(%s)", (space,))
    return {name: issue(owner, name, space, *scopes) for name, scopes in SCOPES.items()}


@asynccontextmanager
async def open_place(
    settings: Settings, owner: psycopg.Connection, port: int | None = None
) -> AsyncGenerator[Place]:
    """A server with the explorer in this process."""
    tokens = enrol_people(owner)
    given = settings.model_copy(update={"http_port": port or find_port(), "explorer": True})
    server = create_server(given, tokens_needed=True)
    root = f"http://127.0.0.1:{given.http_port}"

    async def serve() -> None:
        await serve_http(
            server,
            given,
            lookup=server.find_principal,
            metrics=Metrics(),
            build_pages=partial(build_pages, server, given),
        )

    async with anyio.create_task_group() as group:
        group.start_soon(serve)
        await wait_for_answer(f"{root}/healthz")
        yield Place(root, owner, tokens)
        group.cancel_scope.cancel()
