"""Proposals: who sees them, a plan that changes nothing, and decisions of reviewers alone."""

from collections.abc import Callable

import psycopg
import pytest

from tests.explorer.markup import Document
from tests.explorer.test_search_page import remember
from tests.explorer.visiting import Place, open_place
from textrawl.access.access_token import hash_token
from textrawl.settings import Settings

pytestmark = pytest.mark.anyio


def propose(place: Place, name: str, text: str, replaces: str | None = None) -> str:
    """Propose a fact, and return the id of the proposal."""
    row = place.owner.execute(
        "select proposal_id::text from remember_fact(%s, 'person', %s, replaces => %s,"
        " credential => %s, client => 'bot 1.0')",
        (name, text, replaces, hash_token(place.tokens["proposer"])),
    ).fetchone()
    assert row is not None
    return row[0]


def read_states(place: Place) -> dict[str, str]:
    rows = place.owner.execute("select content, decision from textrawl.proposal").fetchall()
    return {content: decision or "pending" for content, decision in rows}


def read_facts(place: Place) -> list[str]:
    rows = place.owner.execute(
        "select content from textrawl.fact f"
        " where is_valid(f.valid_from, f.valid_until, f.closed_at)"
        " order by content"
    )
    return [row[0] for row in rows.fetchall()]


async def test_reviewers_see_all_proposals_and_their_authors_only_their_own(place: Place) -> None:
    remember(place.owner, "Ada", "likes tea")
    propose(place, "Ada", "likes tea")
    pages: dict[str, Document] = {}
    for person in ("reader", "proposer", "reviewer"):
        async with place.browse(person) as browser:
            pages[person] = Document((await browser.get("proposals")).text)

    assert "There are no such proposals." in pages["reader"].texts
    assert " (yours), " in pages["proposer"].texts
    assert "proposer" in pages["reviewer"].texts
    assert "bot 1.0" in pages["reviewer"].texts
    assert "repeats" in pages["reviewer"].texts
    assert "id" in pages["reviewer"].fields
    assert "id" not in pages["proposer"].fields
    links = {person: page.links.count("/explore/proposals") for person, page in pages.items()}
    assert links == {"reader": 1, "proposer": 2, "reviewer": 2}  # in the filter and the navigation


async def test_a_finding_of_tidy_shows_why_and_its_plan_what_accepting_ends(place: Place) -> None:
    for town in ("Oslo", "Rome"):
        remember(place.owner, "Ada", f"lives in {town}")
    [(found,)] = place.owner.execute("select proposal_id from tidy_memory(space => 2)").fetchall()
    async with place.browse("reviewer") as browser:
        page = Document((await browser.get("proposals")).text)
        plan = Document((await browser.get(f"decide?id={found}")).text)

    assert {"disagreement", "other value", "contradicts", "lives in Rome"} <= set(page.texts)
    assert "ends" in plan.texts
    assert "Accept 1 proposal" in plan.texts


async def test_a_proposed_pin_shows_why_and_its_origin_and_the_plan_what_accepting_does(
    place: Place,
) -> None:
    place.owner.execute(
        "select remember_fact('Ada', 'person', 'likes tea', source => 'document', space => 2)"
    )
    [(found,)] = place.owner.execute(
        "select proposal_id from propose_pin('Ada', 'likes tea', 'said each day', space => 2)"
    ).fetchall()
    async with place.browse("reviewer") as browser:
        page = Document((await browser.get("proposals")).text)
        plan = Document((await browser.get(f"decide?id={found}")).text)

    assert {"pin", "said each day", "is external", "likes tea"} <= set(page.texts)
    assert {"pins", "is external", "Accept 1 proposal"} <= set(plan.texts)
    assert "Each session begins with this fact" in plan.prose


