"""The search: the same facts as the tools find, with their scores and their cost."""

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import httpx2
import psycopg
import pytest

from tests.explorer.markup import Document
from tests.explorer.visiting import Place, open_place
from tests.support.http_team import bear, call_modern
from textrawl.settings import Settings

pytestmark = pytest.mark.anyio


def remember(
    owner: psycopg.Connection, entity: str, fact: str, space: str = "team", kind: str = "person"
) -> None:
    owner.execute(
        "select remember_fact(%s, %s, %s, space => (select id from space where name = %s),"
        " client => 'editor 1.0', tool => 'remember_fact')",
        (entity, kind, fact, space),
    )


async def _call(place: Place, person: str, **arguments: object) -> int:
    headers, body = call_modern("query_memory")
    body["params"]["arguments"] = arguments
    async with httpx2.AsyncClient() as http:
        answer = await http.post(
            f"{place.root}/mcp", json=body, headers=headers | bear(place.tokens[person])
        )
    result = answer.json()["result"]
    return json.loads(result["content"][0]["text"])["n"]


async def test_a_search_shows_what_the_tool_finds_with_the_scores(place: Place) -> None:
    remember(place.owner, "Ada", "prefers green tea")
    remember(place.owner, "Ben", "drinks tea at noon")
    remember(place.owner, "Cleo", "rides a bicycle")
    found = await _call(place, "reader", mode="search", query="who drinks tea")

    async with place.browse("reader") as browser:
        page = Document((await browser.get("search", q="who drinks tea")).text)
        missed = Document((await browser.get("search", q="a zebra")).text)

    assert ["No fact has: ", "zebra"] in [list(pair) for pair in pairwise(missed.texts)]
    assert f"{found} facts" in page.texts
    assert page.prose.index("drinks tea at noon") < page.prose.index("prefers green tea")
    assert "/explore/entity?name=Ada" in page.links


async def test_a_search_says_what_the_answer_costs_in_each_format(place: Place) -> None:
    remember(place.owner, "Ada", "prefers green tea")
    async with place.browse("reader") as browser:
        page = Document((await browser.get("search", q="tea")).text)

    words = [text.strip() for text in page.texts if text.strip()]
    start = words.index("with structured content")
    rows = words[start + 1 :]
    costs = {name: int(rows[rows.index(name) + 1 + (name == "compact")]) for name in
             ("compact", "lines", "verbose")}  # fmt: skip
    assert "(this server)" in rows
    assert 0 < costs["lines"] < costs["compact"] < costs["verbose"]


async def test_a_search_says_why_it_found_some_facts_and_left_out_others(place: Place) -> None:
    remember(place.owner, "Ada", "prefers green tea")
    remember(place.owner, "Ben", "had green tea once")
    remember(place.owner, "Cleo", "likes coffee")
    place.owner.execute("update observation set valid_until = now() where content like 'had%'")
    async with place.browse("reader") as browser:
        page = Document((await browser.get("search", q="green coffee", why="1")).text)

    words = [text for text in page.texts if text in ("green", "coffe", ": found", ": not found")]
    assert {("green", ": found"), ("coffe", ": not found")} <= set(pairwise(words))
    assert "found by words" in page.text
    assert re.search(r"base .*words .*= -?[0-9.]+ log odds, score 0\.[0-9]+", page.text)
    assert "ended" in page.texts


async def test_a_fact_that_began_after_the_day_is_not_valid_yet(place: Place) -> None:
    remember(place.owner, "Ada", "prefers green tea")
    async with place.browse("reader") as browser:
        page = await browser.get("search", q="green tea", why="1", as_of="2020-01-01")

    assert "not valid yet at that time" in page.text


async def test_without_a_question_the_entities_that_changed_last_are_shown(place: Place) -> None:
    for name in ("Ada", "Ben"):
        remember(place.owner, name, "likes tea")
    async with place.browse("reader") as browser:
        page = Document((await browser.get("search")).text)
        part = (await browser.get("search", q="tea", part="1")).text

    assert page.text.index("Ben") < page.text.index("Ada")
    assert "2 of 2 entities" in page.texts
    assert "<html" not in part
    assert "likes <mark>tea</mark>" in part


async def test_a_long_text_is_searched_by_its_question(shared_place: Place) -> None:
    remember(shared_place.owner, "Falcon", "is deployed to the Frankfurt region")
    log = "2026-11-25 10:11:12 INFO the worker sent a heartbeat\n" * 60
    async with shared_place.browse("reader") as browser:
        page = Document((await browser.get("search", q=f"{log}Where is Falcon deployed?")).text)

    assert "is deployed to the Frankfurt region" in page.prose


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"q": "tea", "type": "animal"}, "Invalid entity type"),
        ({"q": "tea", "as_of": "yesterday"}, "The date cannot be read"),
        ({"q": "tea", "space": "nowhere"}, "Space not found"),
    ],
)
async def test_a_wrong_argument_is_explained(
    shared_place: Place, parameters: dict[str, str], message: str
) -> None:
    async with shared_place.browse("reader") as browser:
        answer = await browser.get("search", **parameters)

    assert answer.status_code in (400, 404)
    assert message in Document(answer.text).texts


