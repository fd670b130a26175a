"""Questions that name a day, a figure or one of two people: that fact comes first."""

from datetime import UTC, date, datetime, timedelta

import pytest
from mcp import Client

from tests.support.tool_calls import ask, remember

pytestmark = pytest.mark.anyio

EVENTS = ("repaired the bicycle", "visited the dentist", "bought a lamp", "painted the fence",
          "sold the old desk", "baked rye bread", "met the new neighbours")  # fmt: skip


async def find_first(client: Client, query: str) -> tuple[str, str]:
    answer = await ask(client, mode="search", query=query)
    entity = answer["e"][0]
    return entity["n"], entity["m"][0]["c"]


def list_events(today: date) -> dict[date, str]:
    """Return what Mira did on the days before `today`."""
    monday = today - timedelta(days=today.weekday())
    return {today - timedelta(days=number): text for number, text in enumerate(EVENTS)} | {
        monday - timedelta(days=4): "flew to Oslo",
        today - timedelta(days=21): "lost a glove",
        # A day of last month that is not within some days of three weeks ago.
        (today.replace(day=1) - timedelta(days=1)).replace(
            day=2 if today.day < 12 else 15
        ): "ran ten kilometres",
        date(today.year - 1, 6, 10): "climbed the Zugspitze",
    }


def list_questions(today: date) -> dict[str, tuple[date, date]]:
    """Return questions, each with the first and the last day that it asks for."""
    monday = today - timedelta(days=today.weekday())
    month_end = today.replace(day=1) - timedelta(days=1)

    def ago(number: int) -> tuple[date, date]:
        return today - timedelta(days=number), today - timedelta(days=number)

    return {
        "what did Mira do today": ago(0),
        "what did Mira do yesterday": ago(1),
        "what did Mira do 3 days ago": ago(3),
        "what did Mira do on Monday": (monday, monday),
        "what did Mira do last week": (monday - timedelta(days=7), monday - timedelta(days=1)),
        "what did Mira do three weeks ago": ago(21),
        "what did Mira do last month": (month_end.replace(day=1), month_end),
        "what did Mira do last year": (date(today.year - 1, 1, 1), date(today.year - 1, 12, 31)),
        f"what did Mira do on {ago(2)[0]}": ago(2),
        "what has Mira done in the past 5 days": (ago(5)[0], today),
        "Was hat Mira gestern gemacht?": ago(1),
        "Qu'a fait Mira hier ?": ago(1),
        "¿Qué hizo Mira anteayer?": ago(2),
        "O que Mira fez ontem?": ago(1),
        "cosa ha fatto Mira ieri?": ago(1),
        "Miraは昨日何をしましたか": ago(1),
    }


async def test_a_fact_of_the_day_asked_for_comes_before_its_neighbours(client: Client) -> None:
    today = datetime.now(UTC).date()
    events = list_events(today)
    for day, text in events.items():
        await remember(client, "Mira", text, saidAt=day.isoformat())

    wrong = dict[str, str]()
    for question, (start, end) in list_questions(today).items():
        _, text = await find_first(client, question)
        if text not in {one for day, one in events.items() if start <= day <= end}:
            wrong[question] = text
    assert not wrong


async def test_what_is_named_exactly_comes_first(client: Client) -> None:
    for name, text in (
        ("contact A", "email is b@example.com"), ("contact B", "email is sb01@example.com"),
        ("contact C", "email is b@example.org"), ("contact D", "email is b+news@example.com"),
        ("lamp", "costs 1,299.50 euros"), ("sofa", "costs 12,995.00 euros"),
        ("laptop", "runs Python 3.11"), ("build server", "runs Python 3.11.7"),
        ("phone", "runs Python 3.1"), ("old shop", "has its page at https://shop.example.org/a"),
        ("new shop", "has its page at https://shop.example.org/ab"),
    ):  # fmt: skip
        await remember(client, name, text, "concept")
    for question, name in (
        ("whose email is b@example.com", "contact A"), ("what costs 12995", "sofa"),
        ("what costs 1299.50?", "lamp"), ("which machine runs Python 3.11", "laptop"),
        ("what runs Python 3.11.7", "build server"),
        ("whose page is https://shop.example.org/a?", "old shop"),
    ):  # fmt: skip
        assert (await find_first(client, question))[0] == name, question


async def test_of_two_people_with_one_first_name_the_named_one_comes_first(client: Client) -> None:
    await remember(client, "Anna Kowalska", "plays the cello")
    await remember(client, "Anna Schmidt", "is allergic to nuts")
    assert (await find_first(client, "is Anna Kowalska allergic to nuts"))[0] == "Anna Kowalska"
    assert (await find_first(client, "is Anna Schmidt allergic to nuts"))[0] == "Anna Schmidt"


async def test_the_words_of_a_time_are_no_unknown_words(client: Client) -> None:
    await remember(client, "Mira", "repaired the bicycle", saidAt="2020-01-01")
    answer = await ask(
        client, mode="search", query="which piano did Zelda buy the day before yesterday?"
    )
    assert not {"yesterday", "day"} & set(answer.get("no", ()))
