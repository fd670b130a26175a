"""Spaces with a language of their own, as an administrator and an analyst use them from psql."""

import pytest

from tests.sql.sessions import Three
from tests.sql.test_search import Sql, fetch, look, remember, search
from tests.support.sharing import call, issue, log_in, refuse
from textrawl.embedded.postmaster import APP


@pytest.fixture
def german(sql: Sql) -> int:
    """A German space."""
    return fetch(sql, "select id from create_space('deutsch', 'german')")


def find(sql: Sql, query: str, *spaces: int) -> list[str]:
    """The facts found. Without neighbours, which are found beside them."""
    sql.execute("update observation set ordinal = 10 * ordinal where ordinal < 1000000")
    return search(sql, query, spaces=list(spaces))


def rebuild(sql: Sql) -> None:
    while fetch(sql, "select rebuild_documents(2)"):
        pass


def check_found(sql: Sql, cases: list[tuple[str, str, str]], other: str = "") -> None:
    """Store each fact in a space of its language, perhaps with another one, and search for it."""
    missed: list[tuple[str, str, str]] = []
    for number, (language, fact, query) in enumerate(cases):
        space: int = fetch(sql, "select id from create_space(%s, %s)", f"own{number}", language)
        remember(sql, "Ada", fact, space=space)
        if other:
            remember(sql, "Bo", other, space=space)
        found = find(sql, query, space)
        if found[:1] != [fact] or (not other and len(found) > 1):
            missed.append((language, fact, query))
    assert missed == []


def test_a_question_that_inflects_its_words_otherwise_finds_the_fact(sql: Sql) -> None:
    cases = [
        ("german", "hat zwei grüne Äpfel gekauft", "grüner Apfel"),
        ("german", "hat zwei grüne Äpfel gekauft", "Was kauft sie"),
        ("german", "arbeitet in Köln", "Wo hat sie gearbeitet"),
        ("french", "a mangé des pommes vertes", "pomme verte"),
        ("french", "préfère le thé", "thé préféré"),
        ("spanish", "comió dos manzanas", "comer manzana"),
        ("spanish", "vivía en Madrid", "dónde vive"),
        ("russian", "любит красный чай", "красного чая"),
        ("german", "stürzt nachts ab", "Wann abgestürzt"),
        ("german", "ging zum Arzt", "Wann ist sie gegangen"),
        ("german", "ist am 3. März umgezogen", "March"),
        ("french", "est allée à Lyon", "où va-t-elle"),
        ("spanish", "duerme mal", "cómo durmió"),
        ("simple", "東京都に住んでいる", "東京"),
        ("simple", "猫を飼っている", "猫は何匹飼うの"),
        ("english", "猫を飼っている", "猫"),
    ]
    check_found(sql, cases)


def test_a_fact_in_another_language_is_found_by_its_literal_words(sql: Sql) -> None:
    cases = [
        ("german", "fought in the war", "When was the war"),
        ("german", "wants to die at sea", "die at sea"),
        ("german", "met Will at the station", "Who is Will"),
        ("german", "walking home", "walking"),
        ("french", "has a son in Oslo", "What is the name of her son"),
        ("spanish", "swims in the sea", "the sea"),
        ("english", "mag Schifffahrten", "Schifffahrten"),
        ("simple", "The Who played", "the who"),
    ]
    check_found(sql, cases, other="something else")


def test_a_stop_word_is_no_stem_of_another_word(sql: Sql, german: int) -> None:
    remember(sql, "Ada", "war in Wien", space=german)
    remember(sql, "Bo", "verkauft Waren", space=german)

    assert find(sql, "Waren", german) == ["verkauft Waren"]


def test_stop_words_of_the_questions_language_do_not_count(sql: Sql, german: int) -> None:
    remember(sql, "Ada", "war in der Stadt", space=german)
    remember(sql, "Bo", "mag Tee", space=german)

    assert find(sql, "Wo ist der Tee", german) == ["mag Tee"]


def test_one_question_finds_facts_of_spaces_with_several_languages(sql: Sql, german: int) -> None:
    remember(sql, "Ada", "walked through Vienna")
    remember(sql, "Bo", "wandert durch Wien", space=german)

    assert set(search(sql, "walking wandern")) == {"walked through Vienna", "wandert durch Wien"}


def test_words_without_meaning_weigh_nothing_where_spaces_differ(sql: Sql, german: int) -> None:
    remember(sql, "Ada", "likes the tea")
    remember(sql, "Bo", "mag Tee", space=german)

    [(alone,)] = look(sql, "What is the tea of the day", "score", spaces=[1])
    [(together, _)] = look(sql, "What is the tea of the day", "score, content", spaces=[1, german])
    assert together == pytest.approx(alone)


def test_word_forms_belong_to_a_language(sql: Sql, german: int) -> None:
    sql.execute("insert into word_form values ('rad', 'fahrrad', 'german')")
    sql.execute("insert into word_form values ('k8s', 'kubernet')")
    remember(sql, "Ada", "repariert ihr Fahrrad", space=german)
    remember(sql, "Ada", "repairs her Fahrrad")
    remember(sql, "Bo", "runs Kubernetes")

    assert find(sql, "Rad", german) == ["repariert ihr Fahrrad"]
    assert find(sql, "Rad", 1) == []
    assert find(sql, "k8s", 1) == ["runs Kubernetes"]