async def test_no_page_shows_more_than_the_token_may_read(place: Place) -> None:
    place.owner.execute("select create_space('secret')")
    remember(place.owner, "Ada", "prefers green tea")
    remember(place.owner, "Ada", "hides the canary", "secret")
    remember(place.owner, "Canary", "hides tea", "secret")
    pages: list[tuple[str, dict[str, str]]] = [
        ("search", {"q": "canary tea"}), ("search", {}), ("search", {"q": "tea", "why": "1"}),
        ("entity", {"name": "Ada"}), ("entity", {"name": "Canary"}),
        ("search", {"q": "tea", "space": "secret"}), ("entity", {"name": "Ada", "space": "secret"}),
    ]  # fmt: skip
    async with place.browse("admin") as browser:
        answers = [await browser.get(page, **given) for page, given in pages]

    assert [a.status_code for a in answers] == [200, 200, 200, 200, 404, 404, 404]
    shown = "".join(answer.text for answer in answers)
    assert "hides" not in shown
    assert "prefers green tea" in shown


async def test_the_settings_of_the_server_restrict_the_explorer_too(
    settings: Callable[..., Settings], owner: psycopg.Connection
) -> None:
    given = settings(embedding_provider="none", space="default")
    async with open_place(given, owner) as place, place.browse() as browser:
        await browser.sign_in(place.tokens["admin"])
        answer = await browser.get("search")

    assert answer.status_code == 404
    assert "Space not found" in answer.text


async def test_an_entity_shows_valid_and_ended_facts_and_who_wrote_them(place: Place) -> None:
    remember(place.owner, "Ada", "lives in Oslo")
    place.owner.execute(
        "select remember_fact('Ada', 'person', 'lives in Rome', replaces => 'lives in Oslo',"
        " space => (select id from space where name = 'team'), tool => 'sql')"
    )
    place.owner.execute(
        "select relate_entities('Ada', 'knows', 'Ben',"
        " space => (select id from space where name = 'team'))"
    )
    async with place.browse("reader") as browser:
        page = Document((await browser.get("entity", name="ada")).text)
        other = Document((await browser.get("entity", name="Ben")).text)
        missing = await browser.get("entity", name="Adda")

    assert "1 valid of 2" in page.texts
    assert page.texts.count("lives in Rome") == 2  # the fact, and what replaced the other
    assert "editor 1.0" in page.texts
    assert "/explore/entity?name=Ben" in page.links
    assert "/explore/entity?name=Ada" in other.links
    assert missing.status_code == 404
    assert "/explore/entity?name=Ada" in Document(missing.text).links


async def test_an_entity_is_shown_as_it_was_on_a_day(place: Place) -> None:
    remember(place.owner, "Ada", "lives in Oslo")
    remember(place.owner, "Ada", "lives in Rome")
    place.owner.execute(
        "update observation set valid_from = '2025-01-01', created_at = '2025-01-01',"
        " valid_until = '2025-06-01' where content = 'lives in Oslo'"
    )
    tomorrow = (datetime.now(UTC) + timedelta(days=1)).date().isoformat()
    async with place.browse("reader") as browser:
        then = Document((await browser.get("entity", name="Ada", as_of="2025-03-01")).text)
        late = Document((await browser.get("entity", name="Ada", as_of=tomorrow)).text)

    assert "lives in Rome" not in then.text
    assert "1 valid of 1" in then.texts
    assert "1 valid of 2" in late.texts


async def test_a_long_history_has_pages(place: Place) -> None:
    for number in range(101):
        remember(place.owner, "Ada", f"counts to {number}")
    async with place.browse("reader") as browser:
        first = Document((await browser.get("entity", name="Ada")).text)
        last = Document((await browser.get("entity", name="Ada", skip="100")).text)

    assert "/explore/entity?name=Ada&skip=50" in first.links
    assert "Newer facts" not in first.text
    assert "counts to 0" in last.texts
    assert "Older facts" not in last.text


async def test_names_are_suggested_while_somebody_types_them_also_misspelt(place: Place) -> None:
    for name in (
        "scheduler-worker",
        "schedule of trains",
        "time zones",
        "night worker",
        "Tallfield",
    ):
        remember(place.owner, name, "is known")

    async with place.browse("reader") as browser:

        async def suggest(typed: str) -> list[str]:
            page = await browser.get("suggest", q=typed)
            return re.findall('data-name="([^"]+)"', page.text)

        typed = (
            "schedu", "scheduler-wor", "schedulr-worker", "WORKER", "tallfield", "talfield",
            "zzzqqq xyzzy", "", "who leads the company that Ada works for?",
        )  # fmt: skip
        given = {text: await suggest(text) for text in typed}
        found = Document((await browser.get("search", q="Tallfield")).text)

    assert sorted(given["schedu"]) == ["schedule of trains", "scheduler-worker"]
    assert given["scheduler-wor"][0] == given["schedulr-worker"][0] == "scheduler-worker"
    assert set(given["WORKER"]) == {"scheduler-worker", "night worker"}
    assert [given[name] for name in ("tallfield", "talfield")] == [["Tallfield"]] * 2
    assert [*given.values()][-3:] == [[], [], []]
    assert ": go to this entity" in found.texts


async def test_a_search_shows_what_belongs_to_a_repository_or_to_none(place: Place) -> None:
    for keys in ("github.com/acme/api", "github.com/ben/api", ""):
        place.owner.execute("select set_config('textrawl.repository', %s, false)", (keys,))
        remember(place.owner, "Deploy", f"runs on {keys or 'paper'}", kind="project")
    async with place.browse("reader") as browser:
        given = {"q": "deploy", "repository": "git@github.com:Acme/api.git"}
        page = Document((await browser.get("search", **given)).text)
        whole = Document((await browser.get("search", q="deploy")).text)
        wrong = await browser.get("search", q="deploy", repository="nowhere")

    found = ("runs on github.com/acme/api", "runs on github.com/ben/api", "runs on paper")
    assert [text in page.prose for text in found] == [True, False, True]
    assert all(text in whole.prose for text in found)
    assert "No repository has this address" in wrong.text
