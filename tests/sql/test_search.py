# ruff: noqa: RUF001 (letters of other scripts are what some of these tests are about)
"""Full text, the hybrid search and its statistics, as an analyst calls them."""

from itertools import product
from typing import Any, LiteralString
from uuid import UUID

import psycopg
import pytest
from psycopg.sql import SQL, Composed, Identifier, Placeholder

Sql = psycopg.Connection[Any]


def compose_call(columns: LiteralString, function: str, named: dict[str, Any]) -> Composed:
    arguments = [SQL("{} => {}").format(Identifier(key), Placeholder(key)) for key in named]
    return SQL("select {} from {}({})").format(
        SQL(columns), Identifier(function), SQL(", ").join(arguments)
    )


def remember(
    sql: Sql, entity: str, observation: str, entity_type: str = "person", **named: Any
) -> UUID:
    """Stores a fact; its id. `named` are further arguments of remember_fact."""
    named |= {"entity": entity, "type": entity_type, "observation": observation}
    row = sql.execute(compose_call("observation_id", "remember_fact", named), named).fetchone()
    assert row
    return row[0]


def look(sql: Sql, query: str, columns: LiteralString, **named: Any) -> list[tuple[Any, ...]]:
    """Columns of the facts found, best first. `named` are further arguments of search_memory."""
    named["query"] = query
    return sql.execute(compose_call(columns, "search_memory", named), named).fetchall()


def search(sql: Sql, query: str, **named: Any) -> list[str]:
    """Contents of the facts found, best first."""
    return [row[0] for row in look(sql, query, "content", **named)]


def fetch(sql: Sql, statement: LiteralString, *arguments: Any) -> Any:
    row = sql.execute(statement, arguments).fetchone()
    assert row
    return row[0]


def register(sql: Sql) -> int:
    """A model of three dimensions."""
    return fetch(sql, "select register_embedding_model('test:plane', 3)")


def add_space(sql: Sql, name: str) -> int:
    return fetch(sql, "insert into space (name) values (%s) returning id", name)


def test_a_question_of_many_words_has_no_more_terms_than_coverage_counts(sql: Sql) -> None:
    known, unknown = ([f"{kind}{number}" for number in range(20)] for kind in ("known", "unheard"))
    remember(sql, "Ada", " ".join(known))
    sql.execute("select refresh_search_statistics(true)")

    count = "select cardinality(terms) from search_terms(%s, array[1])"
    terms = fetch(sql, count, " ".join(known + unknown))

    assert terms == 12


def test_words_that_are_too_common_to_select_alone_select_together(sql: Sql) -> None:
    sql.execute("""
        select build_knowledge(facts => jsonb_agg(jsonb_build_object(
            'entity', 'Ada', 'type', 'person', 'observation', format('%s %s', word, n))))
        from unnest(array['violin', 'harbour', 'guitar', 'station']) word, generate_series(1, 301) n
        group by word""")
    remember(sql, "Ada", "played the violin at the harbour")
    remember(sql, "Ada", "owns a zither")
    sql.execute("update observation set ordinal = 10 * ordinal")
    sql.execute("select refresh_search_statistics(true)")

    found = search(sql, "zither, violin, harbour")

    assert set(found) == {"played the violin at the harbour", "owns a zither"}


def test_coverage_is_the_sum_of_the_weights_of_the_terms_that_a_fact_has(sql: Sql) -> None:
    words = [f"word{number}" for number in range(12)]
    covered = """
        select terms_weight(
            matched_terms(to_tsvector('simple', %s), %s::text[]::tsquery[]), subset_sums(%s))"""
    for count in range(1, len(words) + 1):
        weights = [2.0**place for place in range(count)]
        for place, word in enumerate(words[:count]):
            assert fetch(sql, covered, word, words[:count], weights) == weights[place]
        assert fetch(sql, covered, " ".join(words), words[:count], weights) == sum(weights)


def test_full_text_sees_words_where_people_write_names_paths_and_accents(sql: Sql) -> None:
    for text, seen in {
        "Likes tea": "Likes tea",
        "get_user_by_id": "get user by id",
        "getUserById": "getUserById get User By Id",
        "HTTPServer for IDs": "HTTPServer for IDs HTTP Server for IDs",
        "src/auth/token_store.py": "src auth token store py",
        "ERR-902": "ERR 902 ERR902",
        "Python 3.12.": "Python 3.12 ",
        "Café Ångström Łódź": "Cafe Angstrom Lodz",
        "\uff46\uff55\uff4c\uff4c \ufb01ne": "full fine",
        "东京大学": "东京 京大 大学",
        "茶": "茶",
        "喝 tea茶": "喝  tea 茶",
        "می\u200cخواهم": "مي خواهم",
        "Привет Мир": "привет мир",
    }.items():
        assert fetch(sql, "select search_text(%s)", text) == seen


