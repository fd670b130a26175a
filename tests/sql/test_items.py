"""Items and logs in SQL: undo, age, spaces, languages, and what an analyst sees."""

import json
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Json

from tests.support.sql_team import Team

ADA = ["users", "ada"]


def call(team: Team, actor: str, statement: str, *given: Any, space: int | None = None) -> Any:
    """The rows of a function that `actor` calls."""
    query = f"select * from {statement}, credential => %s, space => %s)"  # noqa: S608 - ours
    values = (*given, team.credential(actor), space or team.space)
    return team.sql.execute(query.encode(), values).fetchall()


def put(team: Team, actor: str, value: Any, key: str = "tea", **given: Any) -> None:
    more = "".join(f", {name} => %s" for name in given)
    call(team, actor, f"put_item(%s, %s, %s{more}", ADA, key, Json(value), *given.values())


def refuse(team: Team, statement: str, *given: Any) -> str | None:
    """The SQLSTATE of a function that Bob calls in vain."""
    with pytest.raises(psycopg.DatabaseError) as refusal:
        call(team, "bob", statement, *given)
    return refusal.value.sqlstate


def append(team: Team, actor: str, *values: Any) -> None:
    call(team, actor, "append_log(%s, %s", ["log"], Json(list(values)))


def look(team: Team) -> Any:
    """All present items, and the entries of the log."""
    rows = call(team, "bob", "search_items(filter => null")
    log = call(team, "bob", "read_log(%s", ["log"])
    return {key: value for _, _, key, value, *_ in rows}, [value for _, value in log]


def find(team: Team, query: str) -> list[str]:
    return [row[2] for row in call(team, "bob", "search_items(%s", query)]


def test_an_undo_takes_back_what_an_author_put_deleted_and_appended(team: Team) -> None:
    put(team, "bob", {"kind": "green"})
    put(team, "bob", "stays away", "cup")
    append(team, "bob", "one", "two")
    before = look(team)
    since = team.now()
    put(team, "mallory", {"kind": "black"})
    put(team, "mallory", {"kind": "none"})
    put(team, "mallory", "new", "own")
    call(team, "mallory", "delete_items(%s, %s", ADA, "cup")
    append(team, "mallory", "three")
    call(team, "mallory", "clear_log(%s", ["log"])
    put(team, "bob", "mine", "own")
    spoilt = look(team)

    undo = team.undo("mallory", since)

    assert look(team) == (before[0] | {"own": "mine"}, before[1])
    assert (find(team, "green"), find(team, "none"), find(team, "away")) == (["tea"], [], ["cup"])
    team.revert(undo["undo_id"])
    assert look(team) == spoilt
    undo = team.undo("mallory", since)
    team.sql.execute("select purge_undone()")
    kept = team.fetch("select string_agg(content, ' ') from document_version")
    assert look(team)[0] == before[0] | {"own": "mine"}
    assert not [text for text in ("black", "none", "three") if text in kept]


def test_a_call_that_is_repeated_with_its_request_appends_and_takes_once(team: Team) -> None:
    def repeat(actor: str, statement: str, *given: Any, request: str) -> list[Any]:
        more = f"{statement}, request => %s"
        return [call(team, actor, more, *given, request)[0][-1] for _ in range(2)]

    add = "append_log(%s, %s"
    # Another author, another value and another id are other calls.
    lengths = [
        repeat(actor, add, ["log"], Json(values), request=request)
        for actor, values, request in (
            ("bob", ["a", "a"], "1"), ("eve", ["a", "a"], "1"), ("bob", ["b"], "1"),
            ("bob", ["a"], "1"), ("bob", ["b"], "2"), ("bob", [str(n) for n in range(1200)], "3"),
        )
    ]  # fmt: skip
    assert lengths == [[2, 2], [4, 4], [5, 5], [6, 6], [7, 7], [1207, 1207]]
    assert repeat("bob", add, ["log"], Json(["a", "a"]), request="4") == [1209, 1209]
    assert [repeat("bob", "pop_log(%s", ["log"], request=one) for one in "567"] == [
        ["a", "a"], ["a", "a"], ["1199", "1199"],
    ]  # fmt: skip
    assert repeat("eve", "pop_log(%s", ["log"], request="7") == ["1198", "1198"]
    assert len(look(team)[1]) == 1205


