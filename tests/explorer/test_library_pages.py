"""Documents, journal, identity, fading memories, clients, downloads: each for whom it is for."""

import json
from collections.abc import AsyncIterator
from html import unescape

import psycopg
import pytest

from tests.explorer.markup import Document, Forms
from tests.explorer.material import fill, write_texts
from tests.explorer.visiting import Browser, Place, open_place
from tests.support.sources import MEALS, store
from textrawl.access.access_token import hash_token
from textrawl.settings import Settings

pytestmark = pytest.mark.anyio
ENTRY, FILE = "daily/2026-05-01/laptop", "self/my_identity.md"


@pytest.fixture(scope="module")
async def library(empty_memory: tuple[Settings, psycopg.Connection]) -> AsyncIterator[Place]:
    """A memory with texts of each kind, also where nobody here may read: canaries."""
    settings, owner = empty_memory
    async with open_place(settings, owner) as place:
        fill(owner)
        write_texts(owner, "was in Oslo", hash_token(place.tokens["keeper"]))
        owner.execute("select create_space('second'), grant_access('reader', 'second', '{read}')")
        owner.execute("select create_space('secret')")
        [(secret,)] = owner.execute("select id from space where name = 'secret'").fetchall()
        owner.execute(
            "select write_entry('daily', '2026-05-01', 'whistles', 'laptop', space => %(at)s),"
            " remember_fact('Canary', 'person', 'sings and whistles', space => %(at)s)",
            {"at": secret},
        )
        for graph, tier in (("handbook", "personal"), ("diary", "sensitive"), ("far", "public")):
            owner.execute("select create_space(%s, tier => %s)", (graph, tier))
            store(owner, graph, f"{graph}-canary.md" if graph != "handbook" else "meals.md")
        for name in ("reader", "keeper", "admin"):
            for graph in ("handbook", "diary"):
                owner.execute("select grant_access(%s, %s, '{read,admin}')", (name, graph))
        owner.execute(
            "select store_source('handbook', 'file/' || p.name, p.name, p.name, '[[1,0,10,3]]',"
            " encode(sha256(p.name::bytea), 'hex'))"
            ' from generate_series(0, 59) n, to_char(n, \'"page "FM00".md"\') p (name)'
        )
        yield place


async def read(browser: Browser, page: str, **parameters: str) -> Document:
    answer = await browser.get(page, **parameters)
    assert answer.status_code == 200, answer.text
    document = Document(answer.text)
    assert document.faults == []
    return document


async def test_documents_are_listed_by_graph_and_page_and_shown_with_their_chunks(
    library: Place,
) -> None:
    async with library.browse("reader") as browser:
        first = await read(browser, "documents")
        second = await read(browser, "documents", space="handbook", skip="50")
        found = await read(browser, "search", q="when is tea served?")
        link = next(link for link in first.links if "item" in link)
        shown = Document((await browser.http.get(f"{browser.root}{link}")).text)
        codes = [
            (await browser.get("documents", space=graph)).status_code for graph in ("diary", "far")
        ]

    assert ("61 documents" in first.prose, "page 59.md" in first.prose) == (True, False)
    assert ("page 59.md" in second.prose, "/explore/documents" in second.links) == (
        True,
        True,
    )
    assert "meals.md" in first.prose
    assert all(line in shown.prose for line in MEALS.splitlines())
    assert {"1", "2", "3"} <= set(shown.texts)
    assert any(link.startswith("/explore/item?id=document") for link in found.links)
    assert codes == [404, 404]


async def test_journal_identity_and_snapshots_are_read_in_the_spaces_of_the_reader(
    library: Place,
) -> None:
    async with library.browse("reader") as browser:
        journal, entry = await read(browser, "journal"), await read(browser, "journal", entry=ENTRY)
        files, file = await read(browser, "identity"), await read(browser, "identity", file=FILE)
        kept = next(link for link in files.links if "snapshot=" in link)
        snapshot = Document((await browser.http.get(f"{browser.root}{unescape(kept)}")).text)
        found = await read(browser, "search", q="who was in Oslo?")
        second = await read(browser, "journal", space="second")
        missing = [
            (await browser.get(page, **{name: "nothing"})).status_code
            for page, name in (("journal", "entry"), ("identity", "file"), ("identity", "snapshot"))
        ]

    assert ("2026-05-01" in journal.prose, "1 entry" in journal.prose) == (True, True)
    assert ("was in Oslo" in entry.prose, "was in Oslo" in file.prose) == (True, True)
    assert "I was new" in snapshot.prose
    assert any(link.startswith("/explore/journal?entry=") for link in found.links)
    assert missing == [404] * 3
    for page in (journal, second):
        choices = [link for link in page.links if link.startswith("/explore/journal?space=")]
        assert {*choices} == {f"/explore/journal?space={name}" for name in ("second", "team")}
    assert "Nobody has written a journal here" in second.prose


