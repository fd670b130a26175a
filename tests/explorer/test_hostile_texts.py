"""Texts that would run as scripts, in everything that people and programs can store."""

from itertools import product

import psycopg
import pytest

from tests.explorer.markup import PAYLOADS, Document
from tests.explorer.visiting import Place
from textrawl.values.text import clean_name

pytestmark = pytest.mark.anyio


def _store(owner: psycopg.Connection, payload: str) -> None:
    """Store a text as name, fact, relation, client, author and space."""
    name = clean_name(payload)
    space = "select id from space where name = 'team'"
    owner.execute(
        f"select remember_fact(%(p)s, 'person', %(p)s, space => ({space}), client => %(p)s),"
        f" relate_entities(%(p)s, %(p)s, 'Ada', space => ({space}))",
        {"p": name},
    )


def test_there_are_enough_texts() -> None:
    assert len(set(PAYLOADS)) >= 200


async def test_no_stored_text_becomes_markup(place: Place) -> None:
    for payload in PAYLOADS:
        _store(place.owner, payload)
    place.owner.execute("update actor set name = %s where name = 'reader'", (PAYLOADS[1],))
    place.owner.execute(
        "update observation set author_id = (select id from actor where name = %s)", (PAYLOADS[1],)
    )
    with pytest.raises(psycopg.errors.CheckViolation):  # names of spaces have only safe characters
        place.owner.execute("update space set name = %s where name = 'team'", (PAYLOADS[0],))
    faults: list[str] = []
    unseen: list[str] = []
    async with place.browse("reader") as browser:
        for payload in PAYLOADS:
            name = clean_name(payload)
            for page, given in (("entity", {"name": name}), ("search", {"q": name, "why": "1"})):
                document = Document((await browser.get(page, **given)).text)
                faults += document.faults
                unseen += [payload] if name not in document.text else []
        everything = Document((await browser.get("entity", name="Ada")).text)

    assert faults == []
    assert unseen == []
    assert everything.faults == []
    assert sum("alert(1)" in text for text in everything.texts) >= 100


async def test_no_text_of_an_address_becomes_markup(place: Place) -> None:
    faults: list[str] = []
    names = ("q", "type", "space", "as_of", "name", "next", "code")
    async with place.browse("reader") as browser:
        for payload, name in product(PAYLOADS[::19], names):
            for page in ("search", "entity", "sign-in"):
                document = Document((await browser.get(page, **{name: payload})).text)
                faults += document.faults

    assert faults == []