def test_a_blank_text_waits_for_no_vector_and_one_without_words_does(team: Team) -> None:
    blank: list[Any] = [
        None, "", " \t\n", "\u00a0\u2003\u3000\x1c\u0085", " " * 2000 + "far", ["", " "], {},
    ]  # fmt: skip
    for after in (False, True):  # before and after there is a model
        for value in (*blank, "\u2615", "the", {"a": " "}):
            put(team, "bob", value, f"{value!r:.20} {after}")
        if not after:
            team.sql.execute("select register_embedding_model('test:model', 3)")
            team.sql.execute("select queue_embeddings(1)")
    rows = team.sql.execute("select key from item_vector join item using (document_id) order by 1")
    assert [key for (key,) in rows.fetchall()] == [
        f"{value!r} {after}" for value in ("the", "\u2615", {"a": " "}) for after in (False, True)
    ]


def test_a_value_of_more_levels_than_an_answer_can_have_is_refused(team: Team) -> None:
    before = look(team)
    wide = json.dumps([{"a": "]]["}] * 300 + ['\\"[', {"[": "\\"}] * 100)  # two levels
    for levels, inner in ((190, ""), (190, '{"a": 1}, 1, []'), (188, wide)):
        fits, deep = (f"{'[' * n}{inner}{']' * n}" for n in (levels - (inner != ""), levels + 1))
        put(team, "bob", 0, "other")
        call(team, "bob", "put_item(%s, 'fits', %s::json", ADA, fits)
        put_many = json.dumps([{"namespace": ADA, "key": "k", "value": json.loads(deep)}])
        for statement, given in (
            ("put_item(%s, 'k', %s::json", (ADA, deep)),
            ("put_item(%s, 'k', '1', %s::json", (ADA, f'{{"a": {deep}}}')),
            ("put_items(%s::json", (put_many,)),
            ("append_log(%s, %s::json", (ADA, deep)),
        ):
            assert refuse(team, statement, *given) == "TR107", statement
    assert (look(team)[0].keys(), look(team)[1]) == ({"other", "fits"}, before[1])


NEW, GONE = {"namespace": ADA, "key": "new", "value": 3}, {"namespace": ADA, "key": "a"}


def change(items: list[Any], deletions: list[Any]) -> tuple[str, Json, Json]:
    return "put_items(%s, %s", Json(items), Json(deletions)


def test_of_several_items_none_is_stored_if_one_cannot_be(team: Team) -> None:
    put(team, "bob", 1, "a")
    put(team, "bob", 2, "b")
    put(team, "bob", 3, "gone")
    call(team, "bob", *change([], [{**GONE, "key": "gone"}]))
    before = look(team)
    for items, deletions, state in (
        ([NEW, {**NEW, "key": ""}], [GONE], "TR103"),
        ([NEW, {**NEW, "key": "a", "version": 0}], [], "TR105"),
        ([NEW, {**NEW, "key": "a", "version": 2}], [], "TR106"),
        ([NEW], [{**GONE, "version": 2}], "TR106"),
        ([NEW], [{**GONE, "key": "never", "version": 1}], "TR106"),
        ([NEW], [{**GONE, "key": "gone", "version": 7}], "TR106"),
        ([NEW, NEW], [], "TR103"),
        ([NEW], [GONE, GONE], "TR103"),
        ([NEW], [NEW], "TR103"),
        ([{**NEW, "key": str(n)} for n in range(101)], [], "TR103"),
        ([{"namespace": ADA, "key": "no value"}], [GONE], "TR104"),
    ):
        assert refuse(team, *change(items, deletions)) == state, (items, deletions)
        assert look(team) == before
    writer = team.credential("ana", "read", "write")
    query = "select put_items('[]', %s, credential => %s, space => %s)"
    with pytest.raises(psycopg.DatabaseError) as refusal:
        team.sql.execute(query, (Json([GONE]), writer, team.space))
    assert refusal.value.sqlstate == "TR011"