async def test_proposals_are_filtered_and_paged(place: Place) -> None:
    for number in range(22):
        propose(place, "Ada", f"likes tea number {number:02}")
    propose(place, "Ben", "likes cake")
    async with place.browse("reviewer") as browser:
        first = Document((await browser.get("proposals")).text)
        second = Document((await browser.get("proposals", skip="20", all="1")).text)
        ben = Document((await browser.get("proposals", entity="ben", author="proposer")).text)
        others = await browser.get("proposals", author="reader")
        rejected = await browser.get("proposals", state="rejected")
        unknown = await browser.get("proposals", state="lost")

    assert "1 to 20 of 23, the oldest first" in first.texts
    assert "/explore/proposals?skip=20" in first.links
    assert "21 to 23 of 23, the oldest first" in second.texts
    assert "Choose none" in second.texts
    assert "1 to 1 of 1, the oldest first" in ben.texts
    assert "There are no such proposals." in others.text
    assert "There are no such proposals." in rejected.text
    assert unknown.status_code == 400


async def test_a_plan_says_what_accepting_would_do_and_changes_nothing(place: Place) -> None:
    remember(place.owner, "Ada", "likes tea")
    remember(place.owner, "Ada", "lives in Oslo")
    remember(place.owner, "Ada", "lives in Rome")
    ids = [
        propose(place, "Ada", "likes cake"),
        propose(place, "Ada", "likes tea"),
        propose(place, "Ada", "lives in Bergen", replaces="lives in Oslo"),
        propose(place, "Ada", "lives in Paris", replaces="lives in Rome"),
    ]
    place.owner.execute("select forget_entity('Ada', 'lives in Rome', space => 2)")
    async with place.browse("reviewer") as browser:
        answer = await browser.get(f"decide?{'&'.join(f'id={each}' for each in ids)}")
        nothing = await browser.get("decide")
        many = await browser.get("decide?" + "&".join(f"id={each:08}" for each in range(101)))
    plan = Document(answer.text)

    outcomes = ("new", "repeats", "replaces", "refused")
    assert [text for text in plan.texts if text in outcomes] == [
        "new", "repeats", "repeats", "replaces", "replaces", "refused",
    ]  # fmt: skip
    assert "what it builds on is gone or has ended" in answer.text
    assert "Accept 3 proposals" in plan.texts
    assert "Reject 4 proposals" in plan.texts
    assert (nothing.status_code, many.status_code) == (400, 400)
    assert set(read_states(place).values()) == {"pending"}
    assert read_facts(place) == ["likes tea", "lives in Oslo"]


async def test_a_confirmed_decision_is_carried_out_and_says_how_it_is_undone(place: Place) -> None:
    cake, pie = propose(place, "Ada", "likes cake"), propose(place, "Ada", "likes pie")
    async with place.browse("reviewer") as browser:
        await browser.get("decide", id=cake)
        unconfirmed = await browser.post("decide", ids=cake, decision="accept")
        without = await browser.post("decide", ids=pie, decision="reject", confirmed="1")
        before = read_states(place)
        sure = {"space": "team", "confirmed": "1"}
        accepted = await browser.post("decide", ids=cake, decision="accept", **sure)
        accepted = await browser.follow(accepted)
        given = {"decision": "reject", "reason": "she is allergic", **sure}
        rejected = await browser.follow(await browser.post("decide", ids=pie, **given))
        again = await browser.post("decide", ids=cake, decision="accept", confirmed="1")
    async with place.browse("proposer") as browser:
        own = await browser.get("proposals", state="any")

    assert (unconfirmed.status_code, without.status_code, again.status_code) == (400, 400, 400)
    assert set(before.values()) == {"pending"}
    assert "1 proposal accepted" in accepted.text
    assert "Undo" in accepted.text
    assert "1 proposal rejected" in rejected.text
    assert read_states(place) == {"likes cake": "accepted", "likes pie": "rejected"}
    assert read_facts(place) == ["likes cake"]
    assert "she is allergic" in own.text


