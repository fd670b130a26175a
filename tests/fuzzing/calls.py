"""Calls of tools, from their JSON schemas as tools/list gives them: sound ones, and ones beyond."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from hypothesis import strategies as st

from tests.fuzzing.hostile import ANY_TEXT, DATES, FUTURES, JOINED, NUMBERS, SHAPES, TEXTS

Schema = Mapping[str, Any]
Strategy = st.SearchStrategy[Any]

_NAMES = ["Ada", "ada", "Bo", "Acme Corp", "Jeff", "Straße", "東京", "Zoë", "Zoe\u0308", *JOINED]
_WORDS = ["likes", "tea", "Oslo", "green", "Postgres", "in", "2026", "works at", "never", "C++"]
_TOP = 2**31  # of numbers whose schema sets no limit


@dataclass(frozen=True)
class Call:
    """A tool and what it is given."""

    tool: str
    arguments: Any

    def __str__(self) -> str:
        return f"{self.tool} {ascii(self.arguments)[:300]}"


def build_calls(tools: Mapping[str, Schema]) -> Strategy:
    """Calls of the tools whose input schemas are given: a third of them sound."""
    return st.one_of(*(_build_calls(name, schema) for name, schema in tools.items()))


@st.composite
def _build_calls(draw: st.DrawFn, tool: str, schema: Schema) -> Call:
    arguments = draw(build_sound(schema))
    for _ in range(draw(st.sampled_from([0, 1, 2]))):
        arguments = _spoil(draw, schema, arguments)
    return Call(tool, arguments)


def build_sound(schema: Schema, name: str = "") -> Strategy:
    """Values that a schema allows, and that its descriptions ask for."""
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if schema["type"] == "object":
        parts = {key: build_sound(part, key) for key, part in schema["properties"].items()}
        needed = schema.get("required", ())
        return st.fixed_dictionaries(
            {key: part for key, part in parts.items() if key in needed},
            optional={key: part for key, part in parts.items() if key not in needed},
        )
    if schema["type"] == "array":
        return st.lists(build_sound(schema["items"]), max_size=3)
    return _build_number(schema) if schema["type"] != "string" else _build_text(schema, name)


def _build_number(schema: Schema) -> Strategy:
    least, most = schema.get("minimum"), schema.get("maximum")
    if schema["type"] == "integer":
        return st.integers(-_TOP if least is None else least, _TOP if most is None else most)
    return st.floats(least or 0, most or 1) if schema["type"] == "number" else st.booleans()


def _build_text(schema: Schema, name: str) -> Strategy:
    if name in ("validUntil", "asOf"):
        return st.sampled_from(FUTURES)
    if name in ("entityName", "fromEntity", "toEntity"):
        return st.sampled_from(_NAMES) | st.text("abcdef ", min_size=1, max_size=12)
    word = st.sampled_from([*_WORDS, *JOINED]) | st.text("abc123", min_size=1, max_size=4)
    words = st.lists(word, min_size=1, max_size=8)
    most = schema.get("maxLength", 100 if name == "relation" else 1000)
    return words.map(lambda chosen: " ".join(chosen)[:most].strip() or "x")


_Spoil = Callable[[st.DrawFn, Schema, dict[str, Any]], Any]


def _spoil(draw: st.DrawFn, schema: Schema, arguments: Any) -> Any:
    if not isinstance(arguments, dict):
        return arguments
    given = cast("dict[str, Any]", arguments)
    inner = [key for key in ("facts", "relations") if _has_items(given.get(key))]
    if inner and draw(st.booleans()):
        return _spoil_item(draw, schema, given, draw(st.sampled_from(inner)))
    return draw(st.sampled_from(_SPOILS))(draw, schema, given)


def _has_items(value: Any) -> bool:
    items = cast("list[Any]", value) if isinstance(value, list) else []
    return bool(items) and isinstance(items[0], dict)


def _spoil_item(draw: st.DrawFn, schema: Schema, given: dict[str, Any], key: str) -> Any:
    first, *others = given[key]
    item = _spoil(draw, schema["properties"][key]["items"], first)
    return {**given, key: [item, *others] * draw(st.sampled_from([1, 1, 1, 2, 26]))}


def _replace(draw: st.DrawFn, schema: Schema, arguments: dict[str, Any]) -> Any:
    """One argument becomes something else."""
    key = draw(st.sampled_from(sorted(schema["properties"])))
    part = schema["properties"][key]
    choices = [SHAPES, TEXTS if part["type"] == "string" else NUMBERS]
    if key in ("validUntil", "asOf"):
        choices.append(st.sampled_from(DATES))
    return {**arguments, key: draw(st.one_of(choices))}


def _drop(draw: st.DrawFn, schema: Schema, arguments: dict[str, Any]) -> Any:
    if not arguments:
        return arguments
    gone = draw(st.sampled_from(sorted(arguments)))
    return {key: value for key, value in arguments.items() if key != gone}


def _add(draw: st.DrawFn, schema: Schema, arguments: dict[str, Any]) -> Any:
    """An argument that no tool has."""
    known = [
        "entity_types", "ENTITYNAME", "answer", "ctx", "space", "credential", "author", "_meta",
        "__class__", "self", "mode ", "", "\u202eedom", "x" * 5_000,
    ]  # fmt: skip
    return {**arguments, draw(st.sampled_from(known) | ANY_TEXT): draw(SHAPES)}


def _write(draw: st.DrawFn, schema: Schema, arguments: dict[str, Any]) -> Any:
    """A value becomes its own JSON text, which is forgiven for some types."""
    if not arguments:
        return arguments
    key = draw(st.sampled_from(sorted(arguments)))
    return {**arguments, key: json.dumps(arguments[key])}


def _wrap(draw: st.DrawFn, schema: Schema, arguments: dict[str, Any]) -> Any:
    """A value stands in a list, or in an object."""
    if not arguments:
        return arguments
    key = draw(st.sampled_from(sorted(arguments)))
    return {**arguments, key: draw(st.sampled_from([[arguments[key]], {key: arguments[key]}]))}


_SPOILS: Sequence[_Spoil] = (_replace, _replace, _replace, _replace, _drop, _add, _write, _wrap)
