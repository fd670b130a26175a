"""The digest: the facts that matter at the start of a conversation."""

from typing import Any

import psycopg

from tests.sql.story import tell

Sql = psycopg.Connection[Any]


def digest(sql: Sql, project: str | None = None, **more: object) -> list[tuple[str, str]]:
    names = "".join(f", {name} => %({name})s" for name in more)
    query = f"select section, content from digest_memory(%(project)s{names})"  # noqa: S608
    return sql.execute(query.encode(), {"project": project, **more}).fetchall()


def test_the_project_comes_first_then_questions_preferences_and_people(sql: Sql) -> None:
    tell(sql, "Coffee", "is drunk in the kitchen", type="concept")
    tell(sql, "Ada", "leads QA", type="person")
    tell(sql, "Editor", "is Vim", type="preference")
    tell(sql, "Release", "who signs it?", type="concept")
    tell(sql, "Billing Service", "stores amounts in cents", type="project")

    assert digest(sql, "billing service") == [
        ("project", "stores amounts in cents"),
        ("question", "who signs it?"),
        ("preference", "is Vim"),
        ("person", "leads QA"),
        ("recent", "is drunk in the kitchen"),
    ]


def test_a_project_is_found_by_the_words_of_its_name(sql: Sql) -> None:
    tell(sql, "Billing Service v2", "runs on Postgres", type="concept")
    tell(sql, "Search Service", "runs on Lucene", type="concept")

    assert digest(sql, "billing-service")[0] == ("project", "runs on Postgres")
    assert digest(sql, "Lucene %_' | service")[0][0] == "recent"


def test_facts_that_ended_and_long_facts_are_left_out(sql: Sql) -> None:
    first = tell(sql, "Ada", "lives in Oslo", type="person")
    tell(sql, "Ada", "lives in Riga", type="person", replaces=first)
    tell(sql, "Ada", "x" * 301, type="person")

    assert digest(sql) == [("person", "lives in Riga")]


def test_one_entity_does_not_fill_the_digest(sql: Sql) -> None:
    for number in range(30):
        tell(sql, "Log", f"line {number}", type="concept")
    tell(sql, "Ada", "leads QA", type="person")

    assert len(digest(sql)) == 4
    assert len(digest(sql, "log", max_rows=12)) == 12


def test_a_fact_that_is_often_recalled_comes_before_newer_facts(sql: Sql) -> None:
    old = tell(sql, "Deployment", "is done on Mondays", type="concept")
    for number in range(60):
        tell(sql, f"Thing {number}", f"is number {number}", type="concept")
    sql.execute(
        "update observation set created_at = now() - interval '400 days' where id = %s", (old,)
    )
    sql.execute(
        "insert into recall (space_id, at, mode, facts, format, structured, tokens, budget, items, "
        "dropped) select default_space(), now(), 'search', array[%s]::uuid[], 'compact', false, 1, "
        "1, 1, 0 "
        "from generate_series(1, 20)",
        (old,),
    )

    facts = digest(sql)

    assert facts[0] == ("recalled", "is done on Mondays")
    assert len(facts) == 40


def test_a_memory_without_facts_has_an_empty_digest(sql: Sql) -> None:
    assert digest(sql, "anything") == []
    assert digest(sql) == []


def test_preferences_names_and_work_of_the_caller_stay_before_newer_facts(sql: Sql) -> None:
    lasting = ("prefers short answers", "is called Adi by friends", "has to renew her passport")
    for fact in lasting:
        tell(sql, "Ada", fact)
    for number in range(30):
        tell(sql, "Ada", f"visited town {number}")
    sql.execute("select set_own_entity('Ada')")

    own = [content for section, content in digest(sql) if section == "self"]

    assert set(own[:3]) == set(lasting)
    assert own[3] == "visited town 29"
    kinds = {
        "preference": ("does not eat fish", "möchte Tee", "préfère le thé", "odia el ruido",
                       "お茶が好き"),
        "name": ("is nicknamed Adi", "heißt Ada", "s\u2019appelle Ada", "se llama Ada"),
        "work": ("who signs it?", "is working on Harbour", "muss packen", "doit partir", "debe ir"),
        None: ("lives in Oslo", "leads QA", "unlikely", "premag"),
    }  # fmt: skip
    for kind, texts in kinds.items():
        for text in texts:
            found = sql.execute("select profile_kind(%s)", (text,)).fetchall()
            assert found == [(kind,)], text
