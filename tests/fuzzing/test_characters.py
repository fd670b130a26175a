"""Every character of Unicode that shows nothing, in every kind of text."""

import sys
import unicodedata
from collections.abc import Callable

import psycopg
import pytest

from tests.fuzzing.calls import Call
from tests.fuzzing.exploring import connect_in_memory
from tests.fuzzing.hostile import CONTROLS, HIDING, JOINED
from tests.fuzzing.oracle import hides
from tests.fuzzing.store import find_spoilt
from textrawl.settings import Settings
from textrawl.values.text import clean_fact, clean_name, clean_relation


def test_no_character_that_hides_is_left_in_a_name_or_passes_in_a_fact() -> None:
    hidden = [c for c in map(chr, range(sys.maxunicode + 1)) if hides(c)]
    assert len(hidden) > 2_000
    passed: list[str] = []
    for character in hidden:
        cleaned = clean_name(f"a{character}b") + clean_relation(f"a{character}b")
        passed += [f"name U+{ord(c):04X}" for c in cleaned if hides(c)]
        try:
            stored = clean_fact(f"a{character}b")
        except ValueError:
            continue
        passed += [f"fact U+{ord(c):04X}" for c in stored if hides(c)]
    assert passed == []


def test_what_hides_is_stored_nowhere_and_joiners_that_mean_something_everywhere(
    settings: Callable[..., Settings], owner: psycopg.Connection
) -> None:
    with connect_in_memory(settings(embedding_provider="none"), "auto") as channel:
        for number, character in enumerate([*CONTROLS, *HIDING]):
            if not hides(character):
                continue
            fact = {"entityName": "Ada", "entityType": "person", "observation": f"a{character}b"}
            assert not channel.send(Call("remember_fact", fact)).failed, ascii(character)
            named = {"entityName": f"N{character}", "entityType": "person"}
            assert not channel.send(
                Call("remember_fact", named | {"observation": f"fact {number}"})
            ).failed
        for joined in JOINED:
            fact = {"entityName": "Joined", "entityType": "concept", "observation": joined}
            assert not channel.send(Call("remember_fact", fact)).failed

    assert find_spoilt(owner) == []
    kept = owner.execute(
        "select content from observation o join entity e on e.id = o.entity_id"
        " where e.name = 'Joined' order by content collate \"C\""
    ).fetchall()
    assert [row[0] for row in kept] == sorted(unicodedata.normalize("NFC", j) for j in JOINED)


@pytest.mark.parametrize("joined", JOINED)
def test_joiners_that_mean_something_are_no_hiding(joined: str) -> None:
    assert clean_fact(f"before {joined} after") == f"before {joined} after"
