"""Texts that would run as scripts, in everything that people and programs can store."""

from itertools import product

import psycopg
import pytest

from tests.explorer.markup import PAYLOADS, Document
from tests.explorer.test_proposals_page import propose
from tests.explorer.test_search_page import remember
from tests.explorer.visiting import Browser, Place
from textrawl.values.text import clean_name

pytestmark = pytest.mark.anyio


def _store(owner: psycopg.Connection, payload: str) -> None:
    """Store a text as name, fact, relation, client, author and space."""
    name = clean_name(payload)
    space = "select id from space where name = 'team'"
    owner.execute(
        f"select remember_fact(%(p)s, 'person', %(p)s, space => ({space}), client => %(p)s),"
        f" relate_entities(%(p)s, %(p)s, 'Ada', space => ({space})),"
        f" name_entity(%(p)s, %(a)s, space => ({space}))",
        {"p": name, "a": f"{name} alias"},
    )


def _store_all(owner: psycopg.Connection) -> None:
    """Store all texts. The reader's name is one of them, and the reader wrote everything."""
    for payload in PAYLOADS:
        _store(owner, payload)
    owner.execute("update actor set name = %s where name = 'reader'", (PAYLOADS[1],))
    owner.execute(
        "update observation set author_id = (select id from actor where name = %s)", (PAYLOADS[1],)
    )
    with pytest.raises(psycopg.errors.CheckViolation):  # names of spaces have only safe characters
        owner.execute("update space set name = %s where name = 'team'", (PAYLOADS[0],))


async def test_no_text_on_the_dashboard_and_in_facts_to_compare_becomes_markup(
    place: Place,
) -> None:
    for payload in map(clean_name, PAYLOADS[::9]):
        for fact in (payload, f"{payload} again"):
            place.owner.execute(
                "select remember_fact(%s, 'person', %s,"
                " space => (select id from space where name = 'team'))",
                (payload, fact),
            )
        place.owner.execute(
            "insert into recall (space_id, at, mode, format, structured, tokens, budget, items,"
            " dropped, query, query_hash, milliseconds) select id, now(), 'search', 'lines', false,"
            " 10, 50, 0, 0, %(p)s, %(p)s, 3 from space where name = 'team'",
            {"p": payload},
        )
    place.owner.execute("update observation set confidence = 0.2")
    place.owner.execute("select register_embedding_model('fixed', 2)")
    place.owner.execute("insert into embedding_1 select space_id, id, '[1,0]' from observation")
    async with place.browse("writer") as browser:
        spaces = Document((await browser.get("spaces")).text)
        pairs = Document((await browser.get("compare")).text)

    assert spaces.faults + pairs.faults == []
    assert sum("alert(1)" in text for text in spaces.texts) >= 10
    assert sum("alert(1)" in text for text in pairs.texts) >= 40


async def _read_members(browser: Browser) -> list[str]:
    """Return the faults of the pages about people, when one of them has a hostile name."""
    given = {"actor": PAYLOADS[1], "space": "team"}
    answers = [
        await browser.get("grants"),
        await browser.get("tokens"),
        await browser.get("grant", **given),
        await browser.get("take-back", **given),
        await browser.post("grant", **given, **{"scope-read": "1"}),
    ]
    documents = [Document(answer.text) for answer in answers]
    missing = [document.text for document in documents if PAYLOADS[1] not in document.text]
    return missing + [fault for document in documents for fault in document.faults]


@pytest.mark.slow
async def test_no_stored_text_becomes_markup_for_readers_and_administrators(place: Place) -> None:
    _store_all(place.owner)
    await _look_as_reader(place)
    await _look_as_administrator(place)


async def _look_as_reader(place: Place) -> None:
    faults: list[str] = []
    unseen: list[str] = []
    async with place.browse("reader") as browser:
        for name in map(clean_name, PAYLOADS):
            document = Document((await browser.get("entity", name=name)).text)
            faults += document.faults
            unseen += [] if f"{name} alias" in document.text else [name]
        for name in map(clean_name, PAYLOADS[::20]):
            document = Document((await browser.get("search", q=name, why="1")).text)
            faults += document.faults
            unseen += [] if name in document.text else [name]
            faults += Document((await browser.get("graph", name=name)).text).faults
        relations = Document((await browser.get("entity", name="Ada")).text)
        spaces = Document((await browser.get("spaces")).text)

    assert faults + relations.faults + spaces.faults == []
    assert unseen == []
    assert PAYLOADS[1] in spaces.text
    assert sum("alert(1)" in text for text in relations.texts) >= 100


