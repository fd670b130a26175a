"""The `items` toolset: values under a namespace and a key, as a program keeps them."""

import json
from typing import Any

import anyio
import psycopg
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from mcp import Client, MCPError

from tests.conftest import Connect
from tests.support.odd_inputs import TEXTS
from tests.toolsets.items.calls import ADA, SESSION, ask, look, put, refuse

pytestmark = pytest.mark.anyio

_LETTERS = st.text(st.characters(codec="utf-8"), max_size=8) | st.sampled_from(TEXTS)
_ATOMS = st.none() | st.booleans() | st.integers(-(2**70), 2**70) | _LETTERS
_VALUES = st.recursive(
    _ATOMS | st.floats(allow_nan=False, allow_infinity=False),
    lambda some: st.lists(some, max_size=3) | st.dictionaries(_LETTERS, some, max_size=3),
    max_leaves=6,
)
_NAMES = st.sampled_from(
    ["a", "A", " a", "á", "a\u0301", "*", "\u200b", "a.b", "[1]", "null", "%_", "🦄" * 500]
)
_SPACES = st.sampled_from([["x"], ["x", "y"], ["x", "*"], ["X"]])
_STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("put"), _SPACES, _NAMES, _VALUES),
        st.tuples(st.just("get"), _SPACES, _NAMES, st.none()),
        st.tuples(st.just("delete"), _SPACES, st.none() | _NAMES, st.none()),
        st.tuples(st.just("list"), _SPACES, st.none(), st.none()),
    ),
    min_size=1,
    max_size=8,
)
Model = dict[Any, Any]


def exact(value: object) -> str:
    """The JSON of a value: 1 is not 1.0 or true, and members have an order."""
    return json.dumps(value)


async def compare(client: Client, root: str, model: Model) -> None:
    """Compare the lists of items and namespaces."""
    listed = await ask(client, "search_items", prefix=[root], limit=1000)
    found = [(tuple(i["namespace"]), i["key"], exact(i["value"])) for i in listed["items"]]
    assert found == sorted((*one, exact(model[one])) for one in model)
    for depth in (2, 3):
        spaces = await ask(client, "list_namespaces", prefix=[root], depth=depth)
        cut = {where[:depth] for where, _ in model}
        assert spaces["namespaces"] == [[*one] for one in sorted(cut)]


async def follow(client: Client, root: str, model: Model, step: Any) -> None:
    """Do a step in the memory and in the model, and compare."""
    verb, below, key, value = step
    place, given = (root, *below), {} if key is None else {"key": key}
    if verb == "put":
        stored = await ask(client, "put_item", namespace=[*place], value=value, **given)
        model[place, key] = value
        assert (stored["namespace"], stored["key"]) == ([*place], key)
    elif verb == "get":
        found = await ask(client, "get_item", namespace=[*place], **given)
        wanted = {"value": model[place, key]} if (place, key) in model else {}
        assert exact({k: v for k, v in found.items() if k == "value"}) == exact(wanted)
    elif verb == "delete":
        whole = [one for one in model if one[0][: len(place)] == place]
        gone = [one for one in whole if key is None or one == (place, key)]
        answer = await ask(client, "delete_item", namespace=[*place], **given)
        assert answer == {"deleted": len(gone)}
        for one in gone:
            del model[one]
    else:
        await compare(client, root, model)


@pytest.mark.slow
async def test_items_are_a_dict(connect: Connect) -> None:
    client, roots = await connect(), iter(range(10_000))

    async def check(steps: list[Any]) -> None:
        root, model = f"root {next(roots)}", Model()
        for step in steps:
            await follow(client, root, model, step)

    @given(_STEPS)
    @example([("put", ["x"], "a", 1), ("put", ["x", "y"], "a", 1), ("list", [], None, None)])
    def property_holds(steps: list[Any]) -> None:
        anyio.from_thread.run(check, steps)

    await anyio.to_thread.run_sync(property_holds)


