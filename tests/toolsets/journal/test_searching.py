"""memory_search and memory_list: which entries are found, in which order, and what is shown."""

from typing import Any

import psycopg
import pytest
from mcp import Client

from tests.conftest import Connect
from tests.support.providers import EmbeddingServer, Fault
from tests.support.tool_calls import ask, read, refuse, remember, structured
from tests.toolsets.journal.entries import delete, record

pytestmark = pytest.mark.anyio

Sql = psycopg.Connection[Any]

MOMENT = "2026-05-22T12:00:00Z"


async def search(client: Client, query: str, **more: Any) -> dict[str, Any]:
    """Structured content of memory_search."""
    return await structured(client, "memory_search", query=query, **more)


def name_found(answer: dict[str, Any]) -> list[str]:
    return [found["date"] for found in answer["results"]]


async def test_a_search_right_after_a_create_finds_by_meaning(client: Client) -> None:
    await record(client, "- We bought a puppy from the shelter [chat:1]")
    await record(client, "- The invoice for the server was paid [chat:2]", date="2026-05-13")

    answer = await search(client, "adopted a young dog", minScore=0.1)

    best = answer["results"][0]
    assert (answer["searchMethod"], answer["vectorAvailable"]) == ("vector", True)
    assert (best["date"], best["method"], best["tier"]) == ("2026-05-12", "vector", "daily")
    assert best["vectorScore"] > 0.2


async def test_a_result_says_what_is_known_of_the_entry(client: Client) -> None:
    text = "We met Ben for tea"
    key = {"granularity": "significant", "date": "2026-05-12", "slug": "first-conversation"}
    await record(client, text, **key)

    [found] = (await search(client, "tea with Ben", instanceId="laptop"))["results"]

    assert set(found) == {
        "score", "tier", "ageDays", "vectorScore", "method", "granularity", "date", "slug",
        "excerpt", "sourceInstance",
    }  # fmt: skip
    assert (found["slug"], found["excerpt"], found["sourceInstance"]) == (
        "first-conversation", text, "laptop"
    )  # fmt: skip
    assert (found["score"] > 0.5, found["score"] == round(found["score"], 3)) == (True, True)


def score(sql: Sql, query: str, **given: Any) -> list[Any]:
    """Scores by path at a fixed moment, without vectors unless given."""
    arguments = {"min_score": 0, "moment": MOMENT, **given}
    named = ", ".join(f"{name} => %({name})s" for name in arguments)
    return sql.execute(
        f"select path, round(score::numeric, 3)::float, method, age_days"  # noqa: S608 - ours
        f" from search_journal(%(query)s, {named})",  # pyright: ignore[reportArgumentType]
        {"query": query, **arguments},
    ).fetchall()


def write(sql: Sql, date: str, content: str, instance: str = "laptop") -> None:
    sql.execute("select write_entry('daily', %s, %s, %s)", (date, content, instance))


def test_without_vectors_the_words_of_the_query_decide(owner: Sql) -> None:
    write(owner, "2026-05-12", "- Green tea with Ben")
    write(owner, "2026-05-13", "- Tea, and green curtains", "phone")
    write(owner, "2026-05-14", "- Tea alone")

    found = score(owner, "green tea", instance="phone")

    assert found == [
        ("daily/2026-05-12/laptop", 0.7, "text", 10),
        ("daily/2026-05-13/phone", 0.6, "text", 9),
        ("daily/2026-05-14/laptop", 0.25, "text", 8),
    ]
    assert [row[1] for row in score(owner, "green tea", instance="phone", min_score=0.3)] == [
        0.7, 0.6
    ]  # fmt: skip


def with_vectors(sql: Sql, **vectors: list[float]) -> int:
    """Give each part the vector of the word that it begins with; return the model."""
    [(model,)] = sql.execute(
        "select model_id from register_embedding_model('t:m', 3) as m (model_id)"
    ).fetchall()
    for word, vector in vectors.items():
        sql.execute(
            "insert into embedding_1 (space_id, observation_id, vector)"
            " select space_id, id, %s::halfvec from fact where content like %s",
            (str(vector), f"- {word}%"),
        )
    return model


def test_the_score_is_the_sum_of_the_five_signals_with_their_weights(owner: Sql) -> None:
    owner.execute("select remember_fact('Ben', 'person', 'sings')")
    write(owner, "2026-05-22", "- Alpha")
    write(owner, "2026-05-12", "- Beta sang with Ben")
    write(owner, "2025-05-22", "- Gamma", "phone")
    model = with_vectors(owner, Alpha=[1, 0, 0], Beta=[0.6, 0.8, 0], Gamma=[0, 1, 0])

    found = score(owner, "Ben", instance="phone", model=model, vector="[1,0,0]")

    # Weights: 0.6 vector (or 0.7 of the words), 0.2 words, 0.05 recency, 0.05 graph, 0.1 instance.
    recency = [1 / (1 + 0.007 * days) for days in (0, 10, 365)]
    assert found == [
        (
            "daily/2026-05-12/laptop",
            round(0.6 * 0.7 + 0.2 + 0.05 * recency[1] + 0.05 * 0.9102, 3), "vector", 10,
        ),
        ("daily/2026-05-22/laptop", round(0.6 + 0.05 * recency[0], 3), "vector", 0),
        ("daily/2025-05-22/phone", round(0.05 * recency[2] + 0.1, 3), "vector", 365),
    ]  # fmt: skip


