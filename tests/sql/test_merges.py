"""Two entities become one, and two again, also by an undo and its revert."""

from typing import Any

import psycopg
import pytest

from tests.support.sql_team import Team

Sql = psycopg.Connection[Any]


def ask(sql: Sql, query: Any, *arguments: object) -> Any:
    row = sql.execute(query, arguments).fetchone()
    return row[0] if row else None


def remember(sql: Sql, entity: str, text: str) -> Any:
    return ask(sql, "select observation_id from remember_fact(%s, null, %s)", entity, text)


def merge(sql: Sql, kept: str, merged: str) -> Any:
    return ask(sql, "select to_jsonb(m) from merge_entities(%s, %s) m", kept, merged)


def split(sql: Sql, merged: str) -> Any:
    return ask(sql, "select to_jsonb(s) from split_entity(%s) s", merged)


def state(sql: Sql) -> dict[str, list[Any]]:
    """Every row that a merge can change, without the times of the last change."""
    tables = {
        "entity": "to_jsonb(t) - 'updated_at'", "observation": "to_jsonb(t)",
        "relation": "to_jsonb(t)", "entity_alias": "to_jsonb(t)", "reflection": "to_jsonb(t)",
        "graph_node": "to_jsonb(t)", "graph_change": "to_jsonb(t)", "merge": "to_jsonb(t)",
        "merged": "to_jsonb(t)", "entity_use": "to_jsonb(t)",
    }  # fmt: skip
    return {
        table: sql.execute(f"select {row} from {table} t order by 1".encode()).fetchall()  # noqa: S608
        for table, row in tables.items()
    }


def about(sql: Sql, entity: str) -> list[str]:
    """The valid facts and relations of an entity, as it is described."""
    return [
        row[0] for row in sql.execute(
            "select told from entity_context(%s) where kind in ('fact', 'relation') order by told",
            (entity,),
        )
    ]  # fmt: skip


@pytest.fixture
def two(sql: Sql) -> Sql:
    """Jeff and Jeff Miller, who both drink tea and work at Acme, and know each other."""
    for entity, text in [
        ("Jeff", "drinks tea"), ("Jeff", "prefers dark mode"),
        ("Jeff Miller", "drinks tea."), ("Jeff Miller", "lives in Riga"),
    ]:  # fmt: skip
        remember(sql, entity, text)
    for one, relation, other in [
        ("Jeff", "works at", "Acme"), ("Jeff Miller", "works at", "Acme"),
        ("Sarah", "manages", "Jeff Miller"), ("Jeff", "knows", "Jeff Miller"),
    ]:  # fmt: skip
        sql.execute("select relate_entities(%s, %s, %s)", (one, relation, other))
    sql.execute("select name_entity('Jeff Miller', 'jmiller')")
    return sql


def test_one_entity_has_the_facts_relations_and_names_of_both(two: Sql) -> None:
    done = merge(two, "Jeff", "Jeff Miller")

    assert about(two, "jmiller") == [
        "-works_at-> Acme", "<-manages- Sarah", "drinks tea", "lives in Riga", "prefers dark mode",
    ]  # fmt: skip
    counted = ("facts", "relations", "duplicate_facts", "duplicate_relations")
    assert [done[key] for key in counted] == [2, 3, 1, 2]
    aliases = two.execute("select alias, merged from list_aliases('Jeff')").fetchall()
    assert sorted(aliases) == [("Jeff Miller", True), ("jmiller", False)]


def test_a_dry_run_shows_what_collapses_and_changes_nothing(two: Sql) -> None:
    before = state(two)

    plan = ask(two, "select to_jsonb(m) from merge_entities('jeff', 'jmiller', true) m")

    assert plan["merge_id"] is None
    assert (plan["kept_type"], plan["merged_type"]) == ("concept", "concept")
    assert sorted((row["kind"], row["content"]) for row in plan["collapsing"]) == [
        ("fact", "drinks tea."), ("relation", "knows Jeff Miller"), ("relation", "works at Acme"),
    ]  # fmt: skip
    assert state(two) == before


def test_a_split_restores_both_exactly(two: Sql) -> None:
    two.execute("select add_reflection('global', 'Jeff Miller is two', 'observer')")
    before = state(two)

    merge(two, "Jeff", "Jeff Miller")
    done = split(two, "jmiller")

    assert state(two) == before
    assert (done["kept_name"], done["merged_name"], done["facts"], done["relations"]) == (
        "Jeff", "Jeff Miller", 2, 3,
    )  # fmt: skip


def test_later_facts_go_to_the_entity_under_whose_name_they_were_written(two: Sql) -> None:
    merge(two, "Jeff", "Jeff Miller")
    remember(two, "jmiller", "is tall")
    remember(two, "Jeff", "is old")
    two.execute("""select build_knowledge(
        '[{"entity": "JEFF MILLER", "observation": "sings"}]',
        '[{"from": "Jeff Miller", "relation": "owns", "to": "Rex"},
          {"from": "Rex", "relation": "obeys", "to": "jmiller"}]')""")

    done = split(two, "Jeff Miller")

    assert [(row["content"], row["entity"]) for row in done["later"]] == [
        ("is tall", "Jeff Miller"), ("is old", "Jeff"), ("sings", "Jeff Miller"),
    ]  # fmt: skip
    assert about(two, "Jeff Miller") == [
        "-owns-> Rex", "-works_at-> Acme", "<-knows- Jeff", "<-manages- Sarah", "<-obeys- Rex",
        "drinks tea.", "is tall", "lives in Riga", "sings",
    ]  # fmt: skip
    assert about(two, "Jeff") == [
        "-knows-> Jeff Miller", "-works_at-> Acme", "drinks tea", "is old", "prefers dark mode",
    ]  # fmt: skip


