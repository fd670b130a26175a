"""A graph that is sensitive, or that a token cannot read, is like one that does not exist."""

import json
from collections.abc import Callable, Iterator
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest

from tests.attacks.site import add_graphs, add_spaces, issue
from tests.conftest import Connect
from tests.support.tool_calls import read_error, text_of
from textrawl.access.access_token import hash_token

pytestmark = pytest.mark.anyio

# On a cluster, calls find their cells: tests/cluster/test_graphs.py.
_DIRECT = "the login of the server calls functions of one Postgres"

CHUNKS = json.dumps([[1, 0, 3, 1]])
HASH = "0" * 64
CALLS: dict[str, str] = {
    "recall": "select content from recall_chunks('canary', array[%(graph)s], min_score => 0,"
    " credential => %(token)s)",
    "search": "select content from search_memory('canary', credential => %(token)s,"
    " sources => array['facts', 'documents'], graphs => array[%(graph)s], ceiling => 99999)",
    "list": "select name from list_graphs(%(token)s, array[%(graph)s])",
    "reach": "select name from reachable_graphs(%(token)s, array[%(graph)s])",
    "measure": "select bytes from measure_graphs(%(token)s, array[%(graph)s])",
    "store": "select document_id from store_source(%(graph)s, 'file/x', 'x', 'new', %(chunks)s,"
    " %(hash)s, credential => %(token)s)",
    "known": "select label from known_sources(%(graph)s, credential => %(token)s)",
    "read": "select content from read_chunk(%(source)s, 1, %(token)s)",
    "fetch": "select content from fetch_document(%(source)s, credential => %(token)s)",
    "forget": "select chunks_removed from forget_source(%(source)s, credential => %(token)s)",
    "forget one": "select * from forget_source(%(source)s, 1, credential => %(token)s)",
    "propose": "select id from propose_correction(%(source)s, 1, 'a', 'b', 'c',"
    " credential => %(token)s)",
    "apply": "select part from apply_correction(%(correction)s, credential => %(token)s)",
}
"""Calls of every function of graphs that a server can make."""
AS_PERSON: dict[str, str] = {
    "find key": "select key from find_graph_key(%(graph)s, %(token)s)",
    "claim key": "select claim_graph_key(%(graph)s, %(source)s, %(token)s)",
    "ciphertexts": "select head from encrypted_documents(%(graph)s, credential => %(token)s)",
    "encrypt": "select created from store_encrypted_document(%(graph)s, %(source)s, %(source)s,"
    " sha256('x'), sha256('x'), sha256('x'), %(token)s)",
    "discard": "select forget_encrypted_document(%(graph)s, %(source)s, %(token)s)",
    "next clear": "select source from next_clear_source(%(graph)s, %(token)s)",
    "encrypt source": "select encrypt_source(%(graph)s, %(source)s, 1, credential => %(token)s)",
    "destroy": "select documents from destroy_graph_key(%(graph)s, %(token)s)",
}

Try = Callable[..., tuple[object, ...]]


@pytest.fixture
def sources(owner: psycopg.Connection) -> dict[str, UUID]:
    """A source of each graph, by the name of the graph."""
    add_spaces(owner)
    for space in ("red", "green"):
        issue(owner, f"of {space}", space, "read", "write", "forget")
        add_graphs(owner, space)
    return dict(
        owner.execute(
            "select s.name, c.document_id from source c join space s on s.id = c.space_id"
        ).fetchall()
    )


@pytest.fixture
def attempt(
    owner: psycopg.Connection, database_url: str, sources: dict[str, UUID]
) -> Iterator[Try]:
    """Calls a function as the server's login with a new token; changes are taken back."""
    with psycopg.connect(database_url) as server:

        def go(call: str, graph: str, *scopes: str) -> tuple[object, ...]:
            token = issue(owner, "of red", "red", *(scopes or ("read", "write", "forget")))
            given: dict[str, Any] = {
                "graph": graph, "token": hash_token(token), "chunks": CHUNKS, "hash": HASH,
                "source": sources.get(graph, uuid4()), "correction": find_correction(owner, graph),
            }  # fmt: skip
            server.execute("set search_path = textrawl, public")
            try:
                return tuple(server.execute(call.encode(), given).fetchall())
            except psycopg.DatabaseError as error:
                detail = (error.diag.message_detail or "").replace(graph, "GRAPH")
                return error.sqlstate, detail
            finally:
                server.rollback()

        yield go


def find_correction(owner: psycopg.Connection, graph: str) -> UUID:
    """A correction of the graph that can be applied, or an id that nothing has."""
    row = owner.execute(
        "insert into correction (space_id, document_id, part, proposal, original_text,"
        " proposed_text, tokens, mode, author_id, apply_until) select space_id, document_id, 1,"
        " 'a', 'a', 'b', 1, 'llm', (select min(id) from actor), 'infinity' from source"
        " where space_id = (select id from space where name = %s) returning id",
        (graph,),
    ).fetchone()
    return row[0] if row else uuid4()


@pytest.mark.ordinary(_DIRECT)
def test_no_call_of_a_server_tells_a_sealed_or_foreign_graph_from_none(attempt: Try) -> None:
    for name, call in CALLS.items():
        none, sealed, foreign, others = (
            attempt(call, graph) for graph in ("nothing", "red-safe", "green-papers", "green-safe")
        )

        assert sealed == foreign == others == none, name
        assert attempt(call, "red-papers") != none, name


@pytest.mark.ordinary(_DIRECT)
def test_what_is_for_people_needs_rights_too(attempt: Try) -> None:
    for name, call in AS_PERSON.items():
        none = attempt(call, "nothing")

        assert attempt(call, "green-papers") == none, name
        assert attempt(call, "green-safe") == none, name
        assert attempt(call, "red-safe") != none, name
    assert attempt(AS_PERSON["encrypt"], "red-safe", "read") == ("TR011", "write")
    assert attempt(AS_PERSON["discard"], "red-safe", "read", "write") == ("TR011", "forget")


@pytest.mark.usefixtures("sources")
async def test_a_server_cannot_be_bound_to_a_sensitive_graph(connect: Connect) -> None:
    answers: set[tuple[str, str]] = set()
    for space in ("red-safe", "green-safe", "green-papers", "nothing"):
        client = await connect(space=space, toolsets=["memory", "corpus"])
        for tool in ("query_memory", "recall"):
            result = await client.call_tool(tool, {"query": "canary"})
            title, fix = read_error(result)
            answers.add((title.replace(space, "NAME"), fix.replace(space, "NAME")))

    assert len(answers) == 1
    assert "safe" not in str(answers)


async def test_a_grant_in_a_graph_changes_no_answer_about_facts(
    connect: Connect, owner: psycopg.Connection
) -> None:
    client = await connect(embedding_provider="none")
    stored = {"entityName": "Ada", "entityType": "person", "observation": "likes tea"}
    asked = {"mode": "search", "query": "tea"}
    await client.call_tool("remember_fact", stored)
    before = (await client.call_tool("query_memory", asked)).structured_content

    for name, tier in (("diary", "sensitive"), ("papers", "personal")):
        owner.execute("select create_space(%s, tier => %s)", (name, tier))
        owner.execute("select grant_access('ada', %s, array['read', 'write'])", (name,))
    other = await connect(embedding_provider="none")

    assert (await other.call_tool("query_memory", asked)).structured_content == before
    again = await other.call_tool("remember_fact", stored)
    assert not again.is_error, text_of(again)
    assert owner.execute("select count(*) from fact").fetchone() == (1,)
