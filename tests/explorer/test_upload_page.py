"""Files that people upload on the page of documents."""

from collections.abc import AsyncIterator, Callable
from hashlib import sha256
from html import unescape

import httpx2
import psycopg
import pytest

from tests.explorer.markup import PAYLOADS, Document
from tests.explorer.visiting import Browser, Files, Place, open_place
from textrawl.explorer import forms
from textrawl.settings import Settings

pytestmark = pytest.mark.anyio
NOTES = b"# Tea\n\nTea is served at four.\n"
FORGED = (
    ("origin", "https://evil.example"),
    ("content-type", "application/x-www-form-urlencoded"),
    ("content-type", "multipart/form-data"),
    ("content-type", "multipart/form-data; boundary=x; charset=idna"),
)


@pytest.fixture(scope="module")
async def shelf(empty_memory: tuple[Settings, psycopg.Connection]) -> AsyncIterator[Place]:
    """A memory with a graph to write to, and a sensitive one, which no page shows."""
    settings, owner = empty_memory
    async with open_place(settings, owner) as place:
        for graph, tier in (("shelf", "personal"), ("diary", "sensitive")):
            owner.execute("select create_space(%s, tier => %s)", (graph, tier))
            for name, scopes in (("writer", "{read,write}"), ("reader", "{read}")):
                owner.execute("select grant_access(%s, %s, %s::text[])", (name, graph, scopes))
        yield place


async def upload(browser: Browser, *files: tuple[str, bytes], **fields: str) -> httpx2.Response:
    """Send files as the form of the page of documents does."""
    shown = await browser.get("documents", space="shelf")
    form = Document(shown.text).fields
    given = {name: form[name] for name in ("form_token", "confirmed", "space")} | fields
    chosen: Files = [("file", file) for file in files]
    return await browser.send("upload", given, files=chosen)


def list_sources(place: Place) -> list[str]:
    """The paths of all documents that have a text."""
    rows = place.owner.execute(
        "select path from source s"
        " join document d on d.space_id = s.space_id and d.id = document_id"
        " where content_hash is not null order by 1"
    ).fetchall()
    return [path for (path,) in rows]


async def test_files_are_stored_shown_with_their_chunks_and_undone_at_once(shelf: Place) -> None:
    async with shelf.browse("writer") as browser:
        sent = await upload(browser, ("tea.md", NOTES), ("plan.txt", b"Plant mint."))
        told = await browser.follow(sent)
        page, stored = Document(told.text), list_sources(shelf)
        again = Document((await browser.follow(await upload(browser, ("tea.md", NOTES)))).text)
        link = next(link for link in page.links if "item" in link)
        shown = Document((await browser.http.get(f"{browser.root}{unescape(link)}")).text)
        newer = await browser.follow(await upload(browser, ("tea.md", NOTES + b"Or five.")))
        kept = list_sources(shelf)
        await browser.follow(await browser.press(newer, "undo-change"))
        former = Document((await browser.http.get(f"{browser.root}{unescape(link)}")).text)
        undone = await browser.follow(await browser.press(told, "undo-change"))

    assert ("Stored 2 documents." in page.prose, page.faults) == (True, [])
    assert stored == kept == ["file/plan.txt", "file/tea.md"]
    assert "Nothing was stored. 1 file known already." in again.prose
    assert "Tea is served at four." in shown.prose
    assert ("Stored 1 document." in newer.text, "five" in former.prose) == (True, False)
    assert ("Undone." in undone.text, list_sources(shelf)) == (True, [])


async def test_a_file_that_is_refused_is_named_and_the_others_are_stored(shelf: Place) -> None:
    async with shelf.browse("writer") as browser:
        sent = await upload(
            browser,
            ("broken.pdf", b"%PDF-1.7 and nothing more"),
            ("picture.png", b"\x89PNG\x00\x01"),
            ("tea.md", NOTES),
            ("notes/tea.md", b"another tea"),
            ("key.txt", b"The key is sk-proj-" + b"abcDEF123456" * 4),
        )
        told = await browser.follow(sent)
        page, stored = Document(told.text), list_sources(shelf)
        await browser.press(told, "undo-change")

    assert stored == ["file/key.txt", "file/tea.md"]
    assert "broken.pdf: not stored, because it is not a PDF that can be read" in page.prose
    assert "picture.png: not stored, because it is not a text" in page.prose
    assert "tea.md: not stored, because another of the chosen files has the same name" in page.prose
    assert "key.txt: secrets were masked: " in page.prose


