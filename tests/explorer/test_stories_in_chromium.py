"""A reader, a writer and an administrator use the pages in a real browser."""

import re
from dataclasses import dataclass
from typing import Any

import pytest
from playwright.async_api import FilePayload, Locator, expect

from tests.explorer.chromium import Tab, marks, open_tab, sign_in
from tests.explorer.siege import ACTIONS, FOR_ALL
from tests.explorer.test_proposals_page import propose
from tests.explorer.visiting import Place

pytestmark = marks


async def test_a_reader_finds_an_entity_and_its_graph_and_can_change_nothing(filled: Place) -> None:
    before = _count_events(filled)
    for scripts in (True, False):
        async with open_tab(filled, java_script_enabled=scripts) as tab:
            await sign_in(tab, filled.tokens["reader"])
            await _search(tab, "who lives in Rome?")
            await tab.page.get_by_role("link", name="Ada", exact=True).click()
            await expect(tab.page.get_by_text("lives in Rome", exact=True).first).to_be_visible()
            offered = await tab.page.get_by_role("link").all_text_contents()
            await tab.page.get_by_role("link", name="Show the graph").click()
            await expect(tab.page.get_by_role("heading", name="Graph of Ada")).to_be_visible()
            await tab.page.locator("#graph a").filter(has_text="Ben").click()
            if scripts:  # the entity is shown beside the drawing
                await tab.page.get_by_role("link", name="Centre here").click()
            await expect(tab.page.get_by_role("heading", name="Graph of Ben")).to_be_visible()
            forms = await _list_forms(tab)
            refused = [await _forge(tab, action) for action in sorted(set(ACTIONS) - FOR_ALL)]

        assert [text for text in offered if text.startswith(("Correct", "Forget", "Trail"))] == []
        assert forms == {"/explore/preferences", "/explore/sign-out"}
        assert set(refused) <= {400, 403, 404}
        assert tab.faults == []
    assert _count_events(filled) == before


async def _list_forms(tab: Tab) -> set[str]:
    """The actions of all forms that change something, on the pages of a reader."""
    found = set[str]()
    for page in ("home", "entity?name=Ada", "timeline", "search?q=tea", "documents", "fading"):
        await tab.go(page, "load")
        forms = "forms => forms.map((form) => form.getAttribute('action'))"
        found |= set(await tab.page.locator("form[method=post]").evaluate_all(forms))
    return found


async def _forge(tab: Tab, action: str) -> int:
    """Send a form that no page offers, with the secret of the session. Return the status."""
    token = await tab.page.locator("[name=form_token]").first.get_attribute("value")
    fields: dict[str, str | float | bool] = {
        "form_token": token or "", "confirmed": "1", "space": "team", "name": "Ada",
        "text": "likes crime", "other": "Ben", "relation": "knows",
    }  # fmt: skip
    answer = await tab.page.request.post(
        f"{tab.root}/explore/{action}", form=fields, headers={"origin": tab.root}
    )
    return answer.status


def _count_events(place: Place) -> int:
    return place.owner.execute("select count(*) from textrawl.event").fetchall()[0][0]


WAYS = {
    "mouse": {},
    "keyboard": {},
    "touch": {"viewport": {"width": 390, "height": 844}, "has_touch": True},
    "no script": {"java_script_enabled": False},
}


@dataclass
class Hand:
    """A person at a tab. `presses` counts what was clicked, tapped or pressed."""

    tab: Tab
    way: str
    presses: int = 0

    async def press(self, role: Any, name: str) -> None:
        """Use the first visible button or link with such a name."""
        self.presses += 1
        page = self.tab.page
        found = page.locator("summary") if role == "box" else page.get_by_role(role)
        wanted = found.filter(has_text=re.compile(name), visible=True)
        if self.way == "keyboard":
            await walk_to(self.tab, wanted.first, name)
            await self.tab.page.keyboard.press("Enter")
        elif self.way == "touch":
            await wanted.first.tap()
        else:
            await wanted.first.click()

    async def write(self, **fields: str) -> None:
        """Fill the visible fields with these names."""
        for name, text in fields.items():
            await (
                self.tab.page.locator(f"main [name={name}], .remember[open] [name={name}]")
                .filter(visible=True)
                .first.fill(text)
            )

    async def call_new(self, name: str, button: str) -> None:
        """Say that an unknown name is that of a new entity. Only a script asks before the form."""
        if self.way == "no script":
            await self.press("button", button)
        await self.tab.page.get_by_label(f"New: {name}").filter(visible=True).check()

    async def read(self, text: str) -> None:
        """Wait until the notice says something."""
        told = self.tab.page.locator(".notice").filter(visible=True)
        await expect(told).to_contain_text(text)