def test_facts_are_found_before_while_and_after_their_space_changes_its_language(
    sql: Sql,
) -> None:
    facts = [f"kaufte {number} grüne Äpfel" for number in range(5)]
    for fact in facts:
        remember(sql, "Ada", fact)
    sql.execute("select add_reflection('global', 'viele grüne Äpfel', 'Bo')")
    assert set(find(sql, "kaufte", 1)) == set(facts)
    row = sql.execute("select * from change_language('default', 'german')").fetchone()

    assert row == ("default", "english", "german", 6)
    remember(sql, "Ada", "kaufte zuletzt grüne Äpfel")
    while True:
        assert set(find(sql, "kaufte", 1)) == {*facts, "kaufte zuletzt grüne Äpfel"}
        assert fetch(sql, "select content from search_reflections('grüne Äpfel')")
        if not fetch(sql, "select rebuild_documents(2)"):
            break
    assert set(find(sql, "grüner Apfel", 1)) == {*facts, "kaufte zuletzt grüne Äpfel"}
    assert fetch(sql, "select content from search_reflections('grüner Apfel')")
    wrong = """select count(*) from observation o join entity e on e.id = o.entity_id
               where o.fts <> search_document(o.space_id, 'german', e.name, o.content)"""
    assert fetch(sql, wrong) == 0
    assert fetch(sql, "select count(*) from document_rebuild") == 0


def test_statistics_count_the_words_of_the_new_language(sql: Sql) -> None:
    for number in range(4):
        remember(sql, "Ada", f"mag Äpfel {number}")
    sql.execute("select refresh_search_statistics(true)")
    sql.execute("select change_language('default', 'german')")
    rebuild(sql)

    assert fetch(sql, "select frequency from lexeme where word = 'apfel'") == 4
    assert fetch(sql, "select count(*) from lexeme where word = '~s1'") == 0


def test_a_second_change_before_the_rebuild_is_done_loses_no_fact(sql: Sql) -> None:
    facts = [f"kaufte {number} Äpfel" for number in range(4)]
    for fact in facts:
        remember(sql, "Ada", fact)
    sql.execute("select change_language('default', 'german')")
    sql.execute("select rebuild_documents(2)")
    sql.execute("select change_language('default', 'french')")
    languages = "select search_languages(array[1])"

    assert fetch(sql, languages) == ["english", "french", "german"]
    assert set(find(sql, "kaufte Äpfel", 1)) == set(facts)
    sql.execute("select change_language('default', 'english')")
    assert set(find(sql, "kaufte Äpfel", 1)) == set(facts)
    rebuild(sql)
    assert fetch(sql, languages) == ["english"]
    assert set(find(sql, "kaufte Äpfel", 1)) == set(facts)


def test_the_rebuild_leaves_a_fact_that_another_session_changes_for_later(
    sql: Sql, three: Three
) -> None:
    for number in range(3):
        remember(sql, "Ada", f"mag Äpfel {number}")
    sql.execute("select change_language('default', 'german')")
    three[0].hold("update observation set confidence = 0.5")
    assert fetch(sql, "select rebuild_documents()") is False
    three[0].release()
    rebuild(sql)

    assert len(find(sql, "Apfel", 1)) == 3


def test_a_fact_that_is_being_stored_while_the_language_changes_is_rebuilt(
    sql: Sql, three: Three
) -> None:
    writer, admin, _ = three
    writer.hold("select remember_fact('Ada', 'person', 'mag Äpfel')")
    admin.start("select change_language('default', 'german')")
    assert admin.is_waiting
    writer.release()
    admin.end()
    rebuild(sql)

    assert find(sql, "Apfel", 1) == ["mag Äpfel"]


def test_an_unknown_language_is_refused_and_nothing_changes(sql: Sql) -> None:
    for language in ("klingon", "", "123", "-", "a.b.c", "no_schema.german", 'open"quote', None):
        assert refuse(sql, "create_space", name="other", language=language) == "TR033"
        assert refuse(sql, "change_language", name="default", language=language) == "TR033"
        assert sql.execute("select name, language from space").fetchall() == [
            ("default", "english")
        ]


def test_a_space_takes_a_configuration_that_the_team_made(sql: Sql) -> None:
    sql.execute("create text search configuration textrawl.mine (copy = pg_catalog.german)")
    space: int = fetch(sql, "select id from create_space('own', 'Mine')")
    remember(sql, "Ada", "mag grüne Äpfel", space=space)

    assert fetch(sql, "select language from space where id = %s", space) == "textrawl.mine"
    assert find(sql, "Apfel", space) == ["mag grüne Äpfel"]


def test_only_who_administers_a_space_changes_its_language(sql: Sql) -> None:
    call(sql, "create_space", name="team")
    writer, admin = (issue(sql, scope, "team", [scope]) for scope in ("write", "admin"))
    change = {"name": "team", "language": "german"}
    with log_in(sql, APP) as server:
        assert refuse(server, "change_language", **change, credential=writer) == "TR011"
        assert (
            refuse(server, "change_language", name="default", language="german", credential=admin)
            == "TR011"
        )
        assert refuse(server, "change_language", **change) == "TR011"
        assert call(server, "change_language", **change, credential=admin) == [
            ("team", "english", "german", 0)
        ]


def test_a_text_of_particles_alone_is_still_a_text(sql: Sql) -> None:
    remember(sql, "の", "は")

    assert find(sql, "は", 1) == ["は"]
