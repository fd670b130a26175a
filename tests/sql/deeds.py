"""Two spaces that a team keeps in order, and every deed that somebody can do there."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, LiteralString

import psycopg
from psycopg.rows import dict_row

# Pip only proposes, bob reviews, root administers; ana and bob do everything else.
SCOPES: dict[str, tuple[str, ...]] = {
    "ana": ("read", "write", "forget"),
    "bob": ("read", "write", "forget", "review"),
    "pip": ("read", "propose"),
    "root": ("read", "admin"),
}
NAMES = ("Jeff", "Jeff Miller", "jmiller", "Kim")
TEXTS = (
    "likes tea", "drinks water", "owns cats", "plays chess",
    "lives in Oslo", "lives in Rome", "does Kim own cats?", "works with Kim",
)  # fmt: skip
# All that a space holds, row by row. What lists are sorted by is left out: an undo is news, too.
_STATE: dict[str, LiteralString] = {
    "entity": "select to_jsonb(t) - 'updated_at' from entity t where space_id = any(%s)",
    "fact": "select to_jsonb(t) from fact t where space_id = any(%s)",
    # A statement that comes back with its relation gets a new number and present names.
    "statement": "select to_jsonb(t) - array['ordinal', 'content', 'content_hash', 'claim']"
    " from observation t where space_id = any(%s) and relation_id is not null",
    "relation": "select to_jsonb(t) from relation t where space_id = any(%s)",
    "alias": "select to_jsonb(t) from entity_alias t"
    " where space_id = any(%s) and removed_at is null",
    "revision": "select to_jsonb(t) from revision t where space_id = any(%s)",
    # The reason of a rejection that was undone is kept, but nobody sees it.
    "proposal": "select to_jsonb(t) - 'reason' from proposal t"
    " where space_id = any(%s) and decision is null",
}
# All that a reader is answered, without ids and times.
_QUESTIONS: tuple[LiteralString, ...] = (
    """select entity_name, content, author, score, coverage, relation_type, to_entity
       from search_memory('who likes tea, water, cats or chess, and knows Kim?',
                          credential => %(token)s, spaces => %(spaces)s)""",
    # A relation changes two entities at the same instant. Then random ids decide their order.
    """select total, (
           select jsonb_agg(name order by name)
           from jsonb_path_query(entities, '$[*].name') name)::text
       from list_entities(max_rows => 50, credential => %(token)s, spaces => %(spaces)s)""",
    """select d.name, jsonb_path_query_array(observations, '$[*].content')::text,
           total_observations, jsonb_path_query_array(outgoing, '$[*].to_entity')::text,
           jsonb_path_query_array(incoming, '$[*].from_entity')::text, total_relations
       from unnest(%(names)s::text[]) n
       left join describe_entity(n, credential => %(token)s, spaces => %(spaces)s) d on true""",
    """select entity_name, content, section
       from digest_memory(credential => %(token)s, spaces => %(spaces)s)""",
    """select entities, facts, valid_facts, relations, events, types::text
       from memory_statistics(credential => %(token)s, spaces => %(spaces)s)""",
    """select entity_name from complete_name('', credential => %(token)s, spaces => %(spaces)s)
       order by entity_name""",
)

Rows = list[tuple[Any, ...]]
State = dict[str, dict[str, Any]]


@dataclass(frozen=True)
class Deed:
    """An act of somebody; `one`, `other` and `text` choose among what is there."""

    verb: str
    actor: str
    one: int = 0
    other: int = 0
    text: int = 0
    side: int = 0


@dataclass
class Refused(Exception):
    """The memory said no, which changes nothing."""

    code: str


def list_changes(before: State, after: State) -> list[tuple[str, str, Any, Any]]:
    """Row, column, former and present value of all that differs; None where there is no row."""
    changes: list[tuple[str, str, Any, Any]] = []
    for key in sorted({*before, *after}):
        former, present = before.get(key), after.get(key)
        if former is None or present is None:
            changes.append((key, "", former, present))
            continue
        changes += [
            (key, column, former[column], present[column])
            for column in former
            if former[column] != present[column]
        ]
    return changes


def choose(things: list[Any], place: int) -> Any:
    """One of the things that are there."""
    if not things:
        raise Refused("none")
    return things[place % len(things)]


@dataclass
class World:
    """Two spaces of one team: what is shared goes from one to the other."""

    sql: psycopg.Connection
    name: str
    spaces: list[int] = field(default_factory=list[int])
    tokens: dict[str, bytes] = field(default_factory=dict[str, bytes])

    def __post_init__(self) -> None:
        for side in ("team", "side"):
            created = "insert into space (name) values (%s) returning id"
            self.spaces.append(self.fetch(created, f"{self.name}-{side}"))
        for actor, scopes in SCOPES.items():
            self.tokens[actor] = hashlib.sha256(f"{self.name} {actor}".encode()).digest()
            self.sql.execute(
                """
                with chosen as (select register_actor(%(actor)s) as id), granted as (
                    insert into space_grant (space_id, actor_id, scopes)
                    select space, id, %(scopes)s from chosen, unnest(%(spaces)s::int[]) space)
                insert into token (hash, kind, actor_id, home_space_id, scopes)
                select %(token)s, 'bearer', id, %(home)s, %(scopes)s from chosen""",
                {
                    "actor": self.say(actor), "scopes": list(scopes), "spaces": self.spaces,
                    "token": self.tokens[actor], "home": self.spaces[0],
                },
            )  # fmt: skip

    def say(self, actor: str) -> str:
        """The name of an actor of this world alone."""
        return f"{self.name}-{actor}"

    def fetch(self, query: LiteralString, *values: object) -> Any:
        """The one value that a query returns."""
        row = self.sql.execute(query, values).fetchone()
        assert row is not None
        return row[0]

    def column(self, query: LiteralString, *values: object) -> list[Any]:
        """The first column of all rows."""
        return [row[0] for row in self.sql.execute(query, values).fetchall()]

    def now(self) -> datetime:
        """The clock of the database."""
        return self.fetch("select clock_timestamp()")

    def read_state(self) -> State:
        """All that both spaces hold, by kind and id."""
        found: State = {}
        for kind, query in _STATE.items():
            for row in self.column(query, self.spaces):
                number = row.get("id", row.get("observation_id", row.get("name_key")))
                found[f"{kind} {row['space_id']} {number}"] = row
        return found

    def list_valid(self) -> Rows:
        """Space, entity, text and author of every valid fact."""
        query = """
            select o.space_id, e.name_key, o.content, a.name from fact o
            join entity e on e.space_id = o.space_id and e.id = o.entity_id
            join actor a on a.id = o.author_id
            where o.space_id = any(%s)
              and is_valid(o.valid_from, o.valid_until, o.closed_at, present => clock_timestamp())
            order by 1, 2, 3"""
        return self.sql.execute(query, (self.spaces,)).fetchall()

    def do(self, deed: Deed) -> bool:
        """Do one deed; false if the memory refused it or there was nothing to do it to."""
        try:
            with self.sql.transaction():
                _DEEDS[deed.verb](self, deed, self.spaces[deed.side], self.tokens[deed.actor])
        except Refused:
            return False
        except psycopg.errors.Error as error:
            if not (error.sqlstate or "").startswith("TR"):
                raise
            return False
        return True

    def read_answers(self) -> Rows:
        """Return the answers to ana about the first space, without ids and times."""
        given = {"token": self.tokens["ana"], "spaces": self.spaces[:1], "names": [*NAMES]}
        return [row for query in _QUESTIONS for row in self.sql.execute(query, given).fetchall()]

    def plan(self, actor: str, since: datetime) -> list[dict[str, Any]]:
        """Return the plan of an undo of everything since then."""
        with self.sql.cursor(row_factory=dict_row) as cursor:
            query = "select * from plan_undo(%s, %s, credential => %s)"
            return cursor.execute(query, (self.say(actor), since, self.tokens["root"])).fetchall()

    def undo(self, actor: str, since: datetime) -> list[int]:
        """Undo everything that the actor did since then; the undos, newest first."""
        query = "select undo_id from undo_author(%s, %s, credential => %s)"
        rows = self.sql.execute(query, (self.say(actor), since, self.tokens["root"])).fetchall()
        return [number for (number,) in reversed(rows)]

    def revert(self, undos: list[int]) -> None:
        """Revert undos; one of several that belong together reverts all of them."""
        for number in undos:
            open_undo = "select exists (select from undo where id = %s and reverted_at is null)"
            if self.fetch(open_undo, number):
                self.fetch(
                    "select count(*) from revert_undo(%s, credential => %s)",
                    number,
                    self.tokens["root"],
                )


def _facts(world: World, space: int) -> list[Any]:
    query = """
        select o.id::text from fact o where o.space_id = %s
          and is_valid(o.valid_from, o.valid_until, o.closed_at, present => clock_timestamp())
        order by o.ordinal, o.id"""
    return world.column(query, space)


def _subject(world: World, space: int, fact: str) -> str:
    query = """
        select e.name from fact o join entity e on e.space_id = o.space_id and e.id = o.entity_id
        where o.space_id = %s and o.id = %s::uuid"""
    return world.fetch(query, space, fact)


def _entities(world: World, space: int) -> list[Any]:
    return world.column("select name from entity where space_id = %s order by name_key", space)


def _aliases(world: World, space: int) -> list[Any]:
    return world.column(
        "select name from entity_alias where space_id = %s order by name_key", space
    )


def _remember(world: World, deed: Deed, space: int, token: bytes) -> None:
    world.fetch(
        "select remember_fact(%s, 'person', %s, credential => %s, space => %s)::text",
        NAMES[deed.one % len(NAMES)],
        TEXTS[deed.text % len(TEXTS)],
        token,
        space,
    )


def _replace(world: World, deed: Deed, space: int, token: bytes) -> None:
    fact = choose(_facts(world, space), deed.other)
    world.fetch(
        "select remember_fact(%s, 'person', %s, replaces => %s, credential => %s,"
        " space => %s)::text",
        _subject(world, space, fact),
        TEXTS[deed.text % len(TEXTS)],
        fact,
        token,
        space,
    )


def _update(world: World, deed: Deed, space: int, token: bytes) -> None:
    fact = choose(_facts(world, space), deed.other)
    content = world.fetch("select content from fact where space_id = %s and id = %s", space, fact)
    world.fetch(
        "select remember_fact(%s, 'person', %s, confidence => %s, credential => %s,"
        " space => %s)::text",
        _subject(world, space, fact),
        content,
        (deed.text % 4) / 4,
        token,
        space,
    )


def _relate(world: World, deed: Deed, space: int, token: bytes) -> None:
    world.fetch(
        "select relate_entities(%s, 'knows', %s, credential => %s, space => %s)::text",
        NAMES[deed.one % len(NAMES)],
        NAMES[deed.other % len(NAMES)],
        token,
        space,
    )


def _decide(world: World, deed: Deed, space: int, token: bytes) -> None:
    pending = world.column(
        "select id::text from proposal where space_id = %s and decision is null"
        # Not by created_at, which depends on the clock that a test sets.
        " order by entity_key, content, relation_type, to_key, author_id, id",
        space,
    )
    world.fetch(
        "select count(*) from decide_proposals(array[%s], %s, 'so', space => %s, credential => %s)",
        choose(pending, deed.other),
        deed.verb,
        space,
        token,
    )


def _name(world: World, deed: Deed, space: int, token: bytes) -> None:
    world.fetch(
        "select name_entity(%s, %s, credential => %s, space => %s)::text",
        choose(_entities(world, space), deed.one),
        NAMES[deed.other % len(NAMES)],
        token,
        space,
    )


def _unname(world: World, deed: Deed, space: int, token: bytes) -> None:
    world.fetch(
        "select unname_entity(%s, credential => %s, space => %s)::text",
        choose(_aliases(world, space), deed.other),
        token,
        space,
    )


def _merge(world: World, deed: Deed, space: int, token: bytes) -> None:
    entities = _entities(world, space)
    world.fetch(
        "select merge_entities(%s, %s, credential => %s, space => %s)::text",
        choose(entities, deed.one),
        choose(entities, deed.other),
        token,
        space,
    )


def _split(world: World, deed: Deed, space: int, token: bytes) -> None:
    world.fetch(
        "select split_entity(%s, credential => %s, space => %s)::text",
        choose(_aliases(world, space), deed.other),
        token,
        space,
    )


def _share(world: World, deed: Deed, space: int, token: bytes) -> None:
    fact = choose(_facts(world, space), deed.one)
    target = next(other for other in world.spaces if other != space)
    world.fetch(
        "select share_memories(%s, %s, facts => %s, move => %s, credential => %s,"
        " space => %s)::text",
        _subject(world, space, fact),
        target,
        [fact] if deed.other % 2 else None,
        deed.verb == "move",
        token,
        space,
    )


def _revise(world: World, deed: Deed, space: int, token: bytes) -> None:
    fact = choose(_facts(world, space), deed.one)
    successor = None if deed.other % 3 == 0 else TEXTS[deed.text % len(TEXTS)]
    world.fetch(
        "select revise_fact(%s, %s, 'it was wrong', %s, credential => %s, space => %s)::text",
        _subject(world, space, fact),
        fact,
        successor,
        token,
        space,
    )


def _forget(world: World, deed: Deed, space: int, token: bytes) -> None:
    fact = choose(_facts(world, space), deed.one)
    world.fetch(
        "select forget_entity(%s, %s, credential => %s, space => %s)::text",
        _subject(world, space, fact),
        fact if deed.other % 4 else None,
        token,
        space,
    )


def _end_fact(world: World, deed: Deed, space: int, token: bytes) -> None:
    """Somebody says when the fact ended: just now, or long after every test."""
    fact = choose(_facts(world, space), deed.one)
    content = world.fetch("select content from fact where space_id = %s and id = %s", space, fact)
    world.fetch(
        "select remember_fact(%s, 'person', %s, valid_until => %s, credential => %s,"
        " space => %s)::text",
        _subject(world, space, fact),
        content,
        world.now() if deed.other % 3 else datetime(2999, 1 + deed.text, 1, tzinfo=UTC),
        token,
        space,
    )


def _end_relation(world: World, deed: Deed, space: int, token: bytes) -> None:
    if deed.text % 2:  # Somebody says when the relation ended, which is stored if there was none.
        world.fetch(
            "select relate_entities(%s, 'knows', %s, valid_until => %s, credential => %s,"
            " space => %s)::text",
            NAMES[deed.one % len(NAMES)],
            NAMES[deed.other % len(NAMES)],
            world.now(),
            token,
            space,
        )
        return
    world.fetch(
        "select end_relation(%s, 'knows', %s, credential => %s, space => %s)::text",
        NAMES[deed.one % len(NAMES)],
        NAMES[deed.other % len(NAMES)],
        token,
        space,
    )


def _fade(world: World, deed: Deed, space: int, token: bytes) -> None:
    world.fetch(
        "select count(*) from forget_faded(array[%s]::uuid[], %s, credential => %s, space => %s)",
        choose(_facts(world, space), deed.one),
        bool(deed.other % 2),
        token,
        space,
    )


def _tidy(world: World, _: Deed, space: int, token: bytes) -> None:
    world.fetch(
        "select count(*) from tidy_memory(credential => %s, space => %s)",
        token,
        space,
    )


_DEEDS: dict[str, Callable[[World, Deed, int, bytes], None]] = {
    "remember": _remember, "replace": _replace, "update": _update, "relate": _relate,
    "accept": _decide, "reject": _decide, "name": _name, "unname": _unname, "merge": _merge,
    "split": _split, "share": _share, "move": _share, "revise": _revise, "forget": _forget,
    "end fact": _end_fact, "end relation": _end_relation, "fade": _fade, "tidy": _tidy,
}  # fmt: skip
