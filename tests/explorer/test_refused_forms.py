"""Every form: what somebody typed is lost neither by a refusal nor by the end of a session."""

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import httpx2
import pytest
from jinja2 import Environment, nodes

import textrawl.explorer
from tests.explorer.markup import Document, Forms
from tests.explorer.siege import ACTIONS, FOR_ALL, OWNER_ONLY, PAGES, UNCONFIRMED, Siege
from tests.explorer.visiting import Browser

pytestmark = pytest.mark.anyio

LONG = "Long texts \u00ad stay as they are. " * 350  # more than 10,000 characters
TODAY = datetime.now(UTC).date().isoformat()
Fields = dict[str, str]


@dataclass(frozen=True)
class Typing:
    """The form of an action: where it is, what somebody types, and texts that are refused."""

    page: Fields
    typed: Fields
    wrong: Fields
    place: int = 0  # among the forms of this action on the page


def test_every_page_that_can_be_a_part_has_its_macros_there_too() -> None:
    folder = Path(textrawl.explorer.__file__).parent / "pages"
    pages = {path.name: Environment().parse(path.read_text()) for path in folder.glob("*.html")}  # noqa: S701 - parsed only
    imported = {
        name: {macro for each in page.find_all(nodes.FromImport) for macro in each.names}
        for name, page in pages.items()
    }
    absent = imported["page.html"] - imported["part.html"]
    parts = [
        name
        for name, page in pages.items()
        if any(isinstance(each.template, nodes.Name) for each in page.find_all(nodes.Extends))
    ]
    missing = {
        (name, each.name)
        for name in parts
        for each in pages[name].find_all(nodes.Name)
        if each.name in absent - imported[name]
    }
    assert "forget.html" in parts
    assert missing == set()


def list_forms(siege: Siege) -> dict[str, Typing]:
    """Every form of a page of the team with a field for what somebody writes or chooses."""
    team, ada = siege.team, {"name": "Ada"}
    return {
        "remember": Typing(
            {},
            {
                "name": "Kim",
                "asked": "Kim",
                "meant": "Kim",
                "type": "person",
                "text": "sings\nloud",
                "valid_from": "2026-01-01",
            },
            {"name": LONG, "text": LONG, "type": LONG, "valid_from": "soon", "valid_until": "x"},
        ),
        "correct": Typing(
            {**ada, "fact": team.fact},
            {"text": "likes milk", "kind": "wrong", "reason": "she said so"},
            {"text": LONG, "reason": LONG},
        ),
        **_list_relations(ada),
        **_list_decisions(siege),
        "alias": Typing(ada, {"alias": "Countess"}, {"alias": LONG}),
        "edit": Typing(
            ada,
            {"new_name": "Ada Byron", "type": "concept", "text": "a countess"},
            {"new_name": LONG, "type": LONG, "text": LONG},
        ),
    }


def _list_relations(ada: Fields) -> dict[str, Typing]:
    likes = {"relation": "likes", "other": "Tea"}
    return {
        "relate": Typing(
            ada,
            {"relation": "knows", "other": "Cora", "valid_from": "2026-01-01"},
            {"relation": LONG, "other": LONG, "valid_from": "soon"},
        ),
        "relate: another": Typing(
            {**ada, **likes},
            {"relation": "loves", "other": "Cora"},
            {"other": LONG, "relation": ""},
        ),
        "end": Typing(
            {**ada, "relation": "loves", "other": "Cora"},
            {"valid_until": TODAY},
            {"valid_until": "soon"},
        ),
    }


def _list_decisions(siege: Siege) -> dict[str, Typing]:
    team, ada = siege.team, {"name": "Ada"}
    return {
        "amend": Typing({"id": team.proposed}, {"text": "rows well"}, {"text": LONG}),
        "decide": Typing(
            {"id": team.proposal}, {"reason": "nobody saw it"}, {"reason": LONG}, place=1
        ),
        "grant": Typing(
            {},
            {"actor": "dora", "scope-read": "1", "scope-write": "1"},
            {"actor": LONG, "scopes": ""},
        ),
        "selection": Typing(
            {**ada, "change": "said", "source": "team", "id": team.spare},
            {"day": "2026-01-02"},
            {"day": "soon"},
        ),
        "upload": Typing({"space": "library"}, {"space": "library"}, {}),
    }


