"""A batch of facts stores what its facts, told one by one, would."""

import json
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import psycopg
from hypothesis import example, given
from hypothesis import strategies as st
from psycopg.types.json import Jsonb

Sql = psycopg.Connection[Any]
Told = dict[str, Any]

# Texts that are the same, close or apart.
TEXTS = {
    "prefers dark mode": "[1,0,0]",
    "Prefers dark mode.": "[1,0,0]",
    "prefers the dark mode": "[0.99,0.1,0]",
    "runs version 16": "[0,1,0]",
    "runs version 17": "[0,1,0]",
    "likes tea": None,
}
UNTIL = ["2001-01-01T00:00:00+00:00", "2999-01-01T00:00:00+00:00"]
_LEFT = """
    select e.name, o.content, o.source, o.confidence, o.valid_until is null,
           o.valid_until < now() + interval '1 day', next.content,
           p.model_id is not null, v.vector::text
    from observation o
    join entity e on e.space_id = o.space_id and e.id = o.entity_id
    left join observation next on next.space_id = o.space_id and next.id = o.replaced_by
    left join embedding_pending p on p.space_id = o.space_id and p.observation_id = o.id
    left join embedding_1 v on v.space_id = o.space_id and v.observation_id = o.id
    order by o.ordinal"""
_TRAIL = """
    select e.action, o.content, before.content, e.detail - 'replaced' - 'until' - 'placed_before'
    from event e
    join observation o on o.space_id = e.space_id and o.id = e.observation_id
    left join observation before
        on before.space_id = e.space_id
        and before.id::text in (e.detail ->> 'replaced', e.detail ->> 'placed_before')
    order by e.id"""


def fact(text: str) -> Told:
    """What somebody says of Ada."""
    return {"entity": "Ada", "type": "person", "observation": text, "source": "note"}


facts = st.fixed_dictionaries(
    {
        "entity": st.sampled_from(["Ada", "ada", "Ada", "Bo"]),
        "type": st.just("person"),
        "observation": st.sampled_from(list(TEXTS)),
        "source": st.sampled_from(["note", "manual"]),
    },
    optional={
        "valid_until": st.sampled_from(UNTIL),
        "replaces": st.sampled_from(list(TEXTS)),
        "confidence": st.sampled_from([0.25, 0.5]),
    },
)


@example(
    [],
    [
        fact("prefers dark mode") | {"valid_until": UNTIL[0]},
        fact("Prefers dark mode."),
        fact("prefers dark mode") | {"valid_until": UNTIL[0]},
    ],
)
@example([fact("prefers the dark mode")], [fact("prefers dark mode"), fact("Prefers dark mode.")])
@example([], [fact("prefers dark mode"), fact("likes tea"), fact("prefers the dark mode")])
@given(st.lists(facts, max_size=3), st.lists(facts, min_size=1, max_size=8))
def test_a_batch_stores_what_its_facts_told_one_by_one_would(
    sql: Sql, before: list[Told], batch: list[Told]
) -> None:
    sql.execute("select register_embedding_model('test:three', 3)")
    with undone(sql):
        for fact in before:
            tell(sql, fact)
        with undone(sql):
            refused = [place for place, fact in enumerate(batch) if tell(sql, fact) is not None]
            one_by_one = [sql.execute(query).fetchall() for query in (_LEFT, _TRAIL)]
        if refused:
            assert tell_all(sql, batch) == [f"facts[{place}].replaces" for place in refused]
        else:
            assert tell_all(sql, batch) == []
            assert [sql.execute(query).fetchall() for query in (_LEFT, _TRAIL)] == one_by_one


@contextmanager
def undone(sql: Sql) -> Generator[None]:
    """What happens inside leaves nothing."""
    with sql.transaction(force_rollback=True):
        yield


def tell(sql: Sql, fact: Told) -> str | None:
    """Remembers a fact; how it was refused."""
    given = {"valid_until": None, "replaces": None, "confidence": None} | fact
    try:
        with sql.transaction():
            sql.execute(
                """
                select remember_fact(%(entity)s, %(type)s, %(observation)s, %(source)s,
                    confidence => %(confidence)s, valid_until => %(valid_until)s::timestamptz,
                    replaces => %(replaces)s,
                    model => 1, embedding => %(vector)s::halfvec)""",
                given | {"vector": TEXTS[fact["observation"]]},
            )
    except psycopg.DatabaseError as error:
        if error.sqlstate not in {"TR001", "TR003"}:
            raise
        return error.sqlstate
    return None


def tell_all(sql: Sql, batch: list[Told]) -> list[str]:
    """Remembers facts by one call; the paths of those that were refused."""
    try:
        with sql.transaction():
            sql.execute(
                "select build_knowledge(%s, model => 1, embeddings => %s::halfvec[])",
                (Jsonb(batch), [TEXTS[fact["observation"]] for fact in batch]),
            )
    except psycopg.DatabaseError as error:
        if error.sqlstate != "TR006":
            raise
        return [fault["path"] for fault in json.loads(error.diag.message_detail or "")]
    return []
