"""A team that writes one memory through SQL, each with a token of their own, and what it holds."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any, LiteralString
from uuid import UUID

import psycopg
from psycopg.rows import dict_row

# Without what an entity's lists are sorted by: taking something back is news as well.
_ROWS: dict[str, LiteralString] = {
    "entity": "select to_jsonb(t) - 'updated_at' from entity t where space_id = %s",
    "observation": "select to_jsonb(t) from fact t where space_id = %s",
    "relation": "select to_jsonb(t) from relation t where space_id = %s",
}


@dataclass(frozen=True)
class Said:
    """What remember_fact answered."""

    id: UUID
    entity: UUID
    duplicate: bool


class Team:
    """Writers of one space; whoever is named becomes one of them."""

    def __init__(self, sql: psycopg.Connection, space: str = "team") -> None:
        self.sql = sql
        self.name = space
        self.space: int = self.fetch("insert into space (name) values (%s) returning id", space)

    def fetch(self, query: LiteralString, *values: object) -> Any:
        """The one value that a query returns."""
        row = self.sql.execute(query, values).fetchone()
        assert row is not None
        return row[0]

    def credential(self, actor: str, *scopes: str) -> bytes:
        """The credential of somebody with these scopes, else all but admin."""
        return _make_credential(self, actor, scopes or ("read", "write", "forget"))

    def remember(
        self,
        actor: str,
        entity: str,
        text: str,
        replaces: object = None,
        *,
        kind: str = "person",
        **options: object,
    ) -> Said:
        """Stores a fact as `actor`. A new entity is of this kind."""
        names = {"replaces": None if replaces is None else str(replaces), **options}
        given = "".join(f", {name} => %({name})s" for name in names)
        query = f"""
            select observation_id, entity_id, duplicate from remember_fact(%(entity)s, %(kind)s,
                %(text)s, credential => %(credential)s, space => %(space)s{given})"""  # noqa: S608
        values = {
            "entity": entity, "kind": kind, "text": text, "credential": self.credential(actor),
            "space": self.space, **names,
        }  # fmt: skip
        row = self.sql.execute(query, values).fetchone()  # pyright: ignore[reportArgumentType, reportCallIssue]
        assert row is not None
        return Said(*row)

    def relate(self, actor: str, one: str, relation: str, other: str) -> UUID:
        """Connects two entities as `actor`."""
        return self.fetch(
            "select relation_id from relate_entities(%s, %s, %s, credential => %s, space => %s)",
            one,
            relation,
            other,
            self.credential(actor),
            self.space,
        )

    def forget(self, entity: str, fact: object = None) -> tuple[Any, ...]:
        """What forget_entity says: entity, facts, relations."""
        row = self.sql.execute(
            """select entity_name, facts, relations
               from forget_entity(%s, %s, credential => %s, space => %s)""",
            (entity, None if fact is None else str(fact), self.credential("clerk"), self.space),
        ).fetchone()
        assert row is not None
        return row

    def now(self) -> datetime:
        """The database's clock."""
        return self.fetch("select clock_timestamp()")

    def plan(self, author: str, since: datetime) -> list[dict[str, Any]]:
        """Rows of plan_undo."""
        with self.sql.cursor(row_factory=dict_row) as cursor:
            query = "select * from plan_undo(%s, %s, %s)"
            return cursor.execute(query, (author, since, self.space)).fetchall()

    def undo(self, author: str, since: datetime) -> dict[str, Any]:
        """The row of undo_author."""
        with self.sql.cursor(row_factory=dict_row) as cursor:
            query = "select * from undo_author(%s, %s, %s)"
            [row] = cursor.execute(query, (author, since, self.space)).fetchall()
        return row

    def undo_if_any(self, author: str, since: datetime) -> int | None:
        """The undo of what `author` wrote; None when there was nothing."""
        row = self.sql.execute(
            "select undo_id from undo_author(%s, %s, %s)", (author, since, self.space)
        ).fetchone()
        return row[0] if row else None

    def revert(self, undo: int) -> int:
        """Revert an undo, and return how many rows came back."""
        return self.fetch("select restored from revert_undo(%s)", undo)

    def rows(self) -> dict[str, str]:
        """Every row of entities, facts and relations as it is stored, by its id."""
        found = [
            row for query in _ROWS.values() for (row,) in self.sql.execute(query, (self.space,))
        ]
        return {row["id"]: json.dumps(row, sort_keys=True) for row in found}

    def check_undo(
        self, author: str, since: datetime, before: Any, look: Callable[..., Any] | None = None
    ) -> None:
        """An undo of `author` leaves what was there `before`, and its revert what is there now."""
        look = look or Team.rows
        after = look(self)
        done = self.undo(author, since)
        assert look(self) == before
        self.revert(done["undo_id"])
        assert look(self) == after

    def valid(self, entity: str) -> dict[str, str]:
        """What is valid about an entity now, and who says it."""
        query = """
            select content, author from memory_observations
            where valid and entity_name = %s and space = %s"""
        return dict(self.sql.execute(query, (entity, self.name)).fetchall())

    def state(self, fact: Said) -> tuple[datetime | None, UUID | None, str] | None:
        """End, successor and author of a fact; None when it is gone."""
        query = """
            select o.valid_until, o.replaced_by, a.name
            from observation o join actor a on a.id = o.author_id where o.id = %s"""
        return self.sql.execute(query, (fact.id,)).fetchone()


@cache
def _make_credential(team: Team, actor: str, scopes: tuple[str, ...]) -> bytes:
    token = hashlib.sha256(f"{team.name} {actor} {scopes}".encode()).digest()
    team.sql.execute(
        """
        with chosen as (select register_actor(%(actor)s) as id), granted as (
            insert into space_grant (space_id, actor_id, scopes)
            select %(space)s, id, %(scopes)s from chosen
            on conflict (space_id, actor_id) do update set scopes = excluded.scopes)
        insert into token (hash, kind, actor_id, home_space_id, scopes)
        select %(token)s, 'bearer', id, %(space)s, %(scopes)s from chosen""",
        {"actor": actor, "space": team.space, "scopes": list(scopes), "token": token},
    )
    return token
