"""Arguments as models send them, made into what a tool takes, or an error that repairs them.

Where the meaning is certain an odd shape is accepted: null, "null", "" or a 0 below the least value
for an optional parameter, a list that was written as a string, one string or words between commas
where a list is expected, snake_case for camelCase, an enum value in the wrong case. All else is
refused by name.
"""

import itertools
import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

from pydantic import ValidationError
from pydantic.alias_generators import to_camel
from pydantic_core import ErrorDetails

from textrawl.errors import ArgumentInvalid, EntityTypeInvalid, TextrawlError

_ABSENT = ("", "null")
_ADDED = ("wait_for_previous",)  # Gemini CLI adds it to the schema of every tool, and sends it on
_SHOWN = 40  # characters of a wrong value that an error repeats
_FOREIGN = 5  # times as much as an ASCII character counts one of another script: in tokens it costs
_KINDS = {
    "integer": "an integer", "number": "a number", "string": "text", "boolean": "true or false",
    "array": "a list", "object": "an object",
}  # fmt: skip
_LISTED = 100  # faults that an error names before it only counts: as many as items of a batch


def forgive(schema: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of an object `schema` with odd shapes made regular.

    Raises ArgumentInvalid for an argument that the schema does not know.
    """
    known: Mapping[str, Any] = schema["properties"]
    added = [name for name in _ADDED if name in given and name not in known]
    own = {name: value for name, value in given.items() if name not in added}
    regular = _regularise_object(schema, own)
    if unknown := [name for name in regular if name not in known]:
        raise ArgumentInvalid(
            f"Known arguments: {', '.join(known)}",
            title=f"Unknown argument {', '.join(_quote(name) for name in unknown[:3])}",
        )
    return regular


def _regularise_object(schema: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Unknown names stay: whoever validates next tells their place."""
    known: Mapping[str, Any] = schema["properties"]
    required = schema.get("required", ())
    regular: dict[str, Any] = {}
    for name, value in given.items():
        camel = to_camel(name)
        canonical = camel if name not in known and camel in known and camel not in given else name
        part = known.get(canonical, {})
        if canonical in required or canonical not in known or not _is_absent(value, part):
            regular[canonical] = _regularise(part, value)
    return regular


def _is_absent(value: object, schema: Mapping[str, Any]) -> bool:
    """Return whether `value` stands for no value: strict modes make models fill every parameter."""
    if isinstance(value, str):
        value = value.strip()
    least = schema.get("minimum", 0)
    filler = least > 0 and not isinstance(value, bool) and value in (0, "0")
    return value is None or filler or value in _ABSENT


def _regularise(schema: Mapping[str, Any], value: Any) -> Any:
    match schema.get("type"):
        case "array":
            return _regularise_list(schema["items"], value)
        case "object" if isinstance(value, dict):
            return _regularise_object(schema, cast("dict[str, Any]", value))
        case "integer" | "number" if isinstance(value, bool):
            return str(value).lower()  # else true would count as 1
        case "string" if "enum" in schema and isinstance(value, str):
            plain = value.strip().lower()
            return plain if plain in schema["enum"] else value
        case _:
            return value


def _regularise_list(item: Mapping[str, Any], value: Any) -> Any:
    if isinstance(value, str) and value.lstrip().startswith(("[", "{")):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return value
    if isinstance(value, str) and "enum" in item:
        value = value.split(",")
    elif isinstance(value, str | dict):
        value = [value]
    if not isinstance(value, list):
        return value
    return [_regularise(item, one) for one in cast("list[Any]", value)]


def explain(error: ValidationError, schema: Mapping[str, Any]) -> TextrawlError:
    """What is wrong with the arguments of an object `schema`: where, what was given, what may."""
    faults = error.errors(include_url=False)
    places: dict[str, list[str]] = {}
    for fault in faults[:_LISTED]:
        places.setdefault(_allow(fault, schema), []).append(_locate(fault))
    told = "; ".join(f"{', '.join(where)}: {wanted}" for wanted, where in places.items())
    if len(faults) > _LISTED:
        told += f"; and {len(faults) - _LISTED} more"
    return EntityTypeInvalid(told) if all(map(_is_entity_type, faults)) else ArgumentInvalid(told)


def _is_entity_type(fault: ErrorDetails) -> bool:
    names = [part for part in fault["loc"] if isinstance(part, str)]
    return fault["type"] == "literal_error" and names[-1].endswith(("Type", "Types"))


def _locate(fault: ErrorDetails) -> str:
    """The path of the argument, and what was given."""
    place = ""
    for part in fault["loc"]:
        plain = str(part).isidentifier() and len(str(part)) <= _SHOWN
        name = str(part) if plain else _quote(part)
        place += f"[{part}]" if isinstance(part, int) else f".{name}" if place else name
    value: Any = fault["input"]
    if fault["type"] in ("missing", "extra_forbidden") or isinstance(value, dict | list):
        return place
    length = f", {len(value)} characters" if "too_long" in fault["type"] else ""
    return f"{place} (given {_quote(value)}{length})"


def _allow(fault: ErrorDetails, schema: Mapping[str, Any]) -> str:
    """What may stand there instead."""
    match fault["type"]:
        case "missing":
            return "required"
        case "string_too_short" | "too_short":
            return "must not be empty"
        case "value_error":
            return fault["msg"].removeprefix("Value error, ")
        case "extra_forbidden":
            return f"unknown; known are {', '.join(_find(schema, fault['loc'][:-1])['properties'])}"
        case "string_too_long" | "too_long" if isinstance(fault["input"], str):
            return f"must be text of at most {fault.get('ctx', {})['max_length']} characters"
        case _:
            return f"must be {_name_kind(_find(schema, fault['loc']))}"


def _find(schema: Mapping[str, Any], path: Sequence[int | str]) -> Mapping[str, Any]:
    for part in path:
        schema = schema["items"] if isinstance(part, int) else schema["properties"][part]
    return schema


def _name_kind(schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return f"one of {', '.join(schema['enum'])}"
    named = _KINDS[schema["type"]]
    if "maxItems" in schema:
        return f"{named} of at most {schema['maxItems']}"
    if "maximum" in schema:
        return f"{named} from {schema['minimum']} to {schema['maximum']}"
    return f"{named} of at least {schema['minimum']}" if "minimum" in schema else named


def _quote(value: object) -> str:
    """A wrong value, shortened, with nothing in it that could disturb a log or a model."""
    text = "".join(c if c.isprintable() else "\ufffd" for c in str(value)[: _SHOWN + 1])
    sizes = itertools.accumulate(1 if c.isascii() else _FOREIGN for c in text)
    fitting = sum(size <= _SHOWN for size in sizes)
    return repr(text if len(text) <= fitting else text[:fitting] + "…")