def test_several_items_are_stored_and_deleted_once_however_often_a_request_comes(
    team: Team,
) -> None:
    put(team, "bob", 1, "a")
    put(team, "bob", 2, "b")
    moved = [{**NEW, "key": str(n), "value": n, "version": 0, "ttl": 60} for n in (10, 9)]
    statement, *given = change(moved, [{**GONE, "version": 1}, {**GONE, "key": "never"}])
    for _ in range(2):
        rows = call(team, "bob", f"{statement}, request => 'r'", *given)
        assert sorted((place, version) for place, _, _, _, version, *_ in rows) == [(1, 1), (2, 1)]
    assert look(team) == ({"b": 2, "9": 9, "10": 10}, [])


def test_one_call_is_undone_by_its_author(team: Team) -> None:
    put(team, "bob", 1)
    put(team, "bob", 2)
    event = team.fetch("select max(id) from event")

    call(team, "bob", "undo_event(%s", event)

    assert look(team)[0] == {"tea": 1}


def test_what_expired_or_was_deleted_long_ago_is_removed_and_namespaces_with_it(team: Team) -> None:
    put(team, "bob", "soon", "gone", ttl="1 hour")
    put(team, "bob", "late", "stays", ttl="3 days")
    put(team, "bob", "old")
    put(team, "bob", "new")
    put(team, "bob", "deleted", "cup")
    append(team, "bob", "x")
    call(team, "bob", "delete_items(%s, %s", ADA, "cup")
    call(team, "bob", "clear_log(%s", ["log"])

    clerk = team.credential("clerk")
    for days, contents in ((30, {"late", "old", "new", "deleted", "x"}), (1, {"late", "new"})):
        query = "select * from prune_documents(%s, %s, moment => now() + interval '2 days')"
        team.sql.execute(query, (days, clerk))
        found = team.sql.execute(
            "select content::json #>> '{}' from document_version where content is not null"
        )
        assert {text for (text,) in found.fetchall()} == contents

    assert look(team)[0] == {"stays": "late", "tea": "new"}
    assert team.sql.execute("select labels from item_namespace").fetchall() == [(ADA,)]
    assert team.fetch("select count(*) from document_tombstone") == 0


def test_no_verb_reaches_items_of_another_space(team: Team) -> None:
    other = Team(team.sql, "other")
    put(team, "bob", {"secret": "vault"})
    append(team, "bob", "vault")
    before = look(team)
    attacks: list[tuple[str, list[Any]]] = [
        ("put_item(%s, 'tea', '1'", [ADA]),
        ("get_item(%s, 'tea'", [ADA]),
        ("renew_item(%s, 'tea'", [ADA]),
        ("item_history(%s, 'tea'", [ADA]),
        ("delete_items(%s", [ADA]),
        ("search_items('vault'", []),
        ("search_items(prefix => %s", [ADA]),
        ("list_namespaces(%s", [["*"]]),
        ("put_items('[]', %s", ['[{"namespace": ["users", "ada"], "key": "tea"}]']),
        ("append_log(%s, '[1]'", [["log"]]),
        ("read_log(%s", [["log"]]),
        ("pop_log(%s", [["log"]]),
        ("clear_log(%s", [["log"]]),
    ]
    for statement, given in attacks:
        # In the own space there is nothing, and the space of the others is refused.
        own = call(other, "mallory", statement, *given)
        assert "vault" not in str(own), statement
        query = f"select * from {statement}, credential => %s, space => %s)"  # noqa: S608 - ours
        with pytest.raises(psycopg.DatabaseError) as refusal:
            team.sql.execute(query.encode(), (*given, other.credential("mallory"), team.space))
        assert refusal.value.sqlstate == "TR011", statement

    assert look(team) == before