async def test_a_large_text_has_more_time_than_other_calls(
    settings: Callable[..., Settings], owner: psycopg.Connection
) -> None:
    owner.execute("""
        create function limited() returns trigger language plpgsql as $$ begin
            if new.chunks > 100 and current_setting('statement_timeout')::interval < '1 minute' then
                raise query_canceled using message = 'a large text has too little time';
            end if;
            return null;
        end $$;
        create trigger limited after update on source for each row execute function limited();
    """)
    given = settings(embedding_provider="none", database_timeout=30.0)
    large = b"Tea is served at four, and coffee is served at five.\n\n" * 6_000
    async with open_place(given, owner) as place:
        owner.execute("select create_space('shelf', tier => 'personal')")
        owner.execute("select grant_access('writer', 'shelf', '{read,write}')")
        async with place.browse("writer") as browser:
            sent = await upload(browser, ("large.txt", large), ("tea.md", NOTES))
            told = await browser.follow(sent)

    assert "Stored 2 documents." in told.text
    assert list_sources(place) == ["file/large.txt", "file/tea.md"]


async def test_names_of_files_are_texts_and_never_paths(shelf: Place) -> None:
    names = [
        f"{payload.replace('/', '')}{number}.md" for number, payload in enumerate(PAYLOADS[::13])
    ]
    names += ["../../../etc/passwd", "..\\..\\boot.ini", "..", ".", "a\x00b.md", "x" * 400 + ".md"]
    names += ["/", "\u202egpj.md", "name; filename=other.md", "CON"]
    async with shelf.browse("writer") as browser:
        for start in range(0, len(names), forms.MOST_FILES):
            some = names[start : start + forms.MOST_FILES]
            files = [(name, sha256(name.encode()).hexdigest().encode()) for name in some]
            page = Document((await browser.follow(await upload(browser, *files))).text)
            assert page.faults == []
        listed = Document((await browser.get("documents", space="shelf")).text)
        stored = list_sources(shelf)
        shelf.owner.execute(
            "select forget_source(document_id) from source where content_hash is not null"
        )

    assert listed.faults == []
    assert all(path.startswith("file/") and len(path) <= 300 for path in stored)
    assert {"file/passwd", "file/boot.ini"} <= set(stored)
    assert len(stored) == len(names)


async def test_a_form_that_is_too_large_says_so_and_stores_nothing(shelf: Place) -> None:
    many = [(f"{number}.md", NOTES) for number in range(forms.MOST_FILES + 1)]
    async with shelf.browse("writer") as browser:
        too_many = await upload(browser, *many)
        too_large = await upload(browser, ("tea.md", NOTES), ("big.txt", b"tea " * 5_100_000))
        none = await upload(browser, ("", b""))

    assert (too_many.status_code, too_large.status_code, none.status_code) == (403, 400, 400)
    assert "choose at most 20 files" in too_many.text
    assert "at most 20 MB together" in too_large.text
    assert "No file is chosen" in none.text
    assert list_sources(shelf) == []


async def test_only_a_writer_of_the_graph_uploads_from_its_own_page(shelf: Place) -> None:
    async with shelf.browse("reader") as reader, shelf.browse("writer") as writer:
        offered = [
            "multipart/form-data" in (await browser.get("documents", space="shelf")).text
            for browser in (reader, writer)
        ]
        form = {"space": "shelf", "confirmed": "1"}
        own = form | {"form_token": writer.form_token}
        tries = {
            "reader": await reader.post("upload", **form),
            "no token": await writer.send("upload", form),
            "another's token": await writer.send(
                "upload", form | {"form_token": reader.form_token}
            ),
            "no confirmation": await writer.post("upload", space="shelf"),
            "a space with facts": await writer.post("upload", **form | {"space": "team"}),
            "a sensitive graph": await writer.post("upload", **form | {"space": "diary"}),
            "no graph": await writer.post("upload", confirmed="1"),
        }
        for name, value in FORGED:
            tries[value] = await writer.send("upload", own, {name: value})

    codes = {name: answer.status_code for name, answer in tries.items()}
    assert offered == [False, True]
    assert {name: code for name, code in codes.items() if code not in (400, 403, 404)} == {}
    assert list_sources(shelf) == []