def test_min_score_applies_to_the_final_score(owner: Sql) -> None:
    write(owner, "2026-05-22", "- Alpha")
    write(owner, "2026-05-21", "- Beta")
    model = with_vectors(owner, Alpha=[1, 0, 0], Beta=[0.4, 0.9165, 0])
    given = {"model": model, "vector": "[1,0,0]"}

    scores = [row[1] for row in score(owner, "zzz", **given)]

    assert scores == [0.65, round(0.24 + 0.05 / 1.007, 3)]
    assert len(score(owner, "zzz", **given, min_score=0.28)) == 2
    assert len(score(owner, "zzz", **given, min_score=0.3)) == 1


@pytest.mark.slow
def test_a_search_finds_entries_among_many_other_facts(owner: Sql) -> None:
    owner.execute(
        "insert into entity (space_id, name, name_key, entity_type, fts)"
        " values (default_space(), 'Club', 'club', 'concept', '''club''')"
    )
    owner.execute(
        "insert into observation (space_id, entity_id, entity_type, content, content_hash, source,"
        " author_id, tool, fts) select e.space_id, e.id, 'concept', 'tea journal ' || n,"
        " fact_hash('tea journal ' || n), 'note', (select min(id) from actor), 'sql',"
        " search_document(e.space_id, 'english', e.name, 'tea journal ' || n)"
        " from entity e, generate_series(1, 7000) n where e.name = 'Club'"
    )
    write(owner, "2026-05-12", "- Tee, a word that nothing else has, and tea")
    write(owner, "2026-05-13", "- Rain")
    model = with_vectors(owner, Tee=[0, 1, 0], Rain=[0, 0, 1])
    owner.execute(
        "insert into embedding_1 (space_id, observation_id, vector)"
        " select space_id, id, '[1,0,0]' from fact where content like 'tea journal%%'"
    )
    owner.execute("select refresh_search_statistics()")

    by_words = score(owner, "tea")
    by_both = score(owner, "tea", model=model, vector="[1,0.1,0]")

    assert [row[0] for row in by_words] == ["daily/2026-05-12/laptop"]
    assert [row[0] for row in by_both] == ["daily/2026-05-12/laptop", "daily/2026-05-13/laptop"]


def test_an_entry_is_found_once_by_its_best_part(owner: Sql) -> None:
    write(owner, "2026-05-12", "\n\n".join(f"- Part {n} " + f"lorem {n} " * 200 for n in range(60)))
    for day in range(13, 23):
        write(owner, f"2026-05-{day}", f"- Part of day {day}")

    found = score(owner, "part", max_rows=50)

    assert sorted(row[0] for row in found) == sorted({row[0] for row in found})
    assert len(found) == 11


async def test_a_long_entry_shows_its_title_and_the_bullets_around_the_best(
    connect: Connect,
) -> None:
    client = await connect(toolsets=["journal"], max_response_tokens=4000)
    bullets = [f"- Note {n} about nothing much, and some more words" for n in range(80)]
    bullets[50] = "- Ben brought a telescope [chat:9]"
    await record(client, "# May 12\n\n" + "\n".join(bullets))

    [found] = (await search(client, "telescope"))["results"]

    assert found["excerpt"] == "# May 12\n\n" + "\n".join(bullets[49:52])


async def test_an_answer_over_its_budget_shortens_excerpts_before_it_leaves_entries_out(
    client: Client,
) -> None:
    for day in range(10, 20):
        bullets = "\n".join(f"- Note {n} about the garden and the weather" for n in range(40))
        await record(client, f"# May {day}\n\n{bullets}\n- Roses {day}", date=f"2026-05-{day}")

    answer = await search(client, "roses in the garden", minScore=0)

    assert len(answer["results"]) >= 5
    assert all(len(found["excerpt"]) <= 400 for found in answer["results"])
    assert answer.get("dropped", 0) == 10 - len(answer["results"])


async def test_a_vector_of_the_client_is_used_if_it_has_the_size_of_the_model(
    client: Client,
) -> None:
    await record(client, "- We bought a puppy")

    found = await search(client, "xyzzy", queryEmbedding=[1.0] * 256, minScore=0)
    title, fix = await refuse(client, "memory_search", query="x", queryEmbedding=[1.0] * 384)
    _, zeros = await refuse(client, "memory_search", query="x", queryEmbedding=[0.0] * 256)
    _, empty = await refuse(client, "memory_search", query="x", queryEmbedding=[])

    assert (found["searchMethod"], len(found["results"])) == ("vector", 1)
    assert (title, "384 numbers" in fix, "vectors of 256" in fix) == (
        "Invalid argument", True, True
    )  # fmt: skip
    assert ("only zeros" in zeros, "has 0 numbers" in empty) == (True, True)