def test_documents_after_a_merge_and_a_split_are_those_made_anew(two: Sql) -> None:
    for change in (lambda: merge(two, "Jeff", "Jeff Miller"), lambda: split(two, "Jeff Miller")):
        change()
        documents = state(two)["observation"]

        two.execute("select renew_documents(1, array(select id from entity))")

        assert state(two)["observation"] == documents


@pytest.mark.parametrize("first", ["b", "a"])
def test_merges_of_a_merged_entity_are_split_in_any_order(sql: Sql, first: str) -> None:
    for entity in "abc":
        remember(sql, entity, "is a letter")
        remember(sql, entity, f"is called {entity}")
    before = state(sql)
    merge(sql, "a", "b")
    merge(sql, "c", "a")
    assert about(sql, "b") == ["is a letter", "is called a", "is called b", "is called c"]

    for entity in sorted("ab", key=lambda name: name != first):
        split(sql, entity)

    assert state(sql) == before


def test_a_type_that_somebody_stated_replaces_a_guess_until_the_split(sql: Sql) -> None:
    remember(sql, "Jeff", "drinks tea")
    sql.execute("select remember_fact('Jeff Miller', 'person', 'is tall')")
    before = state(sql)

    merge(sql, "Jeff", "Jeff Miller")

    assert ask(sql, "select entity_type from describe_entity('Jeff')") == "person"
    assert ask(sql, "select count(*) from observation where entity_type = 'person'") == 2
    split(sql, "Jeff Miller")
    assert state(sql) == before


def test_values_of_a_node_are_kept_for_the_split(sql: Sql) -> None:
    sql.execute("""select write_graph('[
        {"label": "Jeff", "type": "person", "description": "a man"},
        {"label": "Jeff M", "type": "person", "description": "another"}]', '[]')""")
    before = state(sql)

    merge(sql, "Jeff", "Jeff M")
    split(sql, "Jeff M")

    assert state(sql) == before


def test_only_two_entities_can_be_merged(two: Sql) -> None:
    for kept, merged, code in (
        ("Jeff", "jeff", "TR005"),
        ("Jeff", "Nobody", "TR050"),
        ("Nobody", "Jeff", "TR050"),
    ):
        with pytest.raises(psycopg.Error) as refused:
            merge(two, kept, merged)

        assert refused.value.sqlstate == code


def test_an_entry_of_the_journal_cannot_be_merged(two: Sql) -> None:
    two.execute("select write_entry('daily', '2026-05-12', 'Tea.', instance => 'laptop')")
    entry = ask(two, "select name from entity where name like 'journal%%'")

    with pytest.raises(psycopg.Error) as refused:
        merge(two, "Jeff", entry)

    assert refused.value.sqlstate == "TR038"


def test_the_name_of_a_merged_entity_is_split_and_not_removed(two: Sql) -> None:
    merge(two, "Jeff", "Jeff Miller")

    with pytest.raises(psycopg.Error) as refused:
        two.execute("select unname_entity('Jeff Miller')")

    assert refused.value.sqlstate == "TR036"


def test_a_fact_that_is_forgotten_is_not_left_in_the_merged_entity(two: Sql) -> None:
    merge(two, "Jeff", "Jeff Miller")

    two.execute("select forget_entity('Jeff', 'drinks tea')")
    split(two, "Jeff Miller")

    assert ask(two, "select count(*) from observation where content ilike '%%tea%%'") == 0


def test_forgetting_the_kept_entity_leaves_nothing_of_the_merged_one(two: Sql) -> None:
    merge(two, "Jeff", "Jeff Miller")

    two.execute("select forget_entity('jmiller')")

    rows = state(two)
    assert [rows[table] for table in ("merge", "merged", "entity_alias", "relation")] == [[]] * 4
    assert {row["name"] for (row,) in rows["entity"]} == {"Acme", "Sarah"}


def test_a_fact_that_collapsed_is_valid_again_once_the_other_is_split_off(sql: Sql) -> None:
    remember(sql, "a", "is called a")
    for entity in "bc":
        remember(sql, entity, "drinks tea")
        sql.execute("select relate_entities(%s, 'works at', 'Acme')", (entity,))
    merge(sql, "a", "b")
    merge(sql, "a", "c")

    split(sql, "b")

    assert about(sql, "a") == ["-works_at-> Acme", "drinks tea", "is called a"]
    assert about(sql, "b") == ["-works_at-> Acme", "drinks tea"]


