"""Facts of repositories: a search finds what belongs to the session's repository or to none."""

from collections.abc import Sequence

import psycopg
import pytest

from tests.support.sql_team import Team

API, NEXT, FORK = "github.com/acme/api", "github.com/acme/api-v2", "github.com/ben/api"
LOCAL = f"commit:{'ab' * 20}#notes"
TESTS = "runs the tests before each push"
PLACES = (API, NEXT, FORK, LOCAL, "")


def enter(sql: psycopg.Connection, *keys: str) -> None:
    """Let the next statements run in a repository with these keys, or in none."""
    sql.execute("select set_config('textrawl.repository', %s, false)", (" ".join(keys),))


def find(sql: psycopg.Connection, team: Team, query: str) -> set[str]:
    rows = sql.execute(
        "select content from search_memory(%s, spaces => %s, max_rows => 50, least_score => 0)",
        (query, [team.space]),
    )
    return {content for (content,) in rows}


def describe(sql: psycopg.Connection, team: Team, entity: str) -> set[str]:
    query = "select observations from describe_entity(%s, spaces => %s, max_observations => 99)"
    rows = sql.execute(query, (entity, [team.space])).fetchall()
    return {fact["content"] for (facts,) in rows for fact in facts}


def digest(sql: psycopg.Connection, team: Team, project: str) -> set[str]:
    query = "select content from digest_memory(%s, spaces => %s)"
    return {content for (content,) in sql.execute(query, (project, [team.space]))}


def fill(sql: psycopg.Connection, team: Team, places: Sequence[str] = PLACES) -> dict[str, str]:
    """Store a fact in each repository. Return the facts by their repositories."""
    told = {place: f"the deploy script number {at} is tested" for at, place in enumerate(places)}
    for place, fact in told.items():
        enter(sql, place)
        team.remember("eve", "Deploy", fact, kind="project")
    return told


def test_a_session_finds_what_belongs_to_its_repository_or_to_none(sql: psycopg.Connection) -> None:
    told = fill(sql, team := Team(sql))

    for place in PLACES:
        enter(sql, place.partition("#")[0])
        wanted = {told[place], told[""]} if place else {*told.values()}
        assert find(sql, team, "deploy script") == wanted, place
        assert describe(sql, team, "Deploy") == wanted, place
        assert digest(sql, team, "Deploy") == wanted, place


def test_facts_of_another_repository_need_a_question_that_names_it(sql: psycopg.Connection) -> None:
    told = fill(sql, team := Team(sql))
    enter(sql, API)
    own = {told[API], told[""]}

    assert find(sql, team, "deploy script of api-v2") == own | {told[NEXT]}
    assert find(sql, team, "is the deploy script in Acme/API-v2 tested?") == own | {told[NEXT]}
    assert find(sql, team, "deploy script of ben/api?") == own | {told[FORK]}
    assert find(sql, team, "deploy script in notes.") == own | {told[LOCAL]}
    # Its own name names no other repository of this name, and a longer name is another one.
    for query in ("deploy script of api", "deploy script of api-v22", "deploy script, my-notes"):
        assert find(sql, team, query) == own, query


def test_a_session_has_what_any_of_its_keys_wrote(sql: psycopg.Connection) -> None:
    told = fill(sql, team := Team(sql))
    enter(sql, API, LOCAL, "folder:0123456789abcdef#notes")

    assert find(sql, team, "deploy script") == {told[API], told[LOCAL], told[""]}


def test_one_text_in_two_repositories_is_two_facts_and_ends_none(sql: psycopg.Connection) -> None:
    team = Team(sql)
    said = {}
    for place, port in ((API, 80), (NEXT, 90), (API, 80)):
        enter(sql, place)
        said[place] = team.remember("eve", "Deploy", TESTS, kind="project").duplicate
        team.remember("eve", "Deploy", f"The port is now {port}")

    assert said == {API: True, NEXT: False}
    enter(sql, NEXT)
    assert find(sql, team, "port tests") >= {
        TESTS,
        "The port is now 90",
    }
    enter(sql)
    assert {"The port is now 80", "The port is now 90"} <= find(sql, team, "port")


