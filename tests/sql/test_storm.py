"""Writers, forgets and background work at once, for some minutes."""

import json
import random
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg

SESSIONS, STEPS = 8, 50
NAMES = ["Ada", "Bo", "Cy", "Di", "Eve", "Flo"]
TYPES = ["person", "project", "concept"]
MODELS = ("test:active", "test:building")

_FACTS = """
    select e.name, e.id::text, o.id::text, o.content
    from fact o join entity e on e.space_id = o.space_id and e.id = o.entity_id
    order by md5(o.id::text || %s) limit 4
"""
_NUMBERS = (
    "select array_agg(node_number(id)) from (select id from {} order by md5(id::text || %s)) t"
)
_FILL = """
    select fill_pending_embeddings(%s, array_agg(space_id), array_agg(observation_id),
                                   array_agg('[1,2,3]'::halfvec))
    from claim_pending_embeddings(%s, 8)
"""
_RELEASE = """
    select release_pending_embeddings(%s, array_agg(space_id), array_agg(observation_id))
    from embedding_pending
"""
_LIST_ANEW = """
    update embedding_model set queued = false, queued_space = null, queued_observation = null
    where id = %s
"""

Pick = tuple[str, str, str, str]  # name and id of the entity, id and text of the fact


class Writer:
    """One session; `ends` counts how its calls ended: ok, or the SQLSTATE."""

    def __init__(self, conninfo: str, number: int, ends: Counter[str]) -> None:
        self._sql: psycopg.Connection[Any] = psycopg.connect(conninfo, autocommit=True)
        self._sql.execute("set search_path = textrawl, public")
        self._dice = random.Random(number)  # noqa: S311 - the same calls in every run
        self._ends = ends
        self._number = number
        self._step = 0

    def run(self) -> None:
        """All of its calls, in turn."""
        ways = [
            *[self._remember, self._correct, self._batch, self._relate, self._draw] * 3,
            *[self._forget, self._delete, self._undo, self._count, self._vectors] * 2,
            *[self._look] * 3, self._log, self._bring,
        ]  # fmt: skip
        with self._sql:
            for self._step in range(STEPS):
                self._dice.choice(ways)()

    def _call(self, statement: str, *values: object) -> None:
        try:
            self._sql.execute(statement.encode(), values)
        except psycopg.Error as error:
            # A refusal of ours: what was chosen is not there any more.
            code = str(error.sqlstate)
            self._ends["refused" if code.startswith("TR") else f"{code} {statement}"] += 1
        else:
            self._ends["ok"] += 1

    def _fetch(self, query: str, *values: object) -> list[Any]:
        return self._sql.execute(query.encode(), values).fetchall()

    def _pick(self) -> list[Pick]:
        return self._fetch(_FACTS, str(self._dice.random()))

    def _name(self) -> str:
        return self._dice.choice(NAMES)

    def _shuffle(self) -> list[str]:
        return self._dice.sample(NAMES, 4)

    def _text(self, place: int = 0) -> str:
        shared = self._dice.choice(["tea", "bread", "oslo", "riga"])
        return f"{shared} w{self._number}x{self._step}x{place}"

    def _remember(self) -> None:
        self._call("select remember_fact(%s, 'person', %s)", self._name(), self._text())

    def _correct(self) -> None:
        facts = [
            {"entity": name, "type": "person", "observation": self._text(place), "replaces": fact}
            for place, (name, _, fact, _) in enumerate(self._pick())
        ]
        self._call("select build_knowledge(%s)", json.dumps(facts))

    def _batch(self) -> None:
        names = self._shuffle()
        facts = [
            {"entity": name, "type": "person", "observation": self._text(place)}
            for place, name in enumerate(names)
        ]
        relations = [{"from": names[3], "relation": "knows", "to": names[0]}]
        self._call("select build_knowledge(%s, %s)", json.dumps(facts), json.dumps(relations))

    def _relate(self) -> None:
        one, other, *_ = self._shuffle()
        self._call("select relate_entities(%s, 'meets', %s)", one, other)

    def _draw(self) -> None:
        """What the graph tools write."""
        one, other, *_ = self._shuffle()
        kind = self._dice.choice(TYPES)
        facts = [{"entity": one, "observations": [self._text()]}]
        nodes = [
            {"name": name, "type": kind, "observations": [self._text()]} for name in (one, other)
        ]
        edges = [{"from": one, "relation": "knows", "to": other}]
        edges += [{"from": other, "relation": "knows", "to": one}]
        [(numbers,)] = self._fetch(_NUMBERS.format("relation"), str(self._step))
        way = self._dice.randrange(5)
        if way == 0:
            self._call("select add_observations(%s)", json.dumps(facts))
        elif way == 1:
            self._call("select create_nodes(%s)", json.dumps(nodes))
        elif way == 2:
            self._call("select create_edges(%s)", json.dumps(edges))
        elif way == 3 and numbers:
            self._call("select end_edge(%s)", numbers[0])
        else:
            moved = [text for name, _, _, text in self._pick() if name == one]
            splits = [{"name": name, "observations": moved} for name in self._shuffle()]
            self._call("select split_node(%s, %s)", one, json.dumps(splits[:2]))

    def _forget(self) -> None:
        facts = self._pick()
        if self._dice.random() < 0.5 or not facts:
            self._call("select forget_entity(%s)", self._name())
        else:
            self._call("select forget_entity(%s, %s)", facts[0][0], facts[0][2])

    def _delete(self) -> None:
        names = self._shuffle()
        edges = [{"from": names[0], "relation": "knows", "to": name} for name in names[1:]]
        texts = [{"entity": name, "observations": [text]} for name, _, _, text in self._pick()]
        [(numbers,)] = self._fetch(_NUMBERS.format("reflection"), str(self._step))
        way = self._dice.randrange(4)
        if way == 0:
            self._call("select delete_nodes(%s)", names[:2])
        elif way == 1:
            self._call("select delete_observations(%s)", json.dumps(texts))
        elif way == 2 and numbers:
            self._call("select delete_reflections(%s)", numbers[:3])
        else:
            self._call("select delete_edges(%s)", json.dumps(edges))

    def _undo(self) -> None:
        way = self._dice.randrange(3)
        if way == 0:
            moment = "clock_timestamp() - interval '0.1 s'"
            self._call(f"select undo_author(session_user, {moment})")
        elif way == 1:
            self._call("select revert_undo((select max(id) from undo))")
        else:
            self._call("select purge_undone()")

    def _count(self) -> None:
        self._call("select refresh_search_statistics(force => true)")

    def _vectors(self) -> None:
        model = self._dice.choice([1, 2])
        way = self._dice.randrange(4)
        if way == 0:
            self._call(_FILL, model, model)
        elif way == 1:
            self._call(_RELEASE, model)
        elif way == 2:
            self._call("select start_embedding_model(%s, 3)", MODELS[1])
        else:
            self._call(_LIST_ANEW, model)
            self._call("select queue_embeddings(%s)", model)

    def _log(self) -> None:
        line = {
            "at": self._dice.choice(["2020-01-01", "2090-01-01"]), "mode": "search", "query": "tea",
            "format": "lines", "structured": False, "tokens": 10, "budget": 2000, "items": 1,
            "dropped": 0, "found": {"default": [fact for _, _, fact, _ in self._pick()]},
        }  # fmt: skip
        self._call("select record_recalls(%s)", json.dumps([line] * 3))
        self._call("select prune_recalls()")

    def _look(self) -> None:
        """What is noted of answers, and said about what was in them."""
        [(numbers,)] = self._fetch(_NUMBERS.format("entity"), str(self._step))
        if numbers:
            self._call("select record_use(%s)", numbers)
            thought = f"{self._name()} and {self._name()} like tea"
            self._call(
                "select add_reflection('entity', %s, 'me', target => %s)", thought, numbers[0]
            )

    def _bring(self) -> None:
        """What an import writes."""
        facts = self._pick()
        found = {
            "author": "ana",
            "tool": "import",
            "created_at": "2090-01-01",
            "valid_from": "2020-01-01",
        }
        lines = [
            found | {"place": place, "space": 1, "id": f"{self._dice.getrandbits(128):032x}",
                    "entity": entity, "text": self._text(place), "source": "note", "confidence": 1}
            for place, (_, entity, _, _) in enumerate(facts)
        ]  # fmt: skip
        edges = [
            found | {"place": place, "space": 1, "id": f"{self._dice.getrandbits(128):032x}",
                    "from_entity": entity, "to_entity": facts[0][1], "relation": "was",
                    "strength": 1}
            for place, (_, entity, _, _) in enumerate(facts)
        ]  # fmt: skip
        ids = [fact for _, _, fact, _ in facts]
        self._call("select import_facts(%s)", json.dumps(lines))
        self._call("select import_relations(%s)", json.dumps(edges))
        self._call(
            "select import_replacements(array_fill(1, array[%s]), %s::uuid[], %s::uuid[], %s)",
            len(ids),
            ids,
            ids[::-1],
            [True] * len(ids),
        )


def rage(conninfo: str) -> Counter[str]:
    """How all calls ended, once every session is closed."""
    ends: Counter[str] = Counter()
    with ThreadPoolExecutor(SESSIONS) as pool:
        writers = [Writer(conninfo, number, ends) for number in range(SESSIONS)]
        for future in [pool.submit(writer.run) for writer in writers]:
            future.result()
    return ends


Sql = psycopg.Connection[Any]

_DEADLOCKS = "select deadlocks from pg_stat_database where datname = current_database()"
_LEFT = """
    select word from lexeme
    where word ~ '^w[0-9]+x' and word not in (
        select unnest(tsvector_to_array(fts)) from observation)
"""


def test_in_a_storm_of_writers_forgets_and_background_work_nobody_waits_in_a_circle(
    owner: Sql,
) -> None:
    for model in MODELS:
        owner.execute("select start_embedding_model(%s, 3)", (model,))
    [before] = owner.execute(_DEADLOCKS).fetchall()

    ends = rage(owner.info.dsn)

    assert ends["ok"] > 200
    assert set(ends) <= {"ok", "refused"}
    assert owner.execute(_DEADLOCKS).fetchall() == [before]
    assert owner.execute(_LEFT).fetchall() == []