@pytest.mark.parametrize("way", list(WAYS))
async def test_a_writer_adds_and_changes_everything_at_its_place(filled: Place, way: str) -> None:
    async with open_tab(filled, **WAYS[way]) as tab:
        hand = Hand(tab, way)
        await sign_in(tab, filled.tokens["writer"])
        await _add(hand, filled)
        await tab.go("entity?name=Ada&space=team")
        await _correct(hand, filled)
        await _connect(hand, filled)
        await _rename(hand, filled)
        await _upload(hand, filled)

    # The page that asks whether a name is new has the status of a refused form.
    assert [fault for fault in tab.faults if "400 (Bad Request)" not in fault] == []


async def _add(hand: Hand, place: Place) -> None:
    """Remember a fact from the page of a search, with two presses."""
    await hand.tab.go("timeline?author=writer")
    hand.presses = 0
    await hand.press("box", "Remember")
    await hand.write(name="Grace", text="wrote a compiler")
    await hand.call_new("Grace", "Remember")
    await hand.press("button", "Remember")
    await hand.read("Remembered.")
    assert hand.presses == (3 if hand.way == "no script" else 2)
    assert hand.tab.page.url.endswith("/timeline?author=writer")
    assert _find_facts(place, "wrote%") == ["wrote a compiler"]
    await hand.press("button", "Undo")
    await hand.read("Undone.")
    assert _find_facts(place, "wrote%") == []


async def _correct(hand: Hand, place: Place) -> None:
    """Correct a fact with two presses, undo that on the spot, and forget it."""
    hand.presses = 0
    await hand.press("link", "Correct: prefers green tea")
    await hand.write(text="prefers mint tea")
    await hand.press("button", "Save")
    await hand.read("Corrected.")
    assert (hand.presses, _find_facts(place, "prefers%")) == (2, ["prefers mint tea"])
    await hand.press("button", "Undo")
    await hand.read("Undone.")
    assert _find_facts(place, "prefers%") == ["prefers green tea"]
    await hand.press("link", "Forget: prefers green tea")
    await hand.press("button", "Delete for good")
    await hand.read("Deleted for good.")
    assert _find_facts(place, "prefers%") == []


async def _connect(hand: Hand, place: Place) -> None:
    """Relate two entities, correct the relation, and end it."""
    await hand.press("box", "Change")
    await hand.press("link", "Relate it")
    await hand.write(relation="knows", other="Grace")
    await hand.call_new("Grace", "Save")
    await hand.press("button", "Save")
    await hand.read("Related.")
    await hand.press("link", "Correct: knows → Grace")
    await hand.write(other="Ben")
    await hand.press("button", "Save")
    await hand.read("Corrected.")
    assert _find_ends(place) == [("Ben", False), ("Grace", True)]
    await hand.press("link", "End: knows → Ben")
    await hand.press("button", "End it")
    await hand.read("Ended.")
    assert _find_ends(place) == [("Ben", True), ("Grace", True)]


async def _rename(hand: Hand, place: Place) -> None:
    """Give an entity another name and type."""
    await hand.press("box", "Change")
    await hand.press("link", "Edit")
    await hand.write(new_name="Ada King", type="project", text="a countess")
    await hand.press("button", "Save")
    await hand.read("Changed.")
    await expect(hand.tab.page.get_by_role("heading", name="Ada King").first).to_be_visible()
    await hand.press("button", "Undo")
    undone = hand.tab.page.get_by_role("heading", name="Ada", exact=True)
    await expect(undone.first).to_be_visible()
    names = place.owner.execute("select name from entity where name like 'Ada%'").fetchall()
    assert names == [("Ada",)]


async def _upload(hand: Hand, place: Place) -> None:
    """Upload two files, one of which is broken, and undo that on the spot."""
    await hand.tab.go("documents?space=handbook")
    chosen = {"tea.md": b"Tea is served at four.", "broken.pdf": b"%PDF-1.7 and nothing more"}
    files = [
        FilePayload(name=name, mimeType="text/plain", buffer=text) for name, text in chosen.items()
    ]
    await hand.tab.page.get_by_label("Choose files").set_input_files(files)
    await hand.press("button", "Upload")
    await hand.read("Stored 1 document.")
    await hand.read("broken.pdf: not stored")
    query = "select count(*) from textrawl.source where label = 'tea.md' and content_hash <> ''"
    assert place.owner.execute(query).fetchall() == [(1,)]
    await hand.press("button", "Undo")
    await hand.read("Undone.")
    assert place.owner.execute(query).fetchall() == [(0,)]