async def _open(browser: Browser, action: str, typing: Typing) -> Fields:
    """Return what the form of a page sends before anybody types."""
    page = {"upload": "documents"}.get(action, action)
    shown = await browser.get(page, **{"space": "team", **typing.page})
    assert shown.status_code == 200, (action, shown.text)
    return Forms(shown.text).find(action, typing.place)


async def test_the_table_has_every_form_with_something_to_type(siege: Siege) -> None:
    """Otherwise the promises below would hold only for some of them."""
    forms = list_forms(siege)
    given = {"space": "team", **siege.team.parameters}
    async with siege.browse("boss") as browser:
        for page in PAGES:
            shown = await browser.get(page, **{**given, "part": "", "download": ""})
            for action, fields in Forms(shown.text).found:
                typed = set(fields) - set(_HIDDEN) - {""}
                assert action not in ACTIONS or action in forms or not typed, (action, typed)
                asks = action not in ACTIONS or action in UNCONFIRMED
                assert asks or fields.get("confirmed") == "1", (page, action)


_HIDDEN = (
    "form_token", "confirmed", "back", "space", "name", "fact", "planned", "id", "ids", "kind",
    "one", "other", "source", "target", "move", "ended", "decision", "undo", "event", "call",
    "pairs", "price", "alias", "actor", "author", "since", "others", "also", "keep", "token",
    "next", "typed",
)  # fmt: skip
"""Fields that forms have without anybody typing."""


async def test_a_refused_form_comes_back_with_what_was_typed_and_the_reason_at_its_field(
    siege: Siege,
) -> None:
    lost: list[str] = []
    before = siege.look()
    async with siege.browse("boss") as browser:
        for form, typing in list_forms(siege).items():
            action = form.partition(":")[0]
            sent = await _open(browser, action, typing)
            for name, text in typing.wrong.items():
                given = {**sent, **typing.typed, name: text}
                if name == "scopes":  # the boxes, none of which is checked
                    given = {
                        key: given[key] for key in given if not key.startswith(("scope", "role"))
                    }
                answer = await browser.send(action, given)
                lost += _compare(f"{action} with {name}", answer, given, action, typing.place)
                if 'id="fault-' not in answer.text:
                    lost.append(f"{action} with {name}: no reason at the field")
    assert lost == []
    assert siege.find_changes(before) == []


def _compare(
    what: str, answer: httpx2.Response, given: Fields, action: str, place: int, status: int = 400
) -> list[str]:
    """Return what a page does not have of what was typed."""
    if answer.status_code != status:
        return [f"{what}: {answer.status_code}"]
    fields = Forms(answer.text).find(action, place)
    written = {name: text for name, text in given.items() if name not in ("form_token", "back")}
    return [f"{what}: {name}" for name, text in written.items() if fields.get(name) != text]


async def test_after_the_end_of_a_session_each_form_is_back_with_what_was_typed_and_is_sent(
    siege: Siege,
) -> None:
    lost: list[str] = []
    async with siege.browse("boss") as browser:
        for form, typing in list_forms(siege).items():
            action = form.partition(":")[0]
            given = {**await _open(browser, action, typing), **typing.typed}
            before = siege.look()
            browser.http.cookies.clear()
            asked = await browser.send(action, given)
            assert siege.find_changes(before) == [], action
            shown = await _sign_in_again(browser, siege, asked)
            lost += _compare(action, shown, given, action, typing.place, 200)
            sent = Forms(shown.text).find(action, typing.place)
            done = await browser.send(action, sent)
            if done.status_code not in (200, 303):
                lost.append(f"{action}: {' '.join(Document(done.text).texts[-60:])}")
    assert lost == []