async def test_a_log_is_a_list(connect: Connect) -> None:
    client, names = await connect(), iter(range(10_000))

    async def check(steps: list[tuple[str, Any]]) -> None:
        log, model = ["logs", str(next(names))], list[Any]()
        for verb, value in steps:
            if verb == "append":
                model += value
                answer = await ask(client, "append_log", namespace=log, values=value)
                assert answer == {"length": len(model)}
            elif verb == "pop":
                taken = await ask(client, "pop_log", namespace=log)
                assert exact(taken["entries"]) == exact([model.pop()] if model else [])
            elif verb == "clear":
                answer = await ask(client, "clear_log", namespace=log)
                assert answer == {"deleted": len(model)}
                model.clear()
            given = {} if verb != "read" else {"last": value}
            found = await ask(client, "read_log", namespace=log, **given)
            assert exact(found["entries"]) == exact(model[-value:] if given else model)

    appended = st.tuples(st.just("append"), st.lists(_VALUES, max_size=4))
    read = st.tuples(st.just("read"), st.integers(1, 5))
    other = st.tuples(st.sampled_from(["pop", "clear", "pop"]), st.none())

    @given(st.lists(appended | appended | read | other, max_size=10))
    def property_holds(steps: list[tuple[str, Any]]) -> None:
        anyio.from_thread.run(check, steps)

    await anyio.to_thread.run_sync(property_holds)


async def test_sixteen_writers_append_in_order_and_whole(connect: Connect) -> None:
    client = await connect()

    async def write(writer: int) -> None:
        for turn in range(3):
            values = [f"{writer} {turn} {part}" for part in range(3)]
            await ask(client, "append_log", namespace=SESSION, values=values)

    async with anyio.create_task_group() as group:
        for writer in range(16):
            group.start_soon(write, writer)

    entries = (await ask(client, "read_log", namespace=SESSION))["entries"]
    calls = [entries[at : at + 3] for at in range(0, len(entries), 3)]
    assert len(calls) == 48
    assert all(len({entry.rsplit(" ", 1)[0] for entry in call}) == 1 for call in calls)
    for writer in range(16):
        own = [call for call in calls if call[0].startswith(f"{writer} ")]
        assert own == sorted(own)


async def test_a_version_is_compared_before_a_put(connect: Connect) -> None:
    client = await connect()
    stored = await put(client, 1, version=0)
    assert stored["version"] == 1
    assert (await refuse(client, "put_item", namespace=ADA, key="tea", value=2, version=0))[0] == (
        "Item exists"
    )
    assert (await put(client, 2, version=1))["version"] == 2
    assert (await refuse(client, "put_item", namespace=ADA, key="tea", value=3, version=1))[0] == (
        "Item changed"
    )
    assert await look(client) == 2

    won = list[int]()

    async def count(writer: int) -> None:
        given = {"namespace": ADA, "key": "count", "value": writer, "version": 0}
        try:
            await ask(client, "put_item", **given)
        except AssertionError as error:
            assert "Item exists" in str(error)  # noqa: PT017 - the others
        else:
            won.append(writer)

    async with anyio.create_task_group() as group:
        for writer in range(16):
            group.start_soon(count, writer)
    assert [await look(client, "count")] == won


async def test_former_values_are_shown_and_an_equal_one_is_not_stored_again(
    connect: Connect,
) -> None:
    client = await connect()
    await put(client, {"b": 1, "a": 2}, metadata={"by": "x"})
    again = await put(client, {"b": 1, "a": 2}, metadata={"by": "x"})
    other = await put(client, {"a": 2, "b": 1}, metadata={"by": "x"})
    await ask(client, "delete_item", namespace=ADA, key="tea")

    versions = (await ask(client, "item_history", namespace=ADA, key="tea"))["items"]
    assert (again["version"], other["version"]) == (1, 2)
    assert [(one["version"], one.get("deleted"), exact(one["value"])) for one in versions] == [
        (3, True, "null"), (2, None, '{"a": 2, "b": 1}'), (1, None, '{"b": 1, "a": 2}'),
    ]  # fmt: skip
    assert await look(client, version=1) == {"b": 1, "a": 2}
    assert await look(client) is None
    assert (await put(client, 4, version=0))["version"] == 4


async def test_an_expired_item_is_gone_at_once_with_its_former_values(
    connect: Connect, owner: psycopg.Connection
) -> None:
    client = await connect()
    await put(client, "old")
    await put(client, "secret", ttlSeconds=60)
    await ask(client, "append_log", namespace=SESSION, values=["stays"])
    renewed = await ask(client, "get_item", namespace=ADA, key="tea", refresh=True)
    owner.execute("update item set expires_at = now() - interval '1 second' where key is not null")

    assert await look(client) is None
    assert await ask(client, "search_items") == {"items": []}
    assert await ask(client, "search_items", query="secret") == {"items": []}
    assert await ask(client, "item_history", namespace=ADA, key="tea") == {"items": []}
    assert await ask(client, "list_namespaces") == {"namespaces": [SESSION]}
    assert await ask(client, "delete_item", namespace=ADA) == {"deleted": 0}
    assert (await put(client, "new", version=0))["version"] == 1
    assert renewed["expiresAt"] > renewed["updatedAt"]