PAIRS = (
    "Charles Babbage", "Konrad Zuse", "Edsger Dijkstra", "Barbara Liskov", "Donald Knuth",
    "Margaret Hamilton", "Niklaus Wirth", "Radia Perlman", "Tony Hoare", "Frances Allen",
)  # fmt: skip


async def test_an_administrator_accepts_merges_and_grants_in_every_way(filled: Place) -> None:
    """Each change is taken back, so that all ways share one memory."""
    propose(filled, "Ada", "hums a tune")
    for name in PAIRS:
        for written in (name, name.upper().replace(" ", "-")):
            fact = (written, f"is {written}", filled.tokens["keeper"])
            filled.owner.execute(
                "select remember_fact(%s, 'person', %s, credential => sha256(%s::bytea))", fact
            )
    for way, options in WAYS.items():
        async with open_tab(filled, **options) as tab:
            hand = Hand(tab, way)
            await sign_in(tab, filled.tokens["keeper"])
            await _accept(hand, filled)
            await _merge(hand, filled)
            await _grant(hand, filled)

        assert (way, tab.faults) == (way, [])


async def _accept(hand: Hand, place: Place) -> None:
    """Accept a proposal with another text, and take that back."""
    await hand.tab.go("proposals")
    await hand.press("link", "Edit and accept: hums a tune")
    await hand.write(text="hums a hymn")
    await hand.press("button", "Accept it")
    await hand.read("Accepted.")
    assert _find_facts(place, "hums%") == ["hums a hymn"]
    await hand.press("button", "Undo")
    await hand.read("Undone.")
    assert _find_facts(place, "hums%") == []


async def _merge(hand: Hand, place: Place) -> None:
    """Merge ten pairs with three presses, and undo them with one."""
    query = "select count(*) from textrawl.merge"
    before = place.owner.execute(query).fetchall()
    await hand.tab.go("same?space=team&score=60")
    hand.presses = 0
    await hand.press("link", "Choose all")
    await hand.press("button", "Merge the chosen pairs")
    await hand.press("button", "Merge 10 pairs")
    await hand.read("Merged 10 pairs.")
    assert hand.presses == 3
    await hand.press("button", "Undo")
    await hand.read("Undone.")
    assert place.owner.execute(query).fetchall() == before


async def _grant(hand: Hand, place: Place) -> None:
    """Grant a scope to somebody, see it, and take it back."""
    await hand.tab.go("grants?space=team")
    await hand.press("button", "Choose scopes")
    await hand.write(actor="dora")
    await hand.press("button", "Show what will change")
    await hand.press("button", "Grant these scopes")
    await hand.press("link", "Take back the scopes of dora in team")
    await hand.press("button", "Take back the grant")
    await expect(hand.tab.page.get_by_role("heading", name="Grants in team")).to_be_visible()
    granted = (
        "select count(*) from textrawl.space_grant join textrawl.actor on id = actor_id"
        " where name = 'dora'"
    )
    assert place.owner.execute(granted).fetchall() == [(0,)]


def _find_ends(place: Place) -> list[tuple[str, bool]]:
    """Whom Ada knows or knew, and whether that ended."""
    return place.owner.execute(
        "select e.name, r.valid_until is not null from textrawl.relation r"
        " join textrawl.entity e on e.id = r.to_entity where r.relation_type = 'knows' order by 1"
    ).fetchall()


async def _search(tab: Tab, question: str) -> None:
    await tab.page.get_by_label("Search the memory").fill(question)
    await tab.page.keyboard.press("Enter")
    await tab.page.wait_for_url("**/search?*q=*")


async def walk_to(tab: Tab, wanted: Locator, name: str) -> None:
    """Walk to an element with the Tab key, as people without a mouse do."""
    for _ in range(_MOST_STEPS):
        if await wanted.evaluate("(element) => element === document.activeElement"):
            return
        await tab.page.keyboard.press("Tab")
    pytest.fail(f"The Tab key does not reach {name}")


_MOST_STEPS = 120


def _find_facts(place: Place, pattern: str) -> list[str]:
    """The valid facts with such a text."""
    rows = place.owner.execute(
        "select content from textrawl.fact where content like %s"
        " and textrawl.is_valid(valid_from, valid_until, closed_at) order by 1",
        (pattern,),
    )
    return [content for (content,) in rows.fetchall()]
