# ruff: noqa: RUF001 (letters that look alike are what these tests are about)
"""The forms in which names, facts and relations are compared and asked for."""

import math
import unicodedata
from typing import Any

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st
from psycopg.sql import SQL, Literal

from textrawl.memory.fact_rows import EVIDENCE
from textrawl.values.text import clean_name, clean_relation, read_relation

Sql = psycopg.Connection[Any]

# Letters with case that Unicode 16 added: fold_case knows Unicode 14, as Python 3.11 does.
_LATER = {0x1C89, 0xA7CB, 0xA7CC, 0xA7DA, 0xA7DC, *range(0x10D50, 0x10D66)}


def ask(sql: Sql, query: Any, *arguments: object) -> Any:
    row = sql.execute(query, arguments).fetchone()
    assert row
    return row[0]


@pytest.mark.slow
def test_case_is_folded_as_python_folds_it_for_every_code_point(sql: Sql) -> None:
    # The third to the fourteenth plane hold no letter with case, and hardly anything else.
    known = [
        chr(code)
        for code in [*range(1, 0x20000), *range(0xE0000, 0xE0200)]
        if not 0xD800 <= code <= 0xDFFF and code not in _LATER
    ]

    for start in range(0, len(known), 8_192):
        text = " ".join(known[start : start + 8_192])
        assert ask(sql, "select fold_case(%s)", text) == text.casefold()


@given(st.text(st.characters(exclude_categories=["Cs", "Cn"]), max_size=30).map(clean_name))
def test_a_key_is_its_own_key_in_any_case(sql: Sql, name: str) -> None:
    key = ask(sql, "select name_key(%s)", name)

    assert ask(sql, "select name_key(%s)", key) == key
    assert (
        ask(sql, "select name_key(%s)", name.upper().lower().casefold())
        == ask(sql, "select name_key(%s)", name.casefold())
        or name.upper().lower().casefold() != name.casefold()
    )
    label = clean_relation(name)
    assert ask(sql, "select relation_label(%s)", label) == label
    assert ask(sql, "select relation_key(relation_key(%s))", label) == ask(
        sql, "select relation_key(%s)", name
    )
    if label:
        words = read_relation(label).replace(" ", "_")[:100]
        assert ask(sql, "select relation_key(%s)", label) == words


def test_other_names_have_other_keys(sql: Sql) -> None:
    for one, other in (("Jeff", "Geoff"), ("Zoe", "Zoë"), ("C", "C++"), ("А", "A"), ("a b", "ab")):
        assert ask(sql, "select name_key(%s) <> name_key(%s)", one, other)


def test_facts_are_compared_without_final_full_stop_and_the_case_of_the_first_letter(
    sql: Sql,
) -> None:
    same = [
        ("Prefers green tea.", "prefers green tea"), (" likes tea\n", "likes tea"),
        ("likes tea。", "likes tea"), ("likes tea।", "likes tea"), ("likes tea۔", "likes tea"),
        ("likes tea．", "likes tea"), ("Élodie aime le thé", "e\u0301lodie aime le thé."),
        ("Ärgert sich immer", "ärgert sich immer"), ("Живёт в Москве", "живёт в Москве"),
        ("Øver på jobb.", "øver på jobb"), ("Ζει στην Αθήνα", "ζει στην Αθήνα"),
    ]  # fmt: skip
    different = [
        ("the flag is -n", "the flag is -N"), ("uses userId there", "uses userID there"),
        ("table Users is large", "table users is large"), ("two  spaces here", "two spaces here"),
        ("Likes tea", "likes tea"), ("IBM sells tea", "iBM sells tea"),
        ("B2 is a vitamin", "b2 is a vitamin"), ("iPhone is a phone", "IPhone is a phone"),
        ("wait for it..", "wait for it"), ("lives in Munich", "lives in munich"),
    ]  # fmt: skip

    for one, other in same:
        assert ask(sql, "select fact_key(%s) = fact_key(%s)", one, other), one
    for one, other in different:
        assert ask(sql, "select fact_key(%s) <> fact_key(%s)", one, other), one


