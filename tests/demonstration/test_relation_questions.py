"""Fifty questions about relations of the demonstration's memory, and how many are answered."""

from typing import Any

import pytest
from mcp import Client

from textrawl.cli.demo import read_material

pytestmark = pytest.mark.anyio

SHOWN = 3  # results that a reader looks at
LEAST_ANSWERED = 45

# A question, and the relation that answers it.
QUESTIONS = """
Who was the leader of POSTGRES? | Michael Stonebraker | led | POSTGRES
What did Lawrence Rowe co-design? | Lawrence Rowe | co_designed | POSTGRES
At which university was Stonebraker a teacher? | Michael Stonebraker | taught_at | UC Berkeley
Which university did Andrew Yu go to? | Andrew Yu | studied_at | UC Berkeley
Who studied at Berkeley? | Jolly Chen | studied_at | UC Berkeley
Who created Postgres95? | Jolly Chen | created | Postgres95
What does PostgreSQL descend from? | PostgreSQL | descends_from | Postgres95
Which project succeeded Ingres? | POSTGRES | succeeded | Ingres
Where is UC Berkeley located? | UC Berkeley | located_in | Berkeley
Who served on the core team? | Bruce Momjian | served_on | PostgreSQL core team
Did Vadim Mikheev serve on the core team? | Vadim Mikheev | served_on | PostgreSQL core team
Which team governs the PostgreSQL project? | PostgreSQL core team | steers | PostgreSQL
Who develops PostgreSQL? | PostgreSQL Global Development Group | develops | PostgreSQL
Which company did Jonathan Katz work for? | Jonathan Katz | worked_at | Crunchy Data
Who wrote MVCC? | Vadim Mikheev | wrote | MVCC
Who wrote the write-ahead log? | Vadim Mikheev | wrote | Write-ahead log
Who is the author of TOAST? | Jan Wieck | wrote | TOAST
Who wrote PL/pgSQL? | Jan Wieck | wrote | PL/pgSQL
Where did Tom Lane work? | Tom Lane | worked_at | Crunchy Data
Who worked at Great Bridge? | Tom Lane | worked_at | Great Bridge
Who is Robert Haas's employer? | Robert Haas | worked_at | EDB
Where did Andres Freund work? | Andres Freund | worked_at | Microsoft
Who worked at NTT? | Fujii Masao | worked_at | NTT
Who started pgAdmin? | Dave Page | created | pgAdmin
Whose company is Neon? | Heikki Linnakangas | co_founded | Neon
Who wrote BRIN? | Álvaro Herrera | wrote | BRIN
Who integrated autovacuum? | Álvaro Herrera | integrated | Autovacuum
What did Oleg Bartunov co-found? | Oleg Bartunov | co_founded | Postgres Professional
Who co-wrote hstore? | Teodor Sigaev | co_wrote | hstore
Who founded OrioleDB? | Alexander Korotkov | founded | OrioleDB
Who bought OrioleDB? | Supabase | acquired | OrioleDB
Who founded 2ndQuadrant? | Simon Riggs | founded | 2ndQuadrant
To whom was 2ndQuadrant sold? | EDB | acquired | 2ndQuadrant
Who wrote pg_stat_statements? | Takahiro Itagaki | wrote | pg_stat_statements
Who contributed row-level security? | Stephen Frost | contributed | Row-level security
Who created the build farm? | Andrew Dunstan | created | Build farm
Who made PgBouncer? | Marko Kreen | created | PgBouncer
Who created pgvector? | Andrew Kane | created | pgvector
What does pgvector implement? | pgvector | implements | HNSW
On which platforms can I use pgvector? | Supabase | offers | pgvector
Which index does PostGIS use? | PostGIS | uses | GiST
Which company takes care of Citus? | Microsoft | maintains | Citus
Who is the man behind pgBackRest? | David Steele | created | pgBackRest
Who published Patroni? | Zalando | published | Patroni
Who founded PGCon? | Dan Langille | founded | PGCon
In which city did PGCon take place? | PGCon | held_in | Ottawa
In which city is FOSDEM PGDay held? | FOSDEM PGDay | held_in | Brussels
Who organises PGConf.EU? | PostgreSQL Europe | organises | PGConf.EU
Which release introduced JSONB? | PostgreSQL 9.4 | introduced | JSONB
What is the mascot of PostgreSQL? | PostgreSQL | has_mascot | Slonik
"""


def read_questions() -> list[tuple[str, str, str]]:
    """The questions, each with the entity and the arrow of the relation that answers it."""
    rows = [line.split(" | ") for line in QUESTIONS.strip().splitlines()]
    return [(question, source, f"{kind}→{target}") for question, source, kind, target in rows]


async def find(client: Client, question: str) -> list[tuple[str, str]]:
    """The first results, each with its entity."""
    result = await client.call_tool("query_memory", {"query": question, "limit": SHOWN})
    answer: Any = result.structured_content
    return [
        (entity["entityName"], memory["content"])
        for entity in answer["entities"]
        for memory in entity["memories"]
    ]


async def test_questions_about_relations_are_answered_among_the_first_three(client: Client) -> None:
    material = read_material()
    for batch in material.batches():
        await client.call_tool("build_knowledge", batch)
    stored = {
        (edge["fromEntity"], f"{edge['relation']}→{edge['toEntity']}")
        for edge in material.relations
    }
    questions = read_questions()
    assert len(questions) == 50
    assert {(source, arrow) for _, source, arrow in questions} <= stored

    missed = [
        (question, found)
        for question, source, arrow in questions
        if (source, arrow) not in (found := await find(client, question))
    ]

    assert len(questions) - len(missed) >= LEAST_ANSWERED, missed
