"""What is in the database after calls that were meant to spoil it."""

import unicodedata
from typing import Any

import psycopg

from tests.fuzzing.oracle import hides

_MARK = (
    "select (select count(*) from entity), (select count(*) from observation),"
    " (select count(*) from relation), (select max(id) from event), (select count(*) from event),"
    " (select max(updated_at) from entity)"
)
_TEXTS = (
    "select 'entity', id::text, name from entity union all"
    " select 'relation', id::text, relation_type from relation union all"
    " select 'fact', id::text, content from observation"
)
_LIMITS = {"entity": 200, "relation": 100, "fact": 2000}
_FLAG = "\U0001f3f4\U000e0067"


def read_mark(owner: psycopg.Connection) -> tuple[Any, ...]:
    """What no refused call may change: every change of the memory adds an event."""
    row = owner.execute(_MARK).fetchone()
    assert row is not None
    return row


def find_spoilt(owner: psycopg.Connection) -> list[str]:
    """Stored texts that hide something, are not composed, empty or too long."""
    return [
        f"{kind} {identity}: {ascii(text)[:100]}"
        for kind, identity, text in owner.execute(_TEXTS).fetchall()
        if any(map(hides, text.replace("\r\n", "")) if _FLAG not in text else ())
        or not unicodedata.is_normalized("NFC", text)
        or not 0 < len(text) <= _LIMITS[kind]
    ]