def test_each_verb_needs_its_scope(team: Team) -> None:
    put(team, "bob", 1)
    scopes = {
        "read": (
            "get_item(%s, 'tea'", "search_items(prefix => %s", "list_namespaces(%s", "read_log(%s",
        ),
        "write": ("put_item(%s, 'k', '1'", "append_log(%s, '[1]'"),
        "forget": ("delete_items(%s", "pop_log(%s", "clear_log(%s"),
    }  # fmt: skip
    for scope, statements in scopes.items():
        others = [one for one in scopes if one != scope]
        for statement in statements:
            query = f"select * from {statement}, credential => %s, space => %s)".encode()  # noqa: S608
            with pytest.raises(psycopg.DatabaseError) as refusal:
                team.sql.execute(query, (ADA, team.credential(f"no {scope}", *others), team.space))
            assert refusal.value.sqlstate == "TR011", statement
            team.sql.execute(query, (ADA, team.credential(f"only {scope}", scope), team.space))


def test_filters_compare_like_python_and_a_missing_field_is_null(team: Team) -> None:
    values = [
        {"n": 1}, {"n": 1.5}, {"n": "1"}, {"n": None}, {}, {"n": [1]}, {"n": {"m": 1}}, {"n.m": 1},
        "text", None, [{"n": 1}], {"n": True}, {"n": "b\u00e4r"}, {"n": "Z"}, {"n": 10**30},
    ]  # fmt: skip
    for number, value in enumerate(values):
        put(team, "bob", value, f"{number:02}", metadata=Json({"even": number % 2 == 0}))
    filters: dict[str, list[int]] = {
        '{"n": 1}': [0], '{"n": {"$eq": 1.0}}': [0], '{"n": "1"}': [2], '{"n": [1]}': [5],
        '{"n": null}': [3, 4, 7, 8, 9, 10], '{"n": {"$gt": 1}}': [1, 14], '{"n": {}}': [],
        '{"n": {"$gte": 1, "$lt": 2}}': [0, 1], '{"n": {"$gte": "Z"}}': [12, 13],
        '{"n": {"$in": [1, "Z"]}}': [0, 13], '{"n": {"$in": []}}': [], '{"n.m": 1}': [6, 7],
        '{"n": {"$ne": 1}, "metadata.even": true}': [2, 4, 6, 8, 10, 12, 14], '{"n.0": 1}': [5],
        '{"n": {"$gt": true}}': [], '{"n": true}': [11], "{}": [*range(15)],
    }  # fmt: skip
    for given, wanted in filters.items():
        rows = call(team, "bob", "search_items(filter => %s", given)
        assert [int(row[2]) for row in rows] == wanted, given


def test_paths_choose_what_search_reads_and_a_language_its_stems(team: Team) -> None:
    value = {"title": "laufen", "tags": ["Apfel", {"deep": "Birne"}], "body": "geheim", "n": 7}
    indexes = {
        "all": "true", "none": "false", "title": '["title"]', "tags": '["tags[*]"]',
        "deep": '["tags[1].deep", "absent.path"]', "whole": '["$"]',
    }  # fmt: skip
    for key, index in indexes.items():
        put(team, "bob", value, key, index=index)

    assert sorted(find(team, "geheim")) == ["all", "whole"]
    assert sorted(find(team, "laufen")) == ["all", "title", "whole"]
    assert sorted(find(team, "Birne")) == ["all", "deep", "tags", "whole"]
    assert sorted(find(team, "7")) == ["all", "whole"]
    assert find(team, "läuft") == []
    team.sql.execute("select change_language('team', 'german')")
    while team.fetch("select rebuild_documents()"):
        pass
    assert sorted(find(team, "gelaufen laufe")) == ["all", "title", "whole"]
    assert find(team, "none nowhere") == []


