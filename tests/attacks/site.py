"""A team's server over HTTP on a database with three spaces, and tokens of every kind."""

import hashlib
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, LiteralString

import anyio
import httpx2
import psycopg

from tests.support.databases import choose_database
from tests.support.http_team import bear, call_modern
from tests.support.listening import find_port, wait_for_answer
from textrawl import create_server
from textrawl.access.access_token import hash_token, make_token, shorten_token
from textrawl.access.principal import Directory
from textrawl.memory.store import Store
from textrawl.models.active_model import Models
from textrawl.server.http.application import serve_http
from textrawl.server.http.metrics import Metrics
from textrawl.settings import Settings
from textrawl.tools.call import App, Identity

SPACES = ("red", "green", "blue")
POOL = 4  # connections for all clients
CONTENT: tuple[LiteralString, ...] = (
    "entity", "observation", "relation", "embedding_pending", "undo", "undone",
    "space_grant", "space", "document", "document_version",
    "identity_snapshot", "graph_node", "graph_edge", "graph_change", "source", "chunk",
    "correction",
)  # fmt: skip
_TABLES = (*CONTENT, "event", "instance", "proposal")


@dataclass(frozen=True)
class Site:
    """Where the server listens."""

    root: str
    http: httpx2.AsyncClient

    async def call(
        self,
        token: str | None,
        tool: str,
        arguments: dict[str, Any],
        path: str = "/mcp",
        client: str = "raw",
    ) -> httpx2.Response:
        """Call a tool, as a client of this name and of the 2026-07-28 era does."""
        return await self.ask(
            token, "tools/call", {"name": tool, "arguments": arguments}, path, client
        )

    async def ask(
        self,
        token: str | None,
        method: str,
        params: dict[str, Any],
        path: str = "/mcp",
        client: str = "raw",
    ) -> httpx2.Response:
        """Send any request of this era. Operations of commands have a path of their own."""
        command = "/t/commands" in path  # is no message of MCP, and has no `_meta`
        headers, body = call_modern(
            "" if command else str(params.get("name", params.get("uri", "")))
        )
        body["method"], headers["mcp-method"] = method, method
        meta = body["params"]["_meta"]
        meta["io.modelcontextprotocol/clientInfo"]["name"] = client
        body["params"] = params if command else params | {"_meta": meta}
        given = headers | (bear(token) if token else {})
        return await self.http.post(f"{self.root}{path}", json=body, headers=given)


# Words that nobody but their members can have from anywhere but the memory.
SECRETS = {space: hashlib.md5(space.encode()).hexdigest() for space in SPACES}  # noqa: S324
GRAPHS = {"papers": "personal", "safe": "sensitive"}  # two graphs beside each space
# A word in the sensitive graphs, which reaches nobody, not even a member.
SEALED = hashlib.md5(b"sealed").hexdigest()  # noqa: S324


def issue(
    owner: psycopg.Connection, actor: str, space: str, *scopes: str, issuer: str | None = None
) -> str:
    """A new token, of an actor that is made with it."""
    token = make_token()
    owner.execute(
        "select create_token(hash => %s, prefix => %s, actor => %s, space => %s, scopes => %s,"
        " issuer => %s)",
        (hash_token(token), shorten_token(token), actor, space, list(scopes), issuer),
    )
    return token


def revoke(owner: psycopg.Connection, token: str) -> None:
    owner.execute("update token set revoked_at = now() where hash = %s", (hash_token(token),))


def _add_documents(owner: psycopg.Connection, space: str, secret: str) -> None:
    """An identity file with a snapshot, and an entry of the journal."""
    owner.execute(
        "select write_identity('custom', %s || '.md', %s, space => s.id, credential => null),"
        " create_snapshots(space => s.id, moment => '2026-05-12T09:30Z')"
        " from space s where s.name = %s",
        (space, f"{space} hides {secret}", space),
    )
    owner.execute("update identity_snapshot set pinned = true")  # else the upkeep deletes it
    owner.execute(
        "select write_entry('daily', '2026-05-12', %s, %s,"
        " space => (select id from space where name = %s))",
        (f"- the day of {space} hides {secret}", space, space),
    )


def _add_items(owner: psycopg.Connection, space: str, secret: str) -> None:
    """An item with a former value, and a log."""
    calls = ("put_item(%s, 'secret', %s", "put_item(%s, 'secret', %s", "append_log(%s, %s")
    for number, call in enumerate(calls):
        owner.execute(
            f"select {call}, space => (select id from space where name = %s))".encode(),  # noqa: S608 - ours
            (["vault", space], json.dumps([f"{space} hides {secret}", number]), space),
        )


