"""A memory whose story is known, and what is asked of it."""

import json
from collections.abc import Sequence
from typing import Any, LiteralString

import psycopg

from textrawl.models.embeddings import compose_document
from textrawl.models.local import LocalEmbedder

Ids = dict[str, str]


def ask(sql: psycopg.Connection, query: LiteralString, *values: object) -> list[Any]:
    return sql.execute(query, values).fetchall()


def tell(sql: psycopg.Connection, entity: str, content: str, **more: Any) -> str:
    """The id of a new fact."""
    given = {"entity": entity, "type": "person", "observation": content, **more}
    names = ", ".join(f"{name} => %({name})s" for name in given)
    row = sql.execute(
        f"select observation_id::text from remember_fact({names})".encode(),  # noqa: S608
        given,
    ).fetchone()
    assert row is not None
    return row[0]


def age(sql: psycopg.Connection, fact: str, days: int) -> None:
    """Makes a fact as old as that."""
    sql.execute(
        "update observation set created_at = now() - %(d)s * interval '1 day',"
        " valid_from = now() - %(d)s * interval '1 day' where id = %(id)s",
        {"d": days, "id": fact},
    )


async def tell_all(sql: psycopg.Connection, facts: Sequence[tuple[str, str]]) -> int:
    """Stores facts (entity, content) with vectors and statistics; the id of the local model."""
    embedder = LocalEmbedder()
    scale = embedder.model.scale
    vectors = await embedder.embed_documents([compose_document(*fact) for fact in facts])
    row = sql.execute(
        "select register_embedding_model(%s, %s, %s, %s, %s)",
        (embedder.name, embedder.dimensions, scale.floor, scale.ceiling, scale.trust),
    ).fetchone()
    assert row is not None
    for (entity, content), vector in zip(facts, vectors, strict=True):
        sql.execute(
            "select remember_fact(%s, 'concept', %s, model => %s, embedding => %s)",
            (entity, content, row[0], str(list(map(float, vector)))),
        )
    sql.execute("select refresh_search_statistics()")
    return row[0]


async def embed(question: str) -> str:
    """The question's vector of that model, as a literal."""
    return str(list(map(float, await LocalEmbedder().embed_query(question))))


def recall(sql: psycopg.Connection, **columns: Any) -> None:
    sql.execute("select record_recalls(%s)", (describe_recall(**columns),))


def describe_recall(**columns: Any) -> str:
    """What a server tells of one answer."""
    same = {
        "at": "2026-11-21T12:00:00Z", "client": "tester 1", "mode": "search", "format": "lines",
        "structured": False, "tokens": 10, "budget": 2000, "items": 1, "dropped": 0,
    }  # fmt: skip
    return json.dumps([same | columns])