async def _sign_in_again(browser: Browser, siege: Siege, asked: httpx2.Response) -> httpx2.Response:
    """Follow the answer to a form without a session. The first token has an error of typing."""
    assert asked.headers["location"].startswith("/explore/sign-in?next="), asked.text
    page = await browser.follow(asked)
    for token in ("trl_mistyped", siege.tokens["boss"]):
        form = Forms(page.text).find("sign-in")
        page = await browser.send("sign-in", {**form, "token": token})
    return await browser.follow(page)


async def test_after_the_end_of_a_session_each_button_leads_to_its_page(siege: Siege) -> None:
    wrong: list[str] = []
    buttons = set(ACTIONS) - set(list_forms(siege)) - OWNER_ONLY - FOR_ALL
    before = siege.look()
    async with siege.browse("boss") as browser:
        for action in sorted(buttons):
            form = {"space": "team", **siege.team.valid[action], "back": "/explore/timeline"}
            browser.http.cookies.clear()
            shown = await _sign_in_again(browser, siege, await browser.post(action, **form))
            place = shown.url.path.rpartition("/")[2]
            if (shown.status_code, place) != (200, action if action in PAGES else "timeline"):
                wrong.append(f"{action}: {place}, {shown.status_code}")
    assert wrong == []
    assert siege.find_changes(before) == []


async def test_a_form_of_an_earlier_session_comes_back_too(siege: Siege) -> None:
    """Somebody has signed in again beside it, in another tab."""
    async with siege.browse("boss") as browser:
        typing = list_forms(siege)["correct"]
        given = {**await _open(browser, "correct", typing), **typing.typed}
        await browser.sign_in(siege.tokens["boss"])
        refused = await browser.send("correct", given)
        again = await browser.send("correct", Forms(refused.text).find("correct"))
        forged = await browser.send("correct", given, {"origin": "https://evil.example"})

    assert _compare("correct", refused, given, "correct", 0, 403) == []
    assert again.status_code == 303
    assert (forged.status_code, "likes milk" in forged.text) == (403, False)


async def test_a_text_is_shown_if_its_form_cannot_be(siege: Siege) -> None:
    """The fact has ended meanwhile, or the person may not write any more."""
    async with siege.browse("boss") as boss, siege.browse("looker") as looker:
        typing = list_forms(siege)["correct"]
        given = {**await _open(boss, "correct", typing), **typing.typed}
        siege.place.owner.execute(
            "delete from textrawl.observation where id = %s", (typing.page["fact"],)
        )
        gone = await boss.send("correct", given)
        refused = await looker.post("remember", name="Ada", text="sings", confirmed="1")

    assert (gone.status_code, "likes milk" in Document(gone.text).texts) == (400, True)
    assert "she said so" in Document(gone.text).texts
    assert (refused.status_code, "sings" in Document(refused.text).texts) == (403, True)


async def test_a_form_is_kept_for_the_browser_that_sent_it_alone(siege: Siege) -> None:
    async with siege.browse("boss") as browser, siege.browse("boss") as other:
        browser.http.cookies.clear()
        given = {"name": "Ada", "text": "has a secret", "confirmed": "1"}
        await browser.post("remember", **given)
        pages = [await other.get("remember", draft=guess) for guess in ("", "x", "Ada")]
        pages.append(await other.get("remember"))
        forged = await browser.send("remember", given, {"origin": "https://evil.example"})

    assert [page.status_code for page in pages] == [200] * 4
    assert [page for page in pages if "has a secret" in page.text] == []
    assert forged.status_code == 403


async def test_nothing_is_cut_in_a_browser_without_scripts(siege: Siege) -> None:
    """A field with `maxlength` would cut what somebody pastes, without a word."""
    async with siege.browse("boss") as browser:
        for form, typing in list_forms(siege).items():
            action = form.partition(":")[0]
            await _open(browser, action, typing)
            page = {"upload": "documents"}.get(action, action)
            shown = (await browser.get(page, **{"space": "team", **typing.page})).text
            header, _, content = shown.partition("<main")
            box = header.partition('class="remember"')[2]
            fields = content[content.index(f'action="/explore/{action}"') :]
            cut = [each for each in (box, fields) if "maxlength" in each.partition("</form>")[0]]
            assert cut == [], action
