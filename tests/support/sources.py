"""A source of a graph: three sentences about meals, in a chunk each."""

import json
from uuid import UUID

import psycopg

MEALS = "Tea is served at four.\nCoffee is served at nine.\nThe kitchen closes at ten."
CHUNKS = [[1, 0, 23, 9], [2, 23, 26, 9], [3, 49, 26, 6]]


def store(owner: psycopg.Connection, graph: str, label: str = "meals.md") -> UUID:
    """Store the meals in a graph. In a sensitive graph, only a former version stored them so."""
    [(tier,)] = owner.execute("select tier from space where name = %s", (graph,)).fetchall()
    owner.execute("select change_tier(%s, 'public')", (graph,))
    [row] = owner.execute(
        "select document_id from store_source(%s, %s, %s, %s, %s, encode(sha256(%s), 'hex'))",
        (graph, f"file/{label}", label, MEALS, json.dumps(CHUNKS), MEALS.encode()),
    ).fetchall()
    owner.execute("select change_tier(%s, %s, encrypting => true)", (graph, tier))
    return row[0]