def test_facts_of_an_entity_that_becomes_a_person_belong_to_no_repository(
    sql: psycopg.Connection,
) -> None:
    team = Team(sql)
    enter(sql, API)
    for name in ("Kim", "Harbour"):
        team.remember("eve", name, f"{name} reviews releases", kind="concept")
    sql.execute("select retype_entity('Kim', 'person', space => %s)", (team.space,))
    sql.execute("select retype_entity('Harbour', 'project', space => %s)", (team.space,))

    stored = "select entity_name, repository from memory_observations"
    assert {*sql.execute(stored)} == {("Kim", None), ("Harbour", API)}
    # An undo gives them their repository again, and a revert of the undo takes it.
    [(undo,)] = sql.execute(
        "select undo_id from undo_event((select min(id) from event where action = 'retyped'),"
        " space => %s)",
        (team.space,),
    ).fetchall()
    assert {*sql.execute(stored)} == {("Kim", API), ("Harbour", API)}
    sql.execute("select revert_undo(%s, space => %s)", (undo, team.space))
    assert {*sql.execute(stored)} == {("Kim", None), ("Harbour", API)}


@pytest.mark.parametrize("kept", ["Kim", "Kimberly Li"])
def test_facts_merged_into_a_person_belong_to_no_repository_until_a_split(
    sql: psycopg.Connection, kept: str
) -> None:
    team = Team(sql)
    enter(sql, API)
    # Only guesses say of which type Kim is.
    query = "select remember_fact('Kim', null, 'reviews releases', space => %s)"
    sql.execute(query, (team.space,))
    team.remember("eve", "Kimberly Li", "lives in Lisbon")
    stored = "select content, repository from memory_observations"
    before = {*sql.execute(stored)}
    merged = "Kimberly Li" if kept == "Kim" else "Kim"
    sql.execute("select merge_entities(%s, %s, space => %s)", (kept, merged, team.space))

    assert before == {("reviews releases", API), ("lives in Lisbon", None)}
    assert {*sql.execute(stored)} == {("reviews releases", None), ("lives in Lisbon", None)}
    sql.execute("select split_entity(%s, space => %s)", (merged, team.space))
    assert {*sql.execute(stored)} == before


def test_an_import_that_says_who_is_a_person_frees_their_facts(sql: psycopg.Connection) -> None:
    team = Team(sql)
    enter(sql, API)
    query = "select remember_fact('Kim', null, 'reviews releases', space => %s)"
    sql.execute(query, (team.space,))
    sql.execute(
        "select import_entities((select jsonb_agg(to_jsonb(e) || jsonb_build_object('place', 1,"
        " 'space', %s::integer, 'entity_type', 'person', 'type_guessed', false))"
        " from export_entities(%s) e))",
        (team.space, team.space),
    )

    assert team.fetch("select repository from fact where content = 'reviews releases'") is None


def test_a_proposal_keeps_its_repository_whoever_accepts_it(sql: psycopg.Connection) -> None:
    team = Team(sql)
    query = """
        select proposal_id from remember_fact('Acme', 'project', %s,
            credential => %s, space => %s)"""
    pat = team.credential("pat", "propose")
    for place in (API, ""):
        enter(sql, place)
        [(proposal,)] = sql.execute(query, (f"in {place}", pat, team.space)).fetchall()
        enter(sql, NEXT)
        sql.execute("select decide_proposals(array[%s], 'accept')", (str(proposal),))

    rows = sql.execute("select content, repository from memory_observations").fetchall()
    assert {*rows} == {(f"in {API}", API), ("in ", None)}


