"""`textrawl space create --tier`, `space tier` and `space list`: graphs and their tiers."""

import json
from typing import Any

import psycopg

from tests.support.commands import Run


def list_graphs(run: Run, url: str) -> dict[str, Any]:
    rows = json.loads(run("space", "list", "--json", DATABASE_URL=url).out)
    keys = ("tier", "recall_tokens", "facts", "sources", "chunks")
    return {row["name"]: tuple(row[key] for key in keys) for row in rows}


def test_a_graph_is_created_with_its_tier_and_limit(run: Run, url: str) -> None:
    created = run("space", "create", "work", "--tier", "public", DATABASE_URL=url)
    run(
        *("space", "create", "notes", "--tier", "personal", "--recall-tokens", "500"),
        DATABASE_URL=url,
    )

    assert created.err == "Created the public graph work.\n"
    assert list_graphs(run, url) == {
        "default": (None, None, 0, None, None),
        "notes": ("personal", 500, 0, 0, 0),
        "work": ("public", 4000, 0, 0, 0),
    }


def test_a_tier_is_changed_and_its_limit_returns_to_the_default(run: Run, url: str) -> None:
    run(
        *("space", "create", "work", "--tier", "public", "--recall-tokens", "9"),
        DATABASE_URL=url,
    )

    changed = run("space", "tier", "work", "personal", DATABASE_URL=url)
    hidden = run("space", "tier", "work", "sensitive", "--json", DATABASE_URL=url)

    assert changed.err == "work is personal: at most 2,000 tokens in an answer.\n"
    assert json.loads(hidden.out) == {"space": "work", "new_tier": "sensitive", "cap": 0}


def test_chunks_are_no_facts_in_the_list(run: Run, url: str, owner: psycopg.Connection) -> None:
    run("space", "create", "work", "--tier", "public", DATABASE_URL=url)
    owner.execute(
        "select store_source('work', 'file/a.md', 'a.md', 'Tea at four.', '[[1, 0, 12, 4]]',"
        " encode(sha256('Tea at four.'), 'hex'))"
    )

    assert list_graphs(run, url)["work"] == ("public", 4000, 0, 1, 1)
    assert "public: 1 chunk" in run("space", "list", DATABASE_URL=url).out


def test_a_wrong_tier_is_refused(run: Run, url: str) -> None:
    for words, message in (
        (("space", "create", "x", "--tier", "secret"), "use the tier public, personal or"),
        (("space", "create", "x", "--recall-tokens", "5"), "use the tier public, personal or"),
        (("space", "tier", "default", "public"), "cannot become a graph"),
        (("space", "tier", "nowhere", "public"), "No space nowhere"),
    ):
        outcome = run(*words, DATABASE_URL=url)

        assert (outcome.code, message in outcome.err) == (1, True)
