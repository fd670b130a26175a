"""I, my and such words in a question mean the caller's own entity."""

import psycopg
import pytest

from tests.support.sharing import call, refuse
from tests.support.sql_team import Team

# A question with `_` in place of each word that means the person who asks, in spaces of languages.
ENGLISH, GERMAN, FRENCH, SPANISH = ("english",), ("german",), ("french",), ("spanish",)
EVERY = (*ENGLISH, *GERMAN, *FRENCH, *SPANISH)
CASES: tuple[tuple[tuple[str, ...], str, str], ...] = (
    (EVERY, "Where is my bike?", "Where is _ bike?"),
    (EVERY, "My bike: is it (mine)? We sold our car", "_ bike: is it (mine)? _ sold _ car"),
    (ENGLISH, "where do I live, and what do i eat", "where do _ live, and what do _ eat"),
    (ENGLISH, "I'm late. Do I know her?", "_ late. Do _ know her?"),
    (ENGLISH, "what is mine, and whose is the gold mine", "what is _, and whose is the gold mine"),
    (ENGLISH, "who told us about US sales", "who told _ about US sales"),
    (EVERY, "World War I, I/O, my_var, me@acme.com, my-app", ""),
    (ENGLISH, "Type I diabetes, for i in range", ""),
    ((*GERMAN, *FRENCH, *SPANISH), "Abschnitt i und I, US sales, ours", ""),
    (EVERY, "Wo wohne ich? Unser Hund", "Wo wohne _? _ Hund"),
    (GERMAN, "wer hat mir geholfen", "wer hat _ geholfen"),
    ((*ENGLISH, *FRENCH), "Mir space station", ""),
    (FRENCH, "où est-ce que j'habite, mon chat, mes clés", "où est-ce que _habite, _ chat, _ clés"),
    (SPANISH, "¿dónde vivo yo? mi coche, el mes", "¿dónde vivo _? _ coche, el mes"),
    (EVERY, "es mío, Mia, Notre-Dame, früich", "es _, Mia, Notre-Dame, früich"),
)  # fmt: skip

MINE = "select entity_name from own_entities(credential => %s)"


@pytest.fixture
def team(sql: psycopg.Connection) -> Team:
    """Ben and Ada live in two towns, and share a car."""
    team = Team(sql)
    for entity, fact in (
        ("Ben", "lives in Riga"), ("Ben", "eats no nuts"), ("Ada", "lives in Oslo"),
        ("Cy", "lives in Rome"), ("car", "is parked behind the station"),
    ):  # fmt: skip
        team.remember("ben", entity, fact)
    team.remember("ben", "Acme", "is led by Cleo")
    team.relate("ben", "Ben", "works for", "Acme")
    return team


def test_whole_words_of_four_languages_mean_the_person_who_asks(sql: psycopg.Connection) -> None:
    wrong = [
        (language, query, found)
        for languages, query, expected in CASES
        for language in languages
        for (found,) in sql.execute(
            "select regexp_replace(%s, first_person(%s), '_', 'g')", (query, [language])
        )
        if found != (expected or query)
    ]
    assert wrong == []


def ask(team: Team, actor: str, query: str) -> list[tuple[str, str, float]]:
    """Return the facts that an actor finds, the best first."""
    return team.sql.execute(
        "select entity_name, content, score from search_memory(%s, credential => %s)",
        (query, team.credential(actor)),
    ).fetchall()


def choose(team: Team, actor: str, entity: str | None) -> list[str]:
    """Set the entity that the actor is. Return the names in the answer of set_own_entity()."""
    rows = call(team.sql, "set_own_entity", entity=entity, credential=team.credential(actor))
    return [row[2] for row in rows]


def test_my_questions_find_my_facts_first_and_facts_about_others_lose_nothing_by_a_missing_name(
    team: Team,
) -> None:
    first, parked = ask(team, "ben", "where do I live"), ask(team, "ben", "where is our car")
    assert choose(team, "ben", "ben") == ["Ben"]

    assert {score for *_, score in first} == {first[0][2]}
    assert ask(team, "ben", "where do I live")[0][:2] == ("Ben", "lives in Riga")
    [car] = [fact for fact in ask(team, "ben", "where is our car") if fact[0] == "car"]
    assert car[2] > 0.85 * parked[0][2]
    for query in ("what do you know about me?", "Was weißt du über mich"):
        assert [name for name, *_ in ask(team, "ben", query)][:3] == ["Ben"] * 3
    assert ask(team, "ada", "what do you know about me?") == []
    assert ask(team, "ben", "what about my parachute") == []
    assert ask(team, "ben", "who leads the company that I work for")[0][:2] == (
        "Acme",
        "is led by Cleo",
    )
    words = team.fetch(
        "select words from explain_search('where do I live', credential => %s) limit 1",
        team.credential("ben"),
    )
    assert {(word["word"], word["weight"]) for word in words} == {("live", 1), ("ben", 0)}


def test_an_actor_stays_an_entity_through_merges_and_splits_but_not_through_forgetting(
    team: Team,
) -> None:
    ben = team.credential("ben")
    team.remember("ben", "Benjamin", "sings")
    choose(team, "ben", "Ben")
    assert choose(team, "ben", "nobody") == []

    given = {"credential": ben, "space": team.space}
    for _ in range(2):
        call(team.sql, "merge_entities", kept="Benjamin", merged="Ben", **given)
        assert team.fetch(MINE, ben) == "Benjamin"
        call(team.sql, "split_entity", merged="Ben", **given)
        assert team.fetch(MINE, ben) == "Ben"
    call(team.sql, "merge_entities", kept="Benjamin", merged="Ben", **given)
    team.forget("Benjamin")

    assert team.fetch("select count(*) from own_entity") == 0
    choose(team, "ben", "Ada")
    assert choose(team, "ben", None) == ["Ada"]
    assert team.sql.execute(MINE, (ben,)).fetchall() == []


def test_who_an_actor_is_counts_only_in_spaces_that_the_actor_reads(team: Team) -> None:
    """Ada is an entity of two spaces, and loses one of them."""
    other = Team(team.sql, "other")
    other.remember("ben", "Secret Name", "lives in Kyiv")
    ada = other.credential("ada")
    team.credential("ada")
    choose(other, "ada", "Secret Name")
    assert team.fetch(MINE, ada) == "Secret Name"

    team.sql.execute("delete from space_grant where space_id = %s", (other.space,))

    assert team.sql.execute(MINE, (ada,)).fetchall() == []
    for query in ("where do I live", "who am I"):
        shown = str(call(team.sql, "explain_search", query=query, credential=ada))
        assert "secret" not in shown.lower()
    given = {"credential": ada, "spaces": [other.space]}
    assert refuse(team.sql, "own_entities", **given) == "TR011"
    assert refuse(team.sql, "set_own_entity", entity="Secret Name", **given) == "TR011"
