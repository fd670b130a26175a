"""Rules that stand in one SQL function: written nowhere else, and as fast as if they were."""

import re
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg

from textrawl.values.names import ENTITY_TYPES, SYNONYMS, read_wanted_type

Sql = psycopg.Connection[Any]

FILES = [
    file
    for file in (Path(__file__).parents[2] / "sql").glob("*/*.sql")
    if file.parent.name != "migrations"
]


def test_a_rule_is_written_in_its_function_alone() -> None:
    for rule, function in (
        (r"valid_until (?:is null or|<=|>)", "is_valid"),
        (r"\[0-9a-f\]\{8\}", "is_fact_id"),
        (r"md5\((?:textrawl\.)?fact_key", "fact_hash"),
        (r"metadata ->> 'type'", "free_type"),
        (r"(?<!strip\()to_tsvector\('english', (?:textrawl\.)?search_text", "language_document"),
        (r"expires_at (?:is null or|<=? clock|> clock)", "is_live_token"),
    ):
        written = [file.stem for file in FILES if re.search(rule, file.read_text("utf-8"))]
        assert [name for name in written if name not in _EXCEPTIONS.get(function, ())] == [function]


def test_whoever_asks_whether_a_fact_is_valid_gives_its_closed_at() -> None:
    """Both are times: without this, Postgres takes an as_of in the third place."""
    call = re.compile(
        r"is_valid\([^,()]*, [^,]*valid_until[^,]*, (?!\w*\.?closed_at\b|closed\b|null\b)"
    )
    assert [file.stem for file in FILES if call.search(file.read_text("utf-8"))] == []


def test_whoever_sets_an_end_sets_closed_at() -> None:
    change = re.compile(r"\bset (?:\w+ = [^;]*?\s)??valid_until = ")
    setters = {file.stem: text for file in FILES if change.search(text := file.read_text("utf-8"))}
    assert len(setters) > 5
    # A revised fact ends at its beginning, which is_valid() knows. It keeps its earlier closed_at.
    assert [name for name, text in setters.items() if "closed_at" not in text] == ["revise_fact"]


_EXCEPTIONS = {
    # A write asks only about its own end. A page of changes goes on at the end of the page before.
    "is_valid": ("past_end", "space_timeline"),
}


def test_a_function_whose_names_are_bound_at_creation_sets_no_search_path() -> None:
    """A function that lends its rights sets it all the same, and so do two that look names up."""
    heads = {
        file.stem: head
        for file in FILES
        for head, body, _ in [file.read_text("utf-8").partition("begin atomic")]
        if body
    }
    found = [
        name
        for name, head in heads.items()
        if "set search_path" in head and "security definer" not in head
    ]
    assert sorted(found) == ["own_index_drops", "register_actors"]


def test_the_planner_puts_a_rule_in_place_of_its_call(sql: Sql) -> None:
    for query in (
        "select from observation o where is_valid(o.valid_from, o.valid_until, o.closed_at)",
        "select from observation o where is_valid(o.valid_from, o.valid_until, o.closed_at, now())",
        """select from observation o
           where is_valid(
               o.valid_from, o.valid_until, o.closed_at, present => clock_timestamp())""",
        "select from observation o where is_fact_id(o.content)",
        "select from observation o where o.content_hash = fact_hash(o.content)",
        "select from entity e where free_type(e.entity_type, e.metadata) = 'Engineer'",
        "select from token t where is_live_token(t.revoked_at, t.expires_at)",
    ):
        plan = "\n".join(line for (line,) in sql.execute(f"explain (verbose) {query}").fetchall())
        [function] = re.findall(r"(?<= )(?:is_\w+|free_type|fact_hash)(?=\()", query)
        assert "Filter" in plan
        assert f"{function}(" not in plan


def test_the_memory_tools_and_the_graph_take_a_word_for_the_same_type(sql: Sql) -> None:
    for word in (*ENTITY_TYPES, *SYNONYMS):
        for spelling in (word, f"{word}s", word.upper()):
            found = sql.execute("select nearest_type(%s)", (spelling,)).fetchone()
            assert found == (read_wanted_type(spelling.lower()),), spelling
    known = sql.execute("select key, value from jsonb_each_text(type_words())").fetchall()
    assert len(dict(known)) == len(known) > 400
    assert {entity_type for _, entity_type in known} == set(ENTITY_TYPES)
    assert all(re.fullmatch("[a-z]+", word) for word, _ in known)


def test_rows_are_made_in_few_places() -> None:
    for table, functions in (
        ("entity", ["insert_entity"]),
        # One for new relations; the others keep the authors and the times of a file, of an undo and
        # of another space.
        (
            "relation",
            ["copy_relations", "import_relations", "restore_undone", "store_relations"],
        ),
        # One for a batch, one for a single row, which is faster, one for the parts of a document,
        # which are no events of their own; the others as for relations.
        (
            "observation",
            [
                "copy_facts",
                "import_facts",
                "keep_observation",
                "place_parts",
                "restore_undone",
                "store_facts",
            ],
        ),
    ):
        insert = re.compile(rf"\binsert into (?:textrawl\.)?{table}\b")
        assert (
            sorted(file.stem for file in FILES if insert.search(file.read_text("utf-8")))
            == functions
        )


def test_an_entity_is_made_unless_its_name_or_its_id_is_taken(sql: Sql) -> None:
    make = "select insert_entity(1, %s, name_key(%s), 'person', false, id => %s)"
    first, other = uuid4(), uuid4()
    assert sql.execute(make, ("Ada", "Ada", first)).fetchone() == (first,)
    assert sql.execute(make, ("ada", "ada", other)).fetchone() == (None,)
    assert sql.execute(make, ("Bo", "Bo", first)).fetchone() == (None,)
    assert sql.execute("select name from entity").fetchall() == [("Ada",)]