def test_other_signs_make_another_fact(sql: Sql) -> None:
    for text in (
        "likes tea?", "likes tea!", "likes tea！", "likes tea;", "likes: tea", "likes tea)",
        "likes tea+", "likes tea%", "likes +tea", "likes-tea", "likes té a", "likes téa",
    ):  # fmt: skip
        assert ask(sql, "select fact_key(%s)", text) != "likes tea"


def test_what_carries_meaning_makes_another_fact(sql: Sql) -> None:
    for one, other in (
        ("the limit is 5 mW", "the limit is 5 MW"), ("carries 10Mb/s", "carries 10MB/s"),
        ("from 5 mW to 1 kW", "from 5 MW to 1 kW"), ("costs 5 €", "costs 5 $"),
        ("is 20 m² large", "is 20 m2 large"), ("waits 1½ h", "waits 11/2 h"),
        ("wrote the sign ①", "wrote the sign 1"), ("drinks in Maßen", "drinks in Massen"),
        ("DRINKT IN MAẞEN", "DRINKT IN MASSEN"), ("lives in ..", "lives in ."),
        ("copies from src/.", "copies from src/.."), ("uses C", "uses C++"),
        ("the score is 0:5", "the score is 0.5"), ("is now here", "is nowhere"),
        ("uses ＡＢＣ", "uses ABC"),
    ):  # fmt: skip
        assert ask(sql, "select fact_key(%s) <> fact_key(%s)", one, other)


def test_a_name_or_an_id_is_looked_up_also_as_a_constant(sql: Sql) -> None:
    entity = ask(sql, "select entity_id from remember_fact('Ada', 'person', 'likes tea')")

    for name in ("ada", "nobody", str(entity), str(entity)[:8], "deadbeef-"):
        query = SQL("select entity_id from find_entities(array[1], {})").format(Literal(name))
        found = sql.execute(query).fetchall()
        assert found == ([] if name in ("nobody", "deadbeef-") else [(entity,)]), name


def test_similar_names_begin_alike_share_a_word_or_are_in_use(sql: Sql) -> None:
    for name in ("Jeff Green", "Jefferson", "Ann Green", "100% Wool", "Zyx"):
        sql.execute("select remember_fact(%s, 'person', 'exists')", [name])
    sql.execute("update entity set updated_at = updated_at - interval '1 day' where name = 'Zyx'")

    found = sql.execute("select entity_name from similar_names('jef green', 1)").fetchall()
    wool = sql.execute("select entity_name from similar_names('100%%_', 1)").fetchall()

    assert {"Jeff Green", "Jefferson"} & {name for (name,) in found}
    assert ("100% Wool",) in wool
    assert len(sql.execute("select * from similar_names('', 50)").fetchall()) == 5


def test_known_names_are_those_of_entities_and_of_aliases_in_use(sql: Sql) -> None:
    for name in ("Jeff Green", "C++"):
        sql.execute("select remember_fact(%s, 'person', 'exists')", [name])
    sql.execute("select name_entity('Jeff Green', 'JG Straße')")

    found = sql.execute(
        "select name_key from known_names(array['jeff green', 'c++', 'c', name_key('JG STRASSE')])"
    ).fetchall()

    assert sorted(found) == [("c++",), ("jeff green",), ("jg strasse",)]


def test_unicode_of_python_is_not_older_than_that_of_the_table() -> None:
    assert tuple(map(int, unicodedata.unidata_version.split("."))) >= (14, 0, 0)


