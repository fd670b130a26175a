"""What comes back to a token that may write or forget, and not read: what it sent, ids, counts."""

import json
from typing import Any

import psycopg
import pytest

from tests.attacks.site import issue
from tests.conftest import Connect
from tests.support.sharing import call
from textrawl.access.access_token import hash_token

pytestmark = pytest.mark.anyio

SECRETS = ("91234", "55555", "Payroll", "secret-kind", "person", "pays_for", "Ledger")
"""Texts, the spelling of a name, types and relations that only somebody who reads can have."""

WRITES: dict[str, dict[str, Any]] = {
    "create_entities": {"entities": [{"name": "payroll", "observations": ["x"]}]},
    "create_relations": {
        "relations": [{"from": "payroll", "to": "ledger", "relationType": "PAYS_FOR"}]
    },
    "add_observations": {"name": "payroll", "observations": ["x", "y"]},
    "remember_fact": {"entityName": "payroll", "entityType": "concept", "observation": "is z"},
    "relate_entities": {"fromEntity": "payroll", "relation": "met", "toEntity": "ledger"},
    "build_knowledge": {
        "facts": [{"entityName": "payroll", "entityType": "concept", "observation": "is z"}]
    },
    "execute_entity_split": {
        "entity_name": "payroll",
        "approved_splits": [{"name": "ledger", "observations": ["x"]}],
    },
    "add_reflection": {"target_type": "global", "content": "a thought"},
}
FORGETS: dict[str, dict[str, Any]] = {
    "delete_observations": {"name": "payroll", "observations": ["no such text"]},
    "delete_relations": {
        "relations": [{"from": "payroll", "to": "ledger", "relationType": "owes"}]
    },
    "forget_entity": {"entityName": "payroll", "confirm": True},
    "delete_entities": {"entityNames": ["ledger"]},
}


@pytest.fixture
def payroll(owner: psycopg.Connection) -> psycopg.Connection:
    """An entity with salaries, spelt and typed in its own way."""
    nodes: list[dict[str, Any]] = [
        {"name": "Payroll", "type": "secret-kind", "observations": ["Bo gets 91234", "Cy 55555"]},
        {"name": "Ledger", "type": "person", "observations": []},
    ]
    call(owner, "create_nodes", entities=json.dumps(nodes))
    call(owner, "create_edges", relations=json.dumps(
        [{"from": "Payroll", "relation": "pays_for", "to": "Ledger"}]))  # fmt: skip
    return owner


def list_leaks(answer: str) -> list[str]:
    return [secret for secret in SECRETS if secret in answer]


@pytest.mark.parametrize("scope", ["write", "forget"])
async def test_a_token_that_may_not_read_gets_back_what_it_sent(
    payroll: psycopg.Connection, connect: Connect, scope: str
) -> None:
    token = issue(payroll, "ben", "default", scope)
    client = await connect(access_token=token, toolsets="all", embedding_provider="none")
    [(number,)] = payroll.execute("select node_number(id) from relation").fetchall()
    ending = {"end_relation": {"relation_id": number}}

    for tool, arguments in (WRITES | ending if scope == "write" else FORGETS).items():
        result = await client.call_tool(tool, arguments)
        assert not result.is_error, (tool, result.content)
        assert list_leaks(result.model_dump_json()) == [], tool


async def test_a_token_that_reads_as_well_is_answered_as_before(
    payroll: psycopg.Connection, connect: Connect
) -> None:
    token = issue(payroll, "ben", "default", "read", "write")
    client = await connect(access_token=token, toolsets="all", embedding_provider="none")

    result = await client.call_tool("create_entities", WRITES["create_entities"])

    assert "91234" in result.model_dump_json()


def test_the_functions_themselves_answer_no_more(payroll: psycopg.Connection) -> None:
    writer = hash_token(issue(payroll, "ben", "default", "write"))
    clerk = hash_token(issue(payroll, "cleo", "default", "forget"))
    [(number,)] = payroll.execute("select node_number(id) from relation").fetchall()
    said = json.dumps([{"entity": "payroll", "observations": ["x"]}])

    answers = [
        call(payroll, "create_nodes", credential=writer, entities='[{"name": "payroll"}]'),
        call(payroll, "add_observations", credential=writer, additions=said),
        call(
            payroll, "remember_fact", credential=writer, entity="payroll", type="concept",
            observation="is z",
        ),
        call(
            payroll, "relate_entities", credential=writer, from_entity="payroll",
            relation="met", to_entity="ledger",
        ),
        call(payroll, "end_edge", credential=writer, number=number),
        call(payroll, "delete_observations", credential=clerk, deletions=said),
        call(payroll, "forget_entity", credential=clerk, entity="payroll"),
    ]  # fmt: skip

    assert list_leaks(repr(answers)) == []