async def _look_as_administrator(place: Place) -> None:
    faults: list[str] = []
    async with place.browse("admin") as browser:
        for name in map(clean_name, PAYLOADS[::13]):
            faults += Document((await browser.get("trail", entity=name)).text).faults
            faults += Document((await browser.get("forget", name=name, space="team")).text).faults
            names = {"name": name, "alias": f"{name} alias", "other": "Ada"}
            for page in ("alias", "describe", "unname", "merge"):
                faults += Document((await browser.get(page, **names)).text).faults
            await browser.post("merge", **names, confirmed="1")
            faults += Document((await browser.get("entity", name=name)).text).faults
            faults += Document((await browser.get("split", name="Ada")).text).faults
            await browser.post("split", name="Ada", confirmed="1")
        plan = {"author": PAYLOADS[1], "since": "2020-01-01"}
        faults += Document((await browser.get("undo", **plan)).text).faults
        trail = Document((await browser.get("trail", limit="500")).text)
        faults += await _read_members(browser)

    assert faults + trail.faults == []
    assert sum("alert(1)" in text for text in trail.texts) >= 100


async def test_no_text_of_an_address_becomes_markup(place: Place) -> None:
    faults: list[str] = []
    names = ("q", "type", "space", "as_of", "name", "next", "code")
    async with place.browse("reader") as browser:
        for payload, name in product(PAYLOADS[::19], names):
            for page in ("search", "entity", "sign-in"):
                document = Document((await browser.get(page, **{name: payload})).text)
                faults += document.faults

    assert faults == []


@pytest.mark.ordinary("these spaces are in different cells")
async def test_no_text_of_a_timeline_or_a_share_becomes_markup(place: Place) -> None:
    place.owner.execute(
        "select create_space('other'), grant_access('writer', 'other', '{read,write}')"
    )
    names = [clean_name(payload) for payload in PAYLOADS[::23]]
    for name in names:
        remember(place.owner, name, name)
        place.owner.execute(
            "select revise_fact(%(p)s, %(p)s, %(p)s, %(p)s || '!', space => 2, client => %(p)s)",
            {"p": name},
        )
    pages: list[Document] = []
    async with place.browse("writer") as browser:
        pages.append(Document((await browser.get("timeline")).text))
        for name in names:
            given = {"name": name, "source": "team", "target": "other"}
            pages += [
                Document((await browser.get("share", **given | {"target": ""})).text),
                Document((await browser.get("share", **given)).text),
                Document((await browser.post("share", **given, confirmed="1")).text),
            ]
        for field in ("author", "entity", "since", "until", "before", "last"):
            pages.append(Document((await browser.get("timeline", **{field: names[3]})).text))

    assert [fault for page in pages for fault in page.faults] == []
    assert [name for name in names if name not in pages[0].text] == []
    assert sum("alert(1)" in page.text for page in pages) >= 20


async def test_no_text_of_a_proposal_becomes_markup(place: Place) -> None:
    faults: list[str] = []
    place.owner.execute("update actor set name = %s where name = 'proposer'", (PAYLOADS[1],))
    for payload in PAYLOADS[::17]:
        propose(place, clean_name(payload), clean_name(payload))
        remember(place.owner, clean_name(payload), clean_name(payload))
    place.owner.execute("update proposal set client = %s", (PAYLOADS[2],))
    async with place.browse("reviewer") as browser:
        page = Document((await browser.get("proposals")).text)
        rows = place.owner.execute("select id::text from proposal").fetchall()
        given = "&".join(f"id={row[0]}" for row in rows)
        plan = Document((await browser.get(f"decide?{given}")).text)
        reject = {"decision": "reject", "reason": PAYLOADS[3], "confirmed": "1"}
        done = Document((await browser.post("decide", ids=rows[0][0], **reject)).text)
        past = Document((await browser.get("proposals", state="rejected")).text)
    for document in (page, plan, done, past):
        faults += document.faults

    assert faults == []
    assert clean_name(PAYLOADS[3]) in past.text
    assert sum("alert(1)" in text for text in plan.texts) >= 10