FACTS = {
    "C": "has manual memory", "C++": "has templates", "C#": "has garbage collection",
    "F#": "has pipes", ".NET": "has a runtime", "Net": "has holes",
    "Build": "broke with 3f2a9c1d7b", "Other build": "broke with 4f2a9c1d7b",
    "Log": "says ERR-4711 at start", "Other log": "says ERR-4712 at start",
    "Kim": "has the number +49 89 5550 1234", "Lea": "has the number +49 89 5550 4321",
    "Invoice": "is over 1,299.50 euros", "Other invoice": "is over 299.50 euros",
    "Mona": "تحب القهوة", "Omar": "يحب الشاي",
}  # fmt: skip
QUESTIONS = {
    "what does C# have": "C#", "what does C++ have": "C++", "C": "C", "what does F# have": "F#",
    "what does .NET have": ".NET", "C#": "C#", "which net has holes": "Net",
    "3f2a9c1": "Build", "3F2A9C1D7B": "Build", "4f2a9c1": "Other build", "err4711": "Log",
    "ERR-4711": "Log", "ERR 4712": "Other log", "+4989 55501234": "Kim",
    "+49 (89) 5550-4321": "Lea", "1299.50": "Invoice", "1,299.50": "Invoice",
    "299.50": "Other invoice", "قهوة": "Mona", "القهوة": "Mona", "شاي": "Omar",
}  # fmt: skip


def test_names_with_signs_and_codes_in_another_spelling_are_found_by_words_alone(sql: Sql) -> None:
    for name, fact in FACTS.items():
        sql.execute("select remember_fact(%s, 'concept', %s)", (name, fact))

    found = {
        question: next(
            iter(sql.execute("select entity_name from search_memory(%s) limit 1", (question,))),
            None,
        )
        for question in QUESTIONS
    }

    assert found == {question: (name,) for question, name in QUESTIONS.items()}


def test_missing_words_tell_nothing_of_spaces_that_are_not_read(
    sql: psycopg.Connection[Any],
) -> None:
    sql.execute("insert into space (name) values ('other')")
    sql.execute("select remember_fact('Ana', 'person', 'rode a zebra', space => 2)")
    sql.execute("select remember_fact('Ana', 'person', 'rode a pony')")

    missing = "select array_agg(word) from missing_words('Did Ana ride a zebra?', array[%s])"

    assert sql.execute(missing, (1,)).fetchone() == (["zebra"],)
    assert sql.execute(missing, (2,)).fetchone() == (None,)


def test_the_words_of_an_entity_in_a_query_are_found_as_it_writes_them(
    sql: psycopg.Connection[Any],
) -> None:
    for name in ("Ann", "Ann Lee", "C#", "Me", "The Who", "Dr. Almeida"):
        sql.execute("select remember_fact(%s, 'concept', 'is known')", (name,))
    found = {
        query: [row[0] for row in sql.execute("select mention from named_entities(%s)", (query,))]
        for query in (
            "what does Ann Lee's boss do?", "c#", "tell me more", "when did the who split up",
            "“Dr. Almeida”, when?",
        )
    }  # fmt: skip
    assert found == {
        "what does Ann Lee's boss do?": ["Ann Lee", "Ann"],
        "c#": ["c#"],
        "tell me more": [],
        "when did the who split up": [],
        "“Dr. Almeida”, when?": ["Dr. Almeida"],
    }


def test_the_evidence_of_a_fact_adds_up_to_the_odds_of_its_score(
    sql: psycopg.Connection[Any],
) -> None:
    for entity, fact in (
        ("Ada", "took a tent to Oslo"),
        ("Ada", "planned a trip to Oslo"),
        ("Tom", "sings with Ada"),
        ("Tom", "knows Oslo well"),
        ("Ada", "plays green chess"),
    ):
        sql.execute("select remember_fact(%s, 'person', %s)", (entity, fact))
    rows = sql.execute(
        "select score, log_odds"
        " from explain_search('did Ada plan a trip to Oslo', least_score => 0)"
    ).fetchall()
    assert len(rows) == 5
    for score, log_odds in rows:
        assert 1 / (1 + math.exp(-sum(log_odds))) == pytest.approx(score, rel=1e-5)
        assert len(log_odds) == len(EVIDENCE)
    about = {round(log_odds[EVIDENCE.index("about")], 3) for _, log_odds in rows}
    assert len(about) == 3
    assert max(about) == 0
