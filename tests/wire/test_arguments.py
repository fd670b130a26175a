"""Arguments as models send them."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from textrawl.errors import ArgumentInvalid
from textrawl.wire.arguments import explain, merge, normalise, shorten_items, slim

SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["name"],
    "properties": {
        "name": {"type": "string"},
        "kind": {"type": "string", "enum": ["person", "project"]},
        "kinds": {"type": "array", "items": {"type": "string", "enum": ["person", "project"]}},
        "mostItems": {"type": "integer"},
        "items": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["itemName"],
                "properties": {
                    "itemName": {"type": "string"},
                    "kind": {"type": "string", "enum": ["person", "project"]},
                },
            },
        },
    },
}


@pytest.mark.parametrize(
    ("given", "regular"),
    [
        ({"kind": None, "kinds": "", "mostItems": " null "}, {}),
        ({"name": ""}, {"name": ""}),
        ({"name": "null"}, {"name": "null"}),
        ({"kind": " PERSON "}, {"kind": "person"}),
        ({"kind": "robot"}, {"kind": "robot"}),
        ({"kinds": "Project"}, {"kinds": ["project"]}),
        ({"kinds": '["person", "PROJECT"]'}, {"kinds": ["person", "project"]}),
        ({"kinds": "person, Project"}, {"kinds": ["person", "project"]}),
        ({"kinds": "[person"}, {"kinds": "[person"}),
        ({"kinds": 5}, {"kinds": 5}),
        ({"kinds": "[" * 9_999}, {"kinds": "[" * 9_999}),
        ({"most_items": 3}, {"mostItems": 3}),
        ({"mostItems": True}, {"mostItems": "true"}),
        ({"items": {"item_name": "x", "kind": None}}, {"items": [{"itemName": "x"}]}),
        ({"items": '{"itemName":"x"}'}, {"items": [{"itemName": "x"}]}),
        ({"items": [{"itemName": "x", "odd": 1}]}, {"items": [{"itemName": "x", "odd": 1}]}),
        ({"items": ["x", None]}, {"items": ["x", None]}),
    ],
)
def test_odd_shapes_are_made_regular_where_their_meaning_is_certain(
    given: dict[str, Any], regular: dict[str, Any]
) -> None:
    assert normalise(SCHEMA, given) == regular


def test_another_name_of_a_parameter_counts_unless_the_parameter_is_given() -> None:
    aliases = {"title": "name", "called": "name"}

    assert normalise(SCHEMA, {"called": "x"}, aliases) == {"name": "x"}
    for both in ({"name": "x", "called": "y"}, {"title": "x", "called": "y"}):
        with pytest.raises(ArgumentInvalid, match="Unknown argument 'called'"):
            normalise(SCHEMA, both, aliases)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from([*SCHEMA["properties"], "most_items", "x"]), JSON))
def test_no_argument_breaks_forgiving(given: dict[str, Any]) -> None:
    try:
        regular = normalise(SCHEMA, given)
    except ArgumentInvalid as refusal:
        assert "Unknown argument" in refusal.title  # noqa: PT017 - both outcomes are allowed
    else:
        assert regular.keys() <= SCHEMA["properties"].keys()
        assert normalise(SCHEMA, regular) == regular or regular != regular  # noqa: PLR0124 - NaN


def test_a_batch_with_more_faults_than_can_be_named_counts_the_rest() -> None:
    from pydantic import TypeAdapter, ValidationError  # noqa: PLC0415

    with pytest.raises(ValidationError) as caught:
        TypeAdapter(dict[str, list[int]]).validate_python({"xs": ["a"] * 130})
    schema = {"properties": {"xs": {"items": {"type": "integer"}}}}

    error = explain(caught.value, schema)

    assert isinstance(error, ArgumentInvalid)
    assert error.fix.startswith("xs[0] (given 'a'), xs[1] (given 'a')")
    assert error.fix.endswith("xs[99] (given 'a'): must be an integer; and 30 more")


def test_schemas_are_inlined_and_lose_what_clients_choke_on() -> None:
    schema = {
        "title": "T", "type": "object", "required": ["a"],
        "$defs": {"D": {"title": "D", "description": "gone", "type": "string", "format": "uri"}},
        "properties": {
            "a": {"$ref": "#/$defs/D", "description": "kept"},
            "title": {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None},
        },
    }  # fmt: skip

    assert slim(schema) == {
        "type": "object",
        "required": ["a"],
        "properties": {
            "a": {"type": "string", "description": "kept"},
            "title": {"type": "integer"},
        },
    }


def test_lists_of_objects_lose_limits_and_enumerations_told_before() -> None:
    kind = {"type": "string", "enum": ["a", "b"]}
    item = {"type": "object", "properties": {"x": {"type": "string", "maxLength": 9}, "k": kind}}
    schema = {"properties": {"one": {"type": "array", "items": item},
                             "two": {"type": "array", "items": item},
                             "plain": {"type": "string", "maxLength": 9}}}  # fmt: skip

    short = shorten_items(schema)["properties"]

    assert short["one"]["items"]["properties"] == {"x": {"type": "string"}, "k": kind}
    assert short["two"]["items"]["properties"]["k"] == {"type": "string"}
    assert short["plain"] == {"type": "string", "maxLength": 9}


def test_merged_schemas_require_what_all_require_and_list_their_constants() -> None:
    one, two = (
        {"type": "object", "required": ["m", "x"],
         "properties": {"m": {"const": name, "type": "string"}, "x": {"type": "integer"},
                        name: {"type": "string"}}}
        for name in ("a", "b")
    )  # fmt: skip
    two["required"] = ["m"]

    assert merge(one, two) == {
        "type": "object",
        "required": ["m"],
        "properties": {
            "m": {"type": "string", "enum": ["a", "b"]},
            "x": {"type": "integer"},
            "a": {"type": "string"},
            "b": {"type": "string"},
        },
    }


def test_of_what_is_inside_the_fields_of_several_a_merged_schema_tells_the_type() -> None:
    item = {"type": "object", "required": ["x"], "properties": {"x": {"type": "string"}}}
    schema = {"properties": {"part": item, "parts": {"type": "array", "items": item}}}

    named = {"type": "object"}
    assert merge(schema)["properties"] == schema["properties"]
    assert merge(schema, schema)["properties"] == {
        "part": named, "parts": {"type": "array", "items": named}
    }  # fmt: skip