def _add_graph(owner: psycopg.Connection, space: str, secret: str) -> None:
    """A node and an edge with secrets in all fields."""
    node = {
        "label": f"Node {secret}", "type": f"kind {secret}", "description": f"guards {secret}",
        "properties": {secret: secret}, "memory": secret,
    }  # fmt: skip
    edge = {
        "from": f"Node {secret}", "to": "Ada", "type": f"guards_{secret}", "evidence": secret
    }  # fmt: skip
    owner.execute(
        "select write_graph(%s, %s, instance => %s,"
        " space => (select id from space where name = %s))",
        (json.dumps([node]), json.dumps([edge]), secret, space),
    )


def add_spaces(owner: psycopg.Connection) -> None:
    """Three spaces, each with a secret of its own that only its members may read."""
    for space in SPACES:
        owner.execute("insert into space (name) values (%s)", (space,))
        secret = SECRETS[space]
        known = {"Ada": f"canary {space}", f"Canary {space}": "hides", f"Vault {secret}": secret}
        for entity, fact in known.items():
            owner.execute(
                "select remember_fact(%s, 'person', %s,"
                " space => (select id from space where name = %s))",
                (entity, fact, space),
            )
        _add_documents(owner, space, secret)
        _add_items(owner, space, secret)
        _add_graph(owner, space, secret)
        owner.execute(
            "select relate_entities('Ada', 'knows', %s,"
            " space => (select id from space where name = %s))",
            (f"Canary {space}", space),
        )
        owner.execute(
            "select add_reflection('global', %s, 'me',"
            " space => (select id from space where name = %s))",
            (f"the secret of {space} is {secret}", space),
        )
        _add_proposal(owner, space, secret)


def _add_proposal(owner: psycopg.Connection, space: str, secret: str) -> None:
    """A proposal that waits for a reviewer of the space."""
    owner.execute(
        "select propose_all(jsonb_build_array(jsonb_build_object('entity', %s::text, 'type',"
        " 'person', 'observation', %s::text)), '[]', null, null, null,"
        " row(s.id, register_actor(%s), null, 'sql', null, true)::origin, false)"
        " from space s where s.name = %s",
        (f"Canary {space}", f"keeps {secret}", f"author of {space}", space),
    )


def add_graphs(owner: psycopg.Connection, space: str) -> None:
    """A personal and a sensitive graph of the members of a space, with a source in each."""
    for kind, tier in GRAPHS.items():
        graph, secret = f"{space}-{kind}", SECRETS[space] if kind == "papers" else SEALED
        text = f"canary {graph} hides {secret}"
        owner.execute("select create_space(%s, tier => 'personal')", (graph,))
        owner.execute(
            "select grant_access(%s, %s, array['read', 'write', 'forget'])", (f"of {space}", graph)
        )
        given = (graph, f"file/{secret}.md", f"Paper {secret}", text)
        owner.execute(
            "select store_source(%s, %s, %s, %s, %s, encode(sha256(%s), 'hex'))",
            (*given, json.dumps([[1, 0, len(text), 9]]), text.encode()),
        )
        # A former version stored sources of sensitive graphs in the clear.
        owner.execute("select change_tier(%s, %s, encrypting => true)", (graph, tier))


def digest(owner: psycopg.Connection, tables: tuple[LiteralString, ...] = _TABLES) -> str:
    """What these tables hold; else every table that a tool could change."""
    whole = hashlib.sha256()
    for table in tables:
        query = f"select to_jsonb(t)::text from {table} t order by 1"  # noqa: S608 - ours
        for (row,) in owner.execute(query).fetchall():  # pyright: ignore[reportArgumentType, reportCallIssue]
            whole.update(row.encode())
    return whole.hexdigest()


@asynccontextmanager
async def open_site(settings: Settings) -> AsyncGenerator[Site]:
    """A server that asks everybody for a token, on a pool of four connections."""
    assert settings.database_url is not None
    given = settings.model_copy(update={"http_port": find_port(), "rate_limit": 0})
    conninfo = settings.database_url.get_secret_value()
    database = await choose_database(conninfo, timeout=given.database_timeout, max_size=POOL)
    await database.open()
    own = settings.access_token
    credential = hash_token(own.get_secret_value()) if own else None
    identity = Identity(Directory(database), credential, tokens_needed=True)
    memory = Store(database, Models(database, None), credential=credential)
    server = create_server(given, app=App(given, memory, identity))
    limits = httpx2.Limits(max_connections=64)
    try:
        async with (
            anyio.create_task_group() as group,
            httpx2.AsyncClient(timeout=120, limits=limits) as http,
        ):
            site = Site(f"http://127.0.0.1:{given.http_port}", http)

            async def serve() -> None:
                await serve_http(server, given, lookup=server.find_principal, metrics=Metrics())

            group.start_soon(serve)
            await wait_for_answer(f"{site.root}/healthz")
            yield site
            group.cancel_scope.cancel()
    finally:
        await database.close()