async def test_of_two_proposals_for_one_fact_the_plan_accepts_only_the_older(place: Place) -> None:
    remember(place.owner, "Ada", "lives in Oslo")
    ids = [propose(place, "Ada", f"lives in {town}", "lives in Oslo") for town in ("Rome", "Riga")]
    async with place.browse("reviewer") as browser:
        plan = Document((await browser.get(f"decide?id={ids[1]}&id={ids[0]}")).text)
        await browser.post("decide", ids=ids[0], decision="accept", confirmed="1")

    assert "The other 1 stays pending." in " ".join(" ".join(plan.texts).split())
    assert "so only the older one is accepted here" in plan.text
    assert "Accept 1 proposal" in plan.texts
    assert read_states(place) == {"lives in Rome": "accepted", "lives in Riga": "pending"}


@pytest.mark.ordinary("the page shows spaces of several cells")
async def test_nobody_but_a_reviewer_of_the_space_plans_or_decides(place: Place) -> None:
    proposal = propose(place, "Ada", "likes cake")
    place.owner.execute(
        "select create_space('other'), grant_access('writer', 'other', '{read,write,review}')"
    )
    place.owner.execute("update token set scopes = scopes || '{review}' where prefix is not null")
    codes: list[int] = []
    given = {"ids": proposal, "decision": "accept", "confirmed": "1", "reason": "x"}
    for person in ("reader", "writer", "proposer", "admin"):
        async with place.browse(person) as browser:
            await browser.get("proposals")
            codes += [
                (await browser.get("decide", id=proposal)).status_code,
                (await browser.post("decide", **given)).status_code,
                (await browser.post("decide", **given, space="other")).status_code,
                (await browser.post("decide", **given | {"decision": "reject"})).status_code,
            ]

    assert set(codes) <= {400, 403, 404}
    assert read_states(place) == {"likes cake": "pending"}


async def test_a_reviewer_accepts_a_fact_with_an_edit_and_takes_both_back(place: Place) -> None:
    proposal = propose(place, "Ada", "likes cake")
    valid = "select content from memory_observations where valid"
    async with place.browse("keeper") as browser:
        listed = Document((await browser.get("proposals")).text)
        asked = await browser.get("amend", id=proposal, space="team")
        done = await browser.press(asked, "amend", text="likes plum cake")
        stored = place.owner.execute(valid).fetchall()
        await browser.press(await browser.follow(done), "undo-change")

    assert any(f"/amend?id={proposal}" in link for link in listed.links)
    assert stored == [("likes plum cake",)]
    assert place.owner.execute(valid).fetchall() == []
    assert read_states(place) == {"likes cake": "pending"}


async def test_an_edit_that_cannot_be_stored_accepts_nothing(place: Place) -> None:
    remember(place.owner, "Ada", "likes plum cake")
    fact = propose(place, "Ada", "likes cake")
    call = "select amend_proposal(%s, %s, space => 2)"
    for text in ("", None, "x" * 100_000):
        with pytest.raises(psycopg.Error):
            place.owner.execute(call, (fact, text))
        assert read_states(place) == {"likes cake": "pending"}, text
    place.owner.execute(call, (fact, "likes plum cake"))
    assert read_facts(place) == ["likes plum cake"]


async def test_a_server_that_only_reads_decides_nothing(
    settings: Callable[..., Settings], owner: psycopg.Connection
) -> None:
    given = settings(embedding_provider="none", read_only=True)
    async with open_place(given, owner) as place, place.browse("reviewer") as browser:
        proposal = propose(place, "Ada", "likes cake")
        page = Document((await browser.get("proposals")).text)
        plan = Document((await browser.get("decide", id=proposal)).text)
        fields = {"ids": proposal, "decision": "accept", "confirmed": "1"}
        answer = await browser.post("decide", **fields)

    assert "id" not in page.fields
    assert "confirmed" not in plan.fields
    assert (answer.status_code, read_states(place)) == (403, {"likes cake": "pending"})