def do(team: Team, actor: str, function: str, *names: str) -> Any:
    """Call a function of names as `actor`."""
    marks = ", ".join(["%s"] * len(names))
    query = f"select {function}({marks}, credential => %s, space => %s)".encode()
    return team.sql.execute(query, (*names, team.credential(actor), team.space)).fetchone()


def look(team: Team) -> Any:
    """All rows, and the aliases that are in use."""
    query = "select alias, entity_name, author, created_at, merged from list_aliases()"
    return team.rows(), sorted(team.sql.execute(query).fetchall())


def tell_two(team: Team, actor: str) -> None:
    for entity, text in [
        ("Jeff", "drinks tea"), ("Jeff", "is tall"), ("JM", "Drinks tea."), ("JM", "sings"),
    ]:  # fmt: skip
        team.remember(actor, entity, text)
    team.relate(actor, "Jeff", "works at", "Acme")
    team.relate(actor, "JM", "works at", "Acme")
    team.relate(actor, "Bo", "knows", "JM")


def test_an_undo_leaves_merges_alone_and_its_plan_names_them(team: Team) -> None:
    tell_two(team, "bob")
    since, before = team.now(), look(team)
    do(team, "ana", "name_entity", "Jeff", "jeffrey")
    do(team, "ana", "merge_entities", "Jeff", "JM")

    plan = team.plan("ana", since)
    done = team.undo("ana", since)

    assert [(row["action"], row["kind"], row["content"], row["later_author"]) for row in plan] == [
        ("kept", "merge", "JM", "ana"), ("remove", "alias", "jeffrey", None),
    ]  # fmt: skip
    assert (done["removed"], done["kept"]) == (1, 1)
    assert team.plan("ana", since) == plan[:1]
    do(team, "ana", "split_entity", "JM")
    assert look(team) == before
    assert [row["kind"] for row in team.plan("ana", since)] == ["split"]


def test_the_undo_of_a_merge_or_a_split_is_refused(team: Team) -> None:
    tell_two(team, "bob")
    do(team, "ana", "merge_entities", "Jeff", "JM")
    refused = list[tuple[str | None, str | None]]()
    for action in ("merged", "split"):
        event = team.fetch("select max(id) from event where action = %s", action)
        with pytest.raises(psycopg.Error) as error:
            team.fetch("select undo_id from undo_event(%s, space => %s)", event, team.space)
        refused.append((error.value.sqlstate, error.value.diag.message_detail))
        if action == "merged":
            do(team, "ana", "split_entity", "JM")

    assert refused == [("TR112", "merged"), ("TR112", "split")]


def test_the_values_of_a_merged_entity_stay_for_its_split(team: Team) -> None:
    team.remember("bob", "Jeff", "is tall")
    since = team.now()
    team.remember("eve", "JM", "sings")
    before = look(team)
    do(team, "eve", "retype_entity", "JM", "project")
    retyped = look(team)
    do(team, "ana", "merge_entities", "Jeff", "JM")

    team.undo("eve", since)
    do(team, "ana", "split_entity", "JM")

    assert team.fetch("select entity_type from entity where name = 'JM'") == "project"
    team.undo("eve", since)
    assert team.fetch("select count(*) from entity") == 1
    for undo in (2, 1):
        team.revert(undo)
    assert look(team) == retyped != before


def test_the_undo_of_a_removed_alias_uses_it_again(team: Team) -> None:
    team.remember("bob", "Jeff", "is tall")
    do(team, "bob", "name_entity", "Jeff", "jeffrey")
    before, since = look(team), team.now()
    do(team, "ana", "unname_entity", "jeffrey")
    assert look(team)[1] == []

    team.check_undo("ana", since, before, look)


def test_a_fact_that_a_merge_found_twice_stays_with_the_merge(team: Team) -> None:
    since = team.now()
    team.remember("eve", "Jeff", "drinks tea")
    team.relate("eve", "Jeff", "works at", "Acme")
    team.remember("bob", "Jeff", "is tall")
    tea = team.remember("bob", "JM", "drinks tea")
    team.relate("bob", "JM", "works at", "Acme")
    do(team, "ana", "merge_entities", "Jeff", "JM")

    before = team.rows()

    assert {row["later_author"] for row in team.plan("eve", since) if row["kind"] != "entity"} == {
        "ana"
    }
    team.undo_if_any("eve", since)

    assert team.rows() == before
    do(team, "ana", "split_entity", "JM")
    team.undo("eve", since)
    assert team.state(tea) == (None, None, "bob")
    assert (team.valid("Jeff"), team.valid("JM")) == ({"is tall": "bob"}, {"drinks tea": "bob"})
    valid = "select count(*) from relation where valid_until is null"
    assert team.fetch(valid) == 1


def test_what_was_undone_before_a_split_comes_back_to_its_own_entity(team: Team) -> None:
    tell_two(team, "bob")
    since = team.now()
    team.remember("eve", "JM", "is odd")
    team.relate("eve", "JM", "owns", "Rex")
    before = look(team)
    do(team, "ana", "merge_entities", "Jeff", "JM")
    done = team.undo("eve", since)
    do(team, "ana", "split_entity", "JM")

    team.revert(done["undo_id"])

    assert look(team) == before
