"""A source of a graph: three sentences about meals, in a chunk each."""

import json
from uuid import UUID

import psycopg

MEALS = "Tea is served at four.\nCoffee is served at nine.\nThe kitchen closes at ten."
CHUNKS = [[1, 0, 23, 9], [2, 23, 26, 9], [3, 49, 26, 6]]


def store(
    owner: psycopg.Connection, graph: str, label: str = "meals.md", text: str = MEALS
) -> UUID:
    """Store the meals in a graph, or a text as one chunk.

    In a sensitive graph, only a former version stored documents so.
    """
    chunks = CHUNKS if text == MEALS else [[1, 0, len(text), len(text) // 4]]
    [(tier,)] = owner.execute("select tier from space where name = %s", (graph,)).fetchall()
    owner.execute("select change_tier(%s, 'public')", (graph,))
    [row] = owner.execute(
        "select document_id from store_source(%s, %s, %s, %s, %s, encode(sha256(%s), 'hex'))",
        (graph, f"file/{label}", label, text, json.dumps(chunks), text.encode()),
    ).fetchall()
    owner.execute("select change_tier(%s, %s, encrypting => true)", (graph, tier))
    return row[0]