async def test_without_a_provider_a_search_uses_words_and_says_so(connect: Connect) -> None:
    client = await connect(toolsets=["journal"], embedding_provider="none")
    await record(client, "- Tea with Ben")

    answer = await search(client, "tea with ben", queryEmbedding=[1.0] * 384)

    assert (answer["searchMethod"], answer["vectorAvailable"]) == ("text", False)
    [found] = answer["results"]
    assert (found["method"], found["score"], "vectorScore" in found) == ("text", 0.7, False)


async def test_a_provider_that_is_down_loses_no_entry_and_no_vector(
    connect: Connect, owner: Sql
) -> None:
    with EmbeddingServer(dimensions=1536) as provider:
        client = await connect(
            toolsets=["journal"],
            embedding_provider="openai",
            openai_api_key="k",
            openai_base_url=provider.openai_url,
        )
        await record(client, "- Tea with Ben", date="2026-05-11")
        provider.fail(Fault.FAILING)
        await record(client, "- Coffee with Ada")
        pending = owner.execute("select attempts from embedding_pending").fetchall()
        answer = await search(client, "coffee")

    assert len(pending) == 1
    assert name_found(answer) == ["2026-05-12"]
    assert answer["vectorAvailable"] is False


async def test_query_memory_finds_the_parts_of_entries_as_facts(connect: Connect) -> None:
    client = await connect(toolsets=["memory", "journal"])
    await remember(client, "Ben", "owns a telescope")
    await record(client, "- Ben showed us the rings of Saturn")

    found = await ask(client, mode="search", query="rings of Saturn")

    assert found["e"][0]["n"] == "journal 2026-05-12 laptop"
    assert [fact["c"] for fact in found["e"][0]["m"]] == ["- Ben showed us the rings of Saturn"]


async def fill(client: Client) -> None:
    """Nine entries around a week of May 2026."""
    for day in range(11, 16):
        await record(client, f"- Day {day}", date=f"2026-05-{day}")
    await record(client, "A week", granularity="weekly", date="2026-W20")
    await record(client, "A month", granularity="monthly", date="2026-05")
    await record(client, "A year", granularity="yearly", date="2026")
    event = {"granularity": "significant", "date": "2026-05-12", "slug": "first-conversation"}
    await record(client, "We met. " * 30, **event)


async def list_all(client: Client, **arguments: Any) -> tuple[list[str], int]:
    """Dates of a page, and the total."""
    page = await structured(client, "memory_list", **arguments)
    return [entry["date"] for entry in page["memories"]], page["total"]


async def test_a_list_has_the_newest_first_and_the_total(client: Client) -> None:
    await fill(client)

    whole = await list_all(client)
    second = await list_all(client, limit=2, offset=2)
    behind = await list_all(client, offset=20)

    dates = [
        "2026-05-15", "2026-05-14", "2026-05-13", "2026-05-12", "2026-05-12", "2026-05-11",
        "2026-W20", "2026-05", "2026",
    ]  # fmt: skip
    assert whole == (dates, 9)
    assert second == (dates[2:4], 9)
    assert behind == ([], 9)


async def test_a_list_shows_the_first_words_the_slug_and_the_instance(client: Client) -> None:
    await fill(client)

    listed = read(await client.call_tool("memory_list", {"granularity": "significant"}))

    assert listed == {
        "total": 1,
        "m": [
            {
                "g": "significant", "d": "2026-05-12", "slug": "first-conversation",
                "c": ("We met. " * 30)[:100] + "…", "src": "laptop",
            }
        ],
    }  # fmt: skip


async def test_a_list_of_a_period_has_the_entries_that_overlap_it(client: Client) -> None:
    await fill(client)
    for given, expected in (
        ({"afterDate": "2026-05-14", "granularity": "daily"}, ["2026-05-15", "2026-05-14"]),
        ({"beforeDate": "2026-05-11"}, ["2026-05-11", "2026-W20", "2026-05", "2026"]),
        ({"beforeDate": "2026-05-10"}, ["2026-05", "2026"]),
        ({"afterDate": "2026-05-16"}, ["2026-W20", "2026-05", "2026"]),
        ({"afterDate": "2026-05-18", "beforeDate": "2026-05-20"}, ["2026-05", "2026"]),
        ({"beforeDate": "2025-12-31"}, []),
    ):
        assert await list_all(client, **given) == (expected, len(expected))


async def test_a_period_begins_and_ends_with_a_day(client: Client) -> None:
    for date in ("2026-02-29", "2026-05", "yesterday", "20260512"):
        title, fix = await refuse(client, "memory_list", afterDate=date)

        assert (title, "afterDate" in fix) == ("Invalid argument", True)


async def test_a_deleted_entry_is_no_longer_listed(client: Client) -> None:
    await record(client, "- A day")
    await delete(client)

    assert await list_all(client) == ([], 0)
