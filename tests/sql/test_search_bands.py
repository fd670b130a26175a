"""What a score means, on facts and questions of everyday agent memory and the local embedder."""

from typing import Any

import psycopg
import pytest

from tests.sql.story import embed, tell_all

pytestmark = pytest.mark.anyio

FACTS = [
    ("Jeff", "prefers TypeScript over JavaScript"),
    ("Jeff", "uses VS Code as primary editor"),
    ("Jeff", "prefers dark mode in IDEs"),
    ("Jeff", "works at Acme Corp as a backend engineer"),
    ("Jeff", "is allergic to peanuts"),
    ("Jeff", "lives in Portland with two dogs"),
    ("Jeff", "dislikes meetings before 10 am"),
    ("Development Setup", "dark mode enabled by default"),
    ("Development Setup", "four-space indentation in Python files"),
    ("Sarah", "manages the platform team"),
    ("Sarah", "is vegetarian"),
    ("Sarah", "birthday is on March 14"),
    ("Acme Corp", "headquartered in Berlin"),
    ("Acme Corp", "uses PostgreSQL 16 in production"),
    ("textrawl", "deadline for the first release is end of June"),
    ("textrawl", "deploys to Kubernetes with Helm charts"),
    ("textrawl", "CI runs on GitHub Actions"),
    ("Billing Service", "authentication uses JWT tokens with a 15 minute expiry"),
    ("Billing Service", "fails with ERR-902 when the customer id is missing"),
    ("Billing Service", "function getUserById lives in src/auth/token_store.py"),
    ("Zebra Migration", "happens every year in Botswana"),
    ("Ana", "plays the violin in a string quartet"),
    ("Ana", "moved to Lisbon in 2021"),
    ("Ana", "is learning Japanese"),
    ("Ana", "drinks oat milk lattes"),
    ("Team standup", "takes place every weekday at 9:30"),
    ("Office", "the wifi password is kept in 1Password"),
    ("Office", "closed on public holidays"),
    ("Database backups", "run nightly at 2 am and are kept for 30 days"),
    ("API rate limit", "100 requests per minute per token"),
    ("Tom", "runs marathons and trains four times a week"),
    ("Tom", "has a daughter named Emma"),
    ("Tom", "drives an electric car"),
    ("Code review", "pull requests need two approvals"),
]

# Question, how its best fact begins, least and greatest score of that fact.
BANDS = [
    ("what does Jeff prefer", "prefers", 0.9, 1),
    ("which editor does Jeff use", "uses VS Code", 0.9, 1),
    ("what is Jeff allergic to", "is allergic", 0.9, 1),
    ("where does Jeff live", "lives in Portland", 0.9, 1),
    ("where does Jeff work", "works at Acme", 0.9, 1),
    ("dark mode", "dark mode enabled", 0.9, 1),
    ("who manages the platform team", "manages the platform", 0.9, 1),
    ("when is Sarah's birthday", "birthday is", 0.9, 1),
    ("is Sarah vegetarian", "is vegetarian", 0.9, 1),
    ("PostgreSQL", "uses PostgreSQL", 0.9, 1),
    ("release deadline", "deadline for", 0.9, 1),
    ("github actions", "CI runs", 0.9, 1),
    ("ERR-902", "fails with ERR-902", 0.9, 1),
    ("get_user_by_id", "function getUserById", 0.85, 1),
    ("zebra migration", "happens every year", 0.9, 1),
    ("where did Ana move", "moved to Lisbon", 0.9, 1),
    ("wifi password", "the wifi password", 0.9, 1),
    ("database backups", "run nightly", 0.9, 1),
    ("what car does Tom drive", "drives an electric", 0.9, 1),
    ("what database does Acme use", "uses PostgreSQL", 0.9, 1),
    ("when is the textrawl release due", "deadline for", 0.9, 1),
    ("how does authentication work in billing", "authentication uses", 0.7, 0.9),
    ("token store file", "function getUserById", 0.65, 0.9),
    ("what instrument does Ana play", "plays the violin", 0.7, 0.9),
    ("what language is Ana learning", "is learning Japanese", 0.7, 0.9),
    ("how long are backups kept", "run nightly", 0.7, 0.95),
    ("how many requests per minute are allowed", "100 requests", 0.7, 0.95),
    ("how many approvals does a pull request need", "pull requests need", 0.7, 1),
    ("when should I not schedule meetings with Jeff", "dislikes meetings", 0.7, 0.9),
    ("Jeff's food allergies", "is allergic", 0.7, 0.95),
    ("postgres version in production", "uses PostgreSQL", 0.5, 0.85),
    ("Jeff's job", "works at Acme", 0.9, 1),
    ("what time is standup", "takes place", 0.6, 0.9),
    ("does Tom exercise", "runs marathons", 0.8, 1),
    ("Tom's children", "has a daughter", 0.7, 1),
    ("when is Jeff in", None, 0, 0.95),
    ("what is the capital of France", None, 0, 0.5),
    ("how to bake bread", None, 0, 0.5),
    ("stock market prices", None, 0, 0.5),
    ("quantum physics", None, 0, 0.5),
    ("weather tomorrow", None, 0, 0.55),
    ("football results of last night", None, 0, 0.75),
]


@pytest.fixture
async def store(sql: psycopg.Connection[Any]) -> int:
    """The facts with their vectors and statistics; the id of the model."""
    return await tell_all(sql, FACTS)


async def test_scores_mean_what_clients_are_promised(
    sql: psycopg.Connection[Any], store: int
) -> None:
    wrong = list[tuple[Any, ...]]()
    for question, beginning, least, greatest in BANDS:
        vector = await embed(question)
        row = sql.execute(
            "select content, score from search_memory(%s, model => %s, vector => %s)",
            (question, store, vector),
        ).fetchone()
        content, score = row or ("", 0)
        if not (content.startswith(beginning or "") and least <= score <= greatest):
            wrong.append((question, content, score))
    assert wrong == []


async def test_keywords_alone_score_alike(sql: psycopg.Connection[Any], store: int) -> None:
    for question, beginning, least, _ in BANDS:
        row = sql.execute("select content, score from search_memory(%s)", (question,)).fetchone()
        if beginning and least >= 0.9:
            assert row
            assert row[1] >= 0.9, question


async def test_facts_about_something_else_score_below_moderate(
    sql: psycopg.Connection[Any], store: int
) -> None:
    for question, others in (
        ("zebra migration", ("prefers TypeScript", "uses PostgreSQL", "drives an electric")),
        ("what does Jeff prefer", ("happens every year", "drives an electric", "plays the violin")),
        ("user preferences for development tools", ("happens every year", "plays the violin")),
    ):
        vector = await embed(question)
        rows = sql.execute(
            "select content, score "
            "from search_memory(%s, max_rows => 50, model => %s, vector => %s, least_score => 0)",
            (question, store, vector),
        ).fetchall()
        assert rows
        scores = [score for content, score in rows if content.startswith(others)]
        assert max(scores, default=0) < 0.5