def test_plain_text_holds_no_mark_of_a_scope_and_no_tie_between_words(sql: Sql) -> None:
    document = fetch(
        sql,
        "select tsvector_to_array(search_document(7, 'english', 'A', %s))",
        "~s1 '~s2' <b>x</b> /~s3/y",
    )
    assert [word for word in document if word.startswith("~")] == ["~s7"]


def test_a_fact_is_found_however_its_words_are_written(sql: Sql) -> None:
    pairs = [
        ("get_user_by_id", "function getUserById checks the cache"),
        ("countOpenTabs", "calls count_open_tabs twice"),
        ("token store", "lives in src/auth/token_store.py"),
        ("lib/pay/cash.py", "the till is lib/pay/cash.py"),
        ("typescript", "prefers TypeScript"),
        ("JavaScript", "writes javascript"),
        ("902", "fails with ERR-902"),
        ("cafe", "met at the Café Central"),
        ("THÉÂTRE", "went to the theatre"),
        ("大学", "东京大学在东京"),
        ("خواهم", "من می\u200cخواهم بروم"),
        ("МИР", "сказал мир"),
        ("running 🏃", "runs every day 🎉"),
        ("what's today's favourite?", "has a favourite mug"),
    ]
    for _, fact in pairs:
        remember(sql, "Ana", fact)
    assert {query: search(sql, query)[:1] for query, _ in pairs} == {
        query: [fact] for query, fact in pairs
    }


def test_forms_of_a_word_that_stemming_leaves_apart_find_each_other(sql: Sql) -> None:
    pairs = {
        "when did she go to Rome?": "went to Rome in spring",
        "what has he bought?": "will buy a boat",
        "her child": "has two children",
        "3 cats": "keeps three cats",
        "favourite colour": "her favorite color is teal",
        "in February": "flew to Oslo on 3 Feb",
    }
    for number, fact in enumerate(pairs.values()):
        remember(sql, f"Person{number}", fact)
    for counted in (False, True):
        assert {query: search(sql, query)[:1] for query in pairs} == {
            query: [fact] for query, fact in pairs.items()
        }
        if not counted:
            sql.execute("select refresh_search_statistics(force => true)")


def test_the_owner_adds_words_that_mean_the_same(sql: Sql) -> None:
    remember(sql, "Ana", "runs kubernetes at home")
    assert search(sql, "k8s") == []
    sql.execute("insert into word_form values ('k8s', 'kubernet'), ('kubernet', 'k8s')")
    assert search(sql, "k8s") == ["runs kubernetes at home"]


def test_part_of_a_name_in_camel_case_does_not_find_another_name(sql: Sql) -> None:
    remember(sql, "Ana", "writes TypeScript")
    assert search(sql, "JavaScript") == []


def test_a_question_of_nothing_but_stop_words_finds_a_name_made_of_them(sql: Sql) -> None:
    remember(sql, "The Who", "formed in 1964", "organization")
    remember(sql, "Ana", "what she is and who she was")
    sql.execute("update observation set ordinal = 10 * ordinal")
    assert search(sql, "the who") == ["formed in 1964"]
    assert search(sql, "is it") == []


def test_any_text_may_be_asked_with_and_without_a_vector(sql: Sql) -> None:
    model = register(sql)
    remember(sql, "Ana", "drinks green tea", model=model, embedding="[1,0,0]")
    for _ in range(2):
        for query in (
            "", " ", "?!…", "🎉🎉", "a & b | !c:*", "'; drop table observation; --", "\\", "'", '"',
            "''' \\' $1 %s %L {}", "~s1", "<->", "(((", ":*", "x' || 'y", "e" * 1000, "tea " * 250,
            "\u200c\u200d", "\u202eabc", "茶" * 1000, "Z͑ͫa̴l̷g̸o", "the of and", "camelCase'Quote\\d",
        ):  # fmt: skip
            search(sql, query)
            assert search(sql, query, model=model, vector="[1,0,0]") == ["drinks green tea"]
        sql.execute("select refresh_search_statistics()")


def test_an_empty_store_answers_nothing_with_or_without_statistics(sql: Sql) -> None:
    model = register(sql)
    for _ in range(2):
        assert search(sql, "anything") == []
        assert search(sql, "anything", model=model, vector="[1,0,0]") == []
        assert search(sql, "anything", model=model, vector="[1,0,0]", semantic=True) == []
        sql.execute("select refresh_search_statistics(force => true)")