async def test_one_call_moves_items_and_answers_in_their_order(connect: Connect) -> None:
    client = await connect()
    former = [await put(client, number, f"{number}") for number in range(3)]
    moved = [
        {"namespace": ["a", one["key"]], "key": "b", "value": one["value"], "version": 0}
        for one in reversed(former)
    ]
    gone = [{name: one[name] for name in ("namespace", "key", "version")} for one in former]

    answer = await ask(client, "put_items", items=moved, delete=gone)

    assert [one["value"] for one in answer["items"]] == [2, 1, 0]
    assert (await ask(client, "search_items", query="2"))["items"][0]["value"] == 2
    listed = (await ask(client, "search_items"))["items"]
    assert [(one["namespace"], one["value"]) for one in listed] == [
        (["a", str(number)], number) for number in range(3)
    ]
    wrong = {**moved[0], "value": "x", "ttlSeconds": -1}
    assert "items[0].ttlSeconds" in (await refuse(client, "put_items", items=[wrong]))[1]
    title, fix = await refuse(client, "put_items", items=moved)
    assert (title, "version" in fix) == ("Item exists", True)


async def test_models_see_the_tools_only_if_the_settings_name_them(connect: Connect) -> None:
    client = await connect()
    assert "put_item" not in [tool.name for tool in (await client.list_tools()).tools]
    await put(client, "for programs")
    with pytest.raises(MCPError, match="Unknown tool"):
        await client.call_tool("get_item", {"namespace": ADA, "key": "tea"})

    named = await connect(toolsets=["items"])
    result = await named.call_tool("get_item", {"namespace": ADA, "key": "tea"})
    assert result.structured_content is not None
    assert result.structured_content["value"] == "for programs"


async def test_arguments_that_no_item_can_have_are_refused(connect: Connect) -> None:
    client = await connect()
    place = {"namespace": ADA, "key": "k", "value": 1}
    cases: list[tuple[dict[str, Any], str]] = [
        ({"key": "nul\0"}, "U+0000"),
        ({"key": "x" * 501}, "at most 500"),
        ({"key": ""}, "must not be empty"),
        ({"namespace": []}, "must not be empty"),
        ({"namespace": ["", "a"]}, "must not be empty"),
        ({"namespace": ["🦄" * 500, "🦄" * 500]}, "2,400 bytes"),
        ({"value": "x" * 1_000_000}, "1,000,000 bytes"),
        ({"metadata": {"a": "x" * 100_000}}, "100,000"),
        ({"ttlSeconds": 0}, "ttlSeconds"),
        ({"index": "a"}, "list of paths"),
        ({"version": -1}, "version"),
        ({"version": 2**31}, "version"),
    ]
    for wrong, words in cases:
        assert words in (await refuse(client, "put_item", **{**place, **wrong}))[1], wrong
    for operator in ("$like", "$in"):
        assert "$eq" in (await refuse(client, "search_items", filter={"a": {operator: 1}}))[1]
    assert "U+0000" in (await refuse(client, "search_items", filter={"a": "\0"}))[1]
    assert "U+0000" in (await refuse(client, "search_items", query="a\0"))[1]
    assert "last" in (await refuse(client, "read_log", namespace=ADA, last=2**31))[1]
    long = ["x" * 999_999]
    assert "1000001" in (await refuse(client, "append_log", namespace=ADA, values=long))[0]
    assert await ask(client, "search_items") == {"items": []}


async def test_a_search_compares_its_prefix_exactly_and_reaches_every_field_of_a_value(
    connect: Connect,
) -> None:
    client = await connect()
    star = ["users", "*"]
    await put(client, {"drink": "tea", "metadata": {"by": "me"}}, metadata={"by": "us"})
    await put(client, {"drink": "tea"}, namespace=star)

    async def find(**given: Any) -> list[Any]:
        return [item["namespace"] for item in (await ask(client, "search_items", **given))["items"]]

    assert await find(prefix=star) == await find(prefix=star, query="tea") == [star]
    found = [await find(filter={path: "me"}) for path in ("metadata.by", "$.metadata.by")]
    assert found == [[], [ADA]]
    assert await find(filter={"$.drink": "tea"}) == [star, ADA]
    await put(client, "\\u0000", namespace=star, metadata={"\\": "\\\\u0000"})
    assert await find(filter={"metadata.\\": "\\\\u0000"}) == [star]