def test_a_view_shows_present_values_exactly(team: Team) -> None:
    other = Team(team.sql, "other")
    put(team, "bob", {"b": 1, "a": "\\"})
    append(team, "bob", "entry")
    put(other, "eve", "hidden")
    put(team, "bob", "over", "old", ttl="1 hour")
    team.sql.execute("update item set expires_at = now() - interval '1 hour' where key = 'old'")
    query = """
        select space, namespace, key, position, value::text, metadata::text, version, author
        from memory_items order by key, space desc"""

    assert team.sql.execute(query).fetchall() == [
        ("team", ADA, "tea", None, '{"b": 1, "a": "\\\\"}', "{}", 1, "bob"),
        ("other", ADA, "tea", None, '"hidden"', "{}", 1, "eve"),
        ("team", ["log"], None, 1, '"entry"', None, 1, "bob"),
    ]


@pytest.mark.slow
def test_a_search_of_many_items_finds_by_words_by_meaning_and_below_a_prefix(team: Team) -> None:
    team.sql.execute("select register_embedding_model('test:model', 3)")
    put(team, "bob", "a needle in the stack", "needle")
    put(team, "bob", "nothing of the kind", "near")
    team.sql.execute(
        "select put_item(array['hay', (n %% 7)::text], n::text, to_json('stack of hay ' || n),"
        " credential => %s, space => %s) from generate_series(1, 1200) n",
        (team.credential("bob"), team.space),
    )
    for key, vector in (("near", "[1,0,0]"), ("needle", "[0,1,0]"), ("7", "[0.9,0.1,0]")):
        team.sql.execute(
            "update item_vector v set vector = %s from item i"
            " where i.document_id = v.document_id and i.key = %s",
            (vector, key),
        )

    assert find(team, "needle stack")[0] == "needle"
    assert find(team, "needles") == ["needle"]
    given = {"query": "xyzzy", "model": 1, "vector": "[1,0,0]"}
    names = ", ".join(f"{name} => %s" for name in given)
    for prefix, wanted in (([], ["near", "7"]), (["hay"], ["7"]), (["hay", "1"], []), (["*"], [])):
        rows = call(team, "bob", f"search_items({names}, prefix => %s", *given.values(), prefix)
        assert [row[2] for row in rows][: len(wanted)] == wanted


def test_namespaces_are_listed_to_a_depth_between_a_beginning_and_an_end(team: Team) -> None:
    places = [
        ["a"], ["a", "b"], ["a", "b", "c"], ["a", "b", "d"], ["a", "bb", "c"], ["a\x01", "c"],
        ["B", "c"],
    ]  # fmt: skip
    for place in places:
        call(team, "bob", "put_item(%s, 'k', '1'", place)
    for prefix, suffix, depth, wanted in (
        ([], [], None, sorted(places)),
        (["a"], [], None, [place for place in places if place[0] == "a"]),
        ([], ["c"], None, sorted(place for place in places if place[-1] == "c")),
        (["*", "b"], [], None, [["a", "b"], ["a", "b", "c"], ["a", "b", "d"]]),
        (["a", "*"], ["c"], None, [["a", "b", "c"], ["a", "bb", "c"]]),
        ([], [], 1, [["B"], ["a"], ["a\x01"]]),
        (["a"], [], 2, [["a"], ["a", "b"], ["a", "bb"]]),
        ([], ["*", "*", "*"], 2, [["a", "b"], ["a", "bb"]]),
        (["a'", "\\"], [], None, []),
    ):
        given = "list_namespaces(%s, %s, %s, 100, 0"
        found = [labels for (labels,) in call(team, "bob", given, prefix, suffix, depth)]
        paged = [
            labels
            for skip in range(len(wanted) + 1)
            for (labels,) in call(
                team, "bob", "list_namespaces(%s, %s, %s, 1, %s", prefix, suffix, depth, skip
            )
        ]
        assert found == paged == wanted, (prefix, suffix, depth)