def test_only_facts_valid_at_the_moment_asked_for_are_found(sql: Sql) -> None:
    remember(sql, "Ana", "tea: green", valid_until="2999-01-01")
    replaced = remember(sql, "Ana", "tea: black")
    before = fetch(sql, "select clock_timestamp()")
    remember(sql, "Ana", "tea: white", replaces=str(replaced))
    assert sorted(search(sql, "tea")) == ["tea: green", "tea: white"]
    assert sorted(search(sql, "tea", as_of=before)) == ["tea: black", "tea: green"]
    assert search(sql, "tea", as_of="2999-01-02") == ["tea: white"]
    assert search(sql, "tea", as_of="1999-01-01") == []


def test_a_fact_is_found_in_the_transaction_that_stored_it(sql: Sql) -> None:
    with sql.transaction():
        remember(sql, "Ana", "drinks tea")
        assert search(sql, "tea") == ["drinks tea"]


def test_a_space_that_is_not_asked_for_is_never_seen(sql: Sql) -> None:
    model = register(sql)
    mine, other = add_space(sql, "mine"), add_space(sql, "other")
    for space in (mine, other):
        remember(sql, "Ana", f"tea in {space}", model=model, embedding="[1,0,0]", space=space)
    for large, semantic in product((False, True), (False, True)):
        if large and not semantic:
            sql.execute("insert into space_statistics select id, 5000 from space")
        asked = {"model": model, "vector": "[1,0,0]", "semantic": semantic}
        for spaces, seen in (
            ([mine], [mine]), ([other, mine], [mine, other]), ([], []), (None, [mine, other])
        ):  # fmt: skip
            found = look(sql, "tea", "space_id", spaces=spaces, **asked)
            assert sorted(row[0] for row in found) == seen, (large, semantic)
        for spaces in ([mine, None], [None], [other + 1000]):
            with pytest.raises(psycopg.DatabaseError) as refused:
                look(sql, "tea", "space_id", spaces=spaces, **asked)
            assert refused.value.sqlstate == "TR011", (large, semantic)


def test_the_best_rows_come_first_and_no_more_than_asked_for(sql: Sql) -> None:
    for number in range(8):
        remember(sql, "Ana", f"tea number {number}")
    assert search(sql, "tea", max_rows=3) == [f"tea number {number}" for number in (7, 6, 5)]
    assert search(sql, "tea number 2", max_rows=1) == ["tea number 2"]
    assert search(sql, "tea", max_rows=0) == []


def test_equal_scores_come_newest_first_and_then_by_id(sql: Sql) -> None:
    first, second, third = (remember(sql, "Ana", f"tea {n}") for n in ("one", "two", "six"))
    sql.execute("update observation set created_at = '2026-01-01' where id <> %s", (first,))
    ids = [row[0] for row in look(sql, "tea", "observation_id")]
    assert ids == [first, *sorted((second, third))]


def test_a_fact_without_a_vector_is_found_by_its_words_with_a_fair_score(sql: Sql) -> None:
    model = register(sql)
    remember(sql, "Ana", "drinks tea", model=model, embedding="[1,0,0]")
    remember(sql, "Tom", "drinks tea at night")
    rows = look(sql, "drinks tea", "content, score, cosine", model=model, vector="[1,0.5,0]")
    scores = {content: score for content, score, _ in rows}
    assert scores["drinks tea at night"] == pytest.approx(scores["drinks tea"], abs=0.05)
    assert [cosine for content, _, cosine in rows if content == "drinks tea at night"] == [None]


def test_a_model_without_any_vector_leaves_the_words(sql: Sql) -> None:
    remember(sql, "Ana", "drinks tea")
    assert search(sql, "tea", model=register(sql), vector="[1,0,0]") == ["drinks tea"]


def test_search_by_meaning_ignores_words_and_refuses_to_go_without_a_vector(sql: Sql) -> None:
    model = register(sql)
    remember(sql, "Ana", "drinks tea", model=model, embedding="[0,1,0]")
    remember(sql, "Tom", "rides a horse", model=model, embedding="[1,0.1,0]")
    remember(sql, "Eve", "has no vector and tea")
    found = look(
        sql, "tea", "content, score, coverage", model=model, vector="[1,0,0]", semantic=True
    )
    assert [row[0] for row in found] == ["rides a horse"]
    assert [round(row[1], 2) for row in found] == [1.0]
    assert {row[2] for row in found} == {None}
    for arguments in ({}, {"model": model}, {"vector": "[1,0,0]"}):
        with pytest.raises(psycopg.errors.InvalidParameterValue, match="needs a vector"):
            search(sql, "tea", semantic=True, **arguments)