async def test_a_memory_that_fades_is_listed_until_somebody_keeps_it(library: Place) -> None:
    async with library.browse("reader") as reader, library.browse("keeper") as keeper:
        shown = await read(reader, "fading")
        listed = await read(keeper, "fading")
        form = Forms((await keeper.get("fading")).text).find("keep")
        tried = (reader, form), (keeper, {**form, "fact": "1"}), (keeper, {**form, "space": ""})
        refused = [(await browser.post("keep", **each)).status_code for browser, each in tried]
        kept = await keeper.post("keep", **form)
        after = await read(keeper, "fading")

    assert "was in Oslo and fades" in shown.prose
    assert form["fact"] in listed.fields.values()
    assert ("fact" in shown.fields, refused) == (False, [403, 404, 400])
    assert (kept.status_code, "No memory fades" in after.prose) == (303, True)


async def test_each_link_of_the_trail_leads_to_a_page_that_is_there(library: Place) -> None:
    owner = library.owner
    owner.execute(
        "select remember_fact('Gone', 'person', 'was here', space => id),"
        " write_entry('daily', '2026-05-02', 'gone', 'laptop', space => id)"
        " from space where name = 'team'"
    )
    owner.execute(
        "select forget_entity('Gone', space => id),"
        " delete_entry('daily', '2026-05-02', 'laptop', space => id)"
        " from space where name = 'team'"
    )
    async with library.browse("admin") as browser:
        trail = await read(browser, "trail", limit="500")
        links = {link for link in trail.links if "?" in link and "undo" not in link}
        answers = [
            await browser.http.get(f"{browser.root}{each}", follow_redirects=True)
            for each in sorted(links)
        ]

    assert "Ada → Ben" in trail.prose
    dead = [str(answer.url) for answer in answers if answer.status_code >= 400]
    kinds = {
        kind
        for kind in ("item?id=document", "journal?entry", "identity?file", "entity?name")
        for link in links
        if kind in link
    }
    assert (dead, len(kinds)) == ([], 4)


async def test_clients_get_a_command_and_an_entry_and_never_a_token(library: Place) -> None:
    async with library.browse("reader") as browser:
        page = await read(browser, "clients")

    assert (
        f"textrawl connect codex --url {library.root}/mcp --token-file /path/to/token" in page.texts
    )
    assert "trl_" not in page.prose
    assert "/.venv/" not in page.prose


async def test_an_administrator_downloads_a_space_and_nobody_else_does(library: Place) -> None:
    async with library.browse("admin") as admin, library.browse("reader") as reader:
        offered, refused = await read(admin, "export"), await read(reader, "export")
        answer = await admin.get("export", space="team", download="1")
        codes = [
            (await browser.get("export", download="1", **given)).status_code
            for browser, given in (
                (reader, {"space": "team"}),
                (admin, {"space": "secret"}),
                (admin, {}),
                (admin, {"space": "diary"}),
                (admin, {"space": "handbook"}),
            )
        ]

    facts = [json.loads(line) for line in answer.text.splitlines()]
    stored = library.owner.execute(
        "select count(*) from observation o join space s on s.id = space_id where name = 'team'"
    ).fetchall()
    assert [(len(facts),)] == stored
    assert {"entity": "Ada", "relation": "works_with", "to": "Ben"}.items() <= next(
        fact for fact in facts if fact.get("to") == "Ben"
    ).items()
    assert "attachment" in answer.headers["content-disposition"]
    assert any("download=1" in link for link in offered.links)
    assert not any("download=1" in link for link in refused.links)
    assert codes == [403, 404, 400, 404, 400]


async def test_no_page_shows_a_text_of_another_space_or_of_a_sensitive_graph(
    library: Place,
) -> None:
    pages: list[tuple[str, dict[str, str]]] = [
        ("documents", {}),
        ("journal", {}),
        ("journal", {"entry": ENTRY}),
        ("identity", {}),
        ("fading", {}),
        ("suggest", {"q": "Can"}),
        ("suggest", {"q": "Canary"}),
        ("search", {"q": "canary sings"}),
        ("search", {"q": "when is tea served?"}),
    ]
    async with library.browse("reader") as browser:
        shown = [(page, given, (await browser.get(page, **given)).text) for page, given in pages]

    told = [
        (page, given)
        for page, given, text in shown
        if any(word in text for word in ("whistles", "canary.md", "Canary</"))
    ]
    assert told == []