def test_pins_of_a_repository_begin_its_sessions_alone_and_are_counted_apart(
    sql: psycopg.Connection,
) -> None:
    team = Team(sql)
    for place in (API, NEXT, ""):
        enter(sql, place)
        for number in range(13):
            rule = f"rule {number} of {place or 'all'}"
            team.remember("eve", "Rules", rule, kind="concept")
    pin = "select pin_fact('Rules', f.id::text, space => %s) from fact f where content = %s"
    for place in (API, ""):
        for number in range(12):
            sql.execute(pin, (team.space, f"rule {number} of {place or 'all'}"))
    query = "select content from digest_memory(spaces => %s) where section = 'pinned'"
    digests = dict[str, set[str]]()
    for place in (API, NEXT):
        enter(sql, place)
        digests[place] = {content for (content,) in sql.execute(query, ([team.space],))}

    everywhere = {f"rule {number} of all" for number in range(12)}
    assert digests == {
        API: everywhere | {f"rule {number} of {API}" for number in range(12)},
        NEXT: everywhere,
    }
    with pytest.raises(psycopg.Error, match="too much is pinned"):
        sql.execute(pin, (team.space, f"rule 12 of {API}"))


def test_what_is_known_of_people_and_what_they_like_is_found_in_every_repository(
    sql: psycopg.Connection,
) -> None:
    team = Team(sql)
    enter(sql, API)
    team.remember("eve", "Ada", "lives in Lisbon")
    team.remember("eve", "Editor", "is set to dark mode", kind="preference")
    sql.execute("select relate_entities('Ada', 'works at', 'Acme', space => %s)", (team.space,))
    enter(sql, NEXT)

    assert "lives in Lisbon" in find(sql, team, "where does Ada live?")
    assert "is set to dark mode" in find(sql, team, "dark mode")
    rows = sql.execute("select relation_type from search_memory('where does Ada work?')")
    assert ("works_at",) in rows.fetchall()


def test_what_corrects_a_fact_belongs_where_the_fact_belongs(sql: psycopg.Connection) -> None:
    team = Team(sql)
    old = team.remember("eve", "Acme", "has its office in Oslo", kind="organization").id
    enter(sql, API)
    team.remember("eve", "Acme", "has its office in Bergen", old, kind="organization")
    enter(sql, NEXT)

    assert find(sql, team, "Acme office") == {"has its office in Bergen"}


def test_a_memory_that_is_saved_again_is_that_of_its_repository(sql: psycopg.Connection) -> None:
    team = Team(sql)
    saved: list[object] = []
    query = "select memory_id from save_memory(to_jsonb(%s::text), tags => %s, space => %s)"
    for place, tag in ((API, "first"), (NEXT, "next"), (API, "again")):
        enter(sql, place)
        saved += sql.execute(query, (TESTS, [tag], team.space)).fetchone() or ()

    assert saved[2] == saved[0] != saved[1]
    tags = {*sql.execute("select observation_id, array_to_string(tags, ' ') from retention")}
    assert tags == {(saved[0], "again first"), (saved[1], "next")}


def test_one_text_of_two_repositories_stays_two_facts_in_a_copy_and_an_export(
    sql: psycopg.Connection,
) -> None:
    team, other = Team(sql), Team(sql, "other")
    for place in (API, NEXT):
        enter(sql, place)
        team.remember("eve", "Deploy", TESTS, kind="project")
    enter(sql)
    query = "select share_memories('Deploy', target => %s, space => %s, dry_run => false)"
    sql.execute(query, (other.space, team.space))
    stored = "select count(*), count(distinct repository) from fact where space_id = %s"
    copies = sql.execute(stored, (other.space,)).fetchone()
    sql.execute(
        "create temporary table lines as select to_jsonb(l) || jsonb_build_object('kind', 'fact',"
        " 'space', %s::integer, 'place', row_number() over ()) as line from export_facts(%s) l",
        (team.space, team.space),
    )
    sql.execute("delete from observation where space_id = %s", (team.space,))
    sql.execute("select import_facts((select jsonb_agg(line) from lines))")

    assert copies == (2, 2)
    assert sql.execute(stored, (team.space,)).fetchone() == (2, 2)