def test_a_vector_of_zeros_is_like_nothing_and_finds_nothing(sql: Sql) -> None:
    model = register(sql)
    remember(sql, "Ana", "drinks tea", model=model, embedding="[1,0,0]")
    found = look(sql, "horse", "score, cosine", model=model, vector="[0,0,0]", semantic=True)
    assert found == []


def test_words_and_meaning_together_score_higher_than_either_alone(sql: Sql) -> None:
    model = register(sql)
    remember(sql, "Ana", "drinks tea", model=model, embedding="[1,0,0]")
    remember(sql, "Tom", "rides a horse", model=model, embedding="[1,0,0]")
    remember(sql, "Eve", "drinks tea now", model=model, embedding="[0,1,0]")
    rows = look(sql, "drinks tea", "content, score", model=model, vector="[1,0,0]")
    assert {row[0] for row in rows} == {"drinks tea", "drinks tea now", "rides a horse"}
    assert rows[0][0] == "drinks tea"
    assert all(0 <= row[1] <= 1 for row in rows)


def test_rare_words_of_the_question_weigh_more_than_common_ones(sql: Sql) -> None:
    for number in range(9):
        remember(sql, f"Guest {number}", "drinks tea")
    remember(sql, "Guest 9", "drinks mead")
    sql.execute("update observation set ordinal = 10 * ordinal")
    assert fetch(sql, "select refresh_search_statistics()")
    rows = look(sql, "tea mead", "content, coverage", least_score=0)
    assert rows[0][0] == "drinks mead"
    assert rows[0][1] > 0.8
    assert rows[1][1] < 0.2


def test_statistics_are_counted_anew_only_when_the_store_has_changed(sql: Sql) -> None:
    refresh = "select refresh_search_statistics()"
    for number in range(12):
        remember(sql, "Ana", f"tea {number}")
    assert fetch(sql, refresh) is True
    assert fetch(sql, "select frequency from lexeme where word = 'tea'") == 12
    assert fetch(sql, "select count(*) from lexeme where starts_with(word, '~')") == 0
    assert fetch(sql, "select facts from space_statistics") == 12
    remember(sql, "Ana", "mead")
    assert fetch(sql, refresh) is False
    assert fetch(sql, "select refresh_search_statistics(force => true)") is True
    assert fetch(sql, "select frequency from lexeme where word = 'mead'") == 1
    for number in range(3):
        remember(sql, "Ana", f"ale {number}")
    assert fetch(sql, refresh) is True


def test_only_one_session_refreshes_at_a_time(sql: Sql) -> None:
    remember(sql, "Ana", "drinks tea")
    with (
        psycopg.connect(sql.info.dsn, autocommit=True) as other,
        other.transaction(),
    ):
        refresh = "select textrawl.refresh_search_statistics(force => true)"
        assert fetch(other, refresh) is True
        assert fetch(sql, refresh) is False


def test_search_leaves_no_setting_behind_in_a_session_that_knows_no_vector(sql: Sql) -> None:
    model = register(sql)
    remember(sql, "Ana", "drinks tea", model=model, embedding="[1,0,0]")
    with psycopg.connect(sql.info.dsn, autocommit=True) as fresh:
        fresh.execute("set search_path = textrawl, public")
        assert search(fresh, "tea", model=model, vector="[1,0,0]") == ["drinks tea"]
        assert fetch(fresh, "show hnsw.iterative_scan") == "off"
        assert fetch(fresh, "show hnsw.ef_search") == "40"


def test_the_bar_of_a_score_says_which_evidence_reaches_it(sql: Sql) -> None:
    scores, bar = (0.4, 0.5, 0.6), "select * from score_bar(%s)"
    for score in scores:
        [(none, cosine, coverage)] = sql.execute(bar, (score,)).fetchall()
        assert (none, cosine) == (None, None)
        reached = "select search_score(null, %s, base, meaning, words) from ranking_weights()"
        assert fetch(sql, reached, coverage) == pytest.approx(score)

    sql.execute("select register_embedding_model('test:plane', 3, 0.1, 0.9, 0.5)")
    for score in scores:
        [(name, cosine, _)] = sql.execute(bar, (score,)).fetchall()
        assert name == "test:plane"
        reached = (
            "select search_score(search_likeness(%s, 0.1, 0.9), 0, base, meaning, words)"
            " from ranking_weights('test:plane')"
        )
        assert fetch(sql, reached, cosine) == pytest.approx(score)


def test_a_score_that_no_cosine_reaches_has_no_bar_for_meaning(sql: Sql) -> None:
    sql.execute("select register_embedding_model('test:plane', 3, 0.1, 0.9, 0.5)")
    assert fetch(sql, "select cosine is null from score_bar(0.95)")
