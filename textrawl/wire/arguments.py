"""Repairs and schemas of a tool's arguments, and errors that say how to correct them.

An unusual argument is accepted if its meaning is certain:

- null, "null", "" or a 0 below the minimum: an optional parameter without a value,
- a list as a JSON string, a single item, or enum values separated by commas: a list,
- a name in snake_case: the name in camelCase,
- an enum value in the wrong case: the enum value.

All other wrong arguments are refused, and the error names each of them.
"""

import itertools
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from pydantic import BeforeValidator, ValidationError
from pydantic.alias_generators import to_camel
from pydantic_core import ErrorDetails

from textrawl.errors import ArgumentInvalid, TextrawlError

_NONE: Mapping[str, str] = {}
_ABSENT = ("", "null")
_TEXTS = ("query", "entityName")  # a search for null, and an entity of this name
_ADDED = ("wait_for_previous",)  # Gemini CLI adds it to the schema and the call of every tool
_SHOWN = 40  # characters of a wrong value that an error repeats
_OTHER_SCRIPT = 5  # weight of a character outside ASCII, which costs about five times the tokens
_KINDS = {
    "integer": "an integer",
    "number": "a number",
    "string": "text",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
}
_LISTED = 100  # errors that a message lists, because a batch of facts has at most 100 items


def apply(clean: Callable[[str], object]) -> BeforeValidator:
    """Return a validator that applies `clean` to text."""
    return BeforeValidator(lambda value: clean(value) if isinstance(value, str) else value)


def has_more(value: object, most: int) -> bool:
    """Return whether a JSON value has more than `most` characters and members."""
    pending = [value]
    while pending and most >= 0:
        one = pending.pop()
        if isinstance(one, dict):
            members = cast("dict[str, object]", one)
            pending += members.values()
            most -= sum(map(len, members))
        elif isinstance(one, list):
            pending += cast("list[object]", one)
        most -= len(one) if isinstance(one, str) else 1
    return most < 0


def normalise(
    schema: Mapping[str, Any],
    arguments: Mapping[str, Any],
    aliases: Mapping[str, str] = _NONE,
    exact: Sequence[str] = (),
) -> dict[str, Any]:
    """Return the arguments of an object `schema` in their regular shape.

    `aliases` has other names of parameters. A name is replaced if the call does not have the
    parameter itself. The texts of the parameters in `exact` stay as they are.

    Raises ArgumentInvalid for an argument that is not in the schema.
    """
    parameters: Mapping[str, Any] = schema["properties"]
    own = dict(arguments)
    for name in _ADDED:
        if name not in parameters:
            own.pop(name, None)
    for alias, name in aliases.items():
        if alias in own and name not in own:
            own[name] = own.pop(alias)
    regular = _normalise_object(schema, own)
    if not regular.keys() <= parameters.keys():
        unknown = [name for name in regular if name not in parameters]
        raise ArgumentInvalid(
            f"Known arguments: {', '.join(parameters)}",
            title=f"Unknown argument {', '.join(_quote(name) for name in unknown[:3])}",
        )
    for name in exact:
        if isinstance(text := arguments.get(name), str):
            regular[name] = text
    return regular


def _normalise_object(schema: Mapping[str, Any], members: Mapping[str, Any]) -> dict[str, Any]:
    """Return the members in their regular shape. The caller refuses unknown names."""
    fields: Mapping[str, Any] = schema["properties"]
    required = schema.get("required", ())
    regular: dict[str, Any] = {}
    for name, value in members.items():
        camel = to_camel(name)
        is_snake = name not in fields and camel in fields and camel not in members
        canonical = camel if is_snake else name
        field = fields.get(canonical, {})
        needed = canonical in required or canonical not in fields
        # In strict mode, a model fills every parameter.
        text = value.strip() if isinstance(value, str) else value
        is_number = not isinstance(value, bool)
        filler = is_number and field.get("minimum", 0) > 0 and text in (0, "0")
        absent = value is None or filler or text in _ABSENT
        if needed or not absent or (canonical in _TEXTS and value == "null"):
            regular[canonical] = _normalise(field, value)
    return regular


def _normalise(schema: Mapping[str, Any], value: Any) -> Any:
    match schema.get("type"):
        case "array":
            return _normalise_list(schema["items"], value)
        case "object" if isinstance(value, dict):
            members = cast("dict[str, Any]", value)
            return _normalise_object(schema, members) if "properties" in schema else members
        case "integer" | "number" if isinstance(value, bool):
            return str(value).lower()  # otherwise `true` would be accepted as 1
        case "string" if "enum" in schema and isinstance(value, str):
            plain = value.strip().lower()
            return plain if plain in schema["enum"] else value
        case _:
            return value


def _normalise_list(item: Mapping[str, Any], value: Any) -> Any:
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
    return [_normalise(item, one) for one in cast("list[Any]", value)]


def explain(error: ValidationError, schema: Mapping[str, Any]) -> TextrawlError:
    """Return the error that names each wrong argument, its value, and the allowed values."""
    faults = error.errors(include_url=False)
    places: dict[str, list[str]] = {}
    for fault in faults[:_LISTED]:
        places.setdefault(_allow(fault, schema), []).append(_locate(fault))
    fix = "; ".join(f"{', '.join(where)}: {allowed}" for allowed, where in places.items())
    if len(faults) > _LISTED:
        fix += f"; and {len(faults) - _LISTED} more"
    return ArgumentInvalid(fix)


def _locate(fault: ErrorDetails) -> str:
    """Return the path of the argument and its value."""
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
    """Return a description of the allowed values."""
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
    kind = _KINDS[schema["type"]]
    if "maxItems" in schema:
        return f"{kind} of at most {schema['maxItems']}"
    if "maximum" in schema:
        return f"{kind} from {schema['minimum']} to {schema['maximum']}"
    return f"{kind} of at least {schema['minimum']}" if "minimum" in schema else kind


def _quote(value: object) -> str:
    """Return a wrong value, shortened, without characters that could break a line of a log."""
    text = "".join(c if c.isprintable() else "\ufffd" for c in str(value)[: _SHOWN + 1])
    sizes = itertools.accumulate(1 if c.isascii() else _OTHER_SCRIPT for c in text)
    fitting = sum(size <= _SHOWN for size in sizes)
    return repr(text if len(text) <= fitting else text[:fitting] + "…")


_DROPPED = {
    "title",
    "format",
    "const",
    "minLength",
    "additionalProperties",
    "$ref",
    "$defs",
    "properties",
    "required",
}
_LIMITS = {"maxLength", "minimum", "maximum", "default"}
_NULL = {"type": "null"}


def slim(schema: dict[str, Any]) -> dict[str, Any]:
    """Return an object schema with inlined definitions and without dispensable keywords."""
    return _slim(schema, schema.get("$defs", {}))


def _slim(value: Any, definitions: dict[str, Any]) -> Any:
    if isinstance(value, list):
        return [_slim(item, definitions) for item in cast("list[Any]", value)]
    if not isinstance(value, dict):
        return value
    node = cast("dict[str, Any]", value)
    if "$ref" in node:
        inlined = definitions[node["$ref"].rsplit("/", 1)[1]]
        node = {**{k: v for k, v in inlined.items() if k != "description"}, **node}
    if "anyOf" in node:
        [kind] = [option for option in node["anyOf"] if option != _NULL]
        return _slim({**kind, **{k: v for k, v in node.items() if k != "anyOf"}}, definitions)
    kept = {k: _slim(v, definitions) for k, v in node.items() if not _is_dropped(k, v)}
    if isinstance(node.get("const"), str):
        kept["enum"] = [node["const"]]
    if "properties" in node:
        fields: dict[str, Any] = node["properties"]
        kept["properties"] = {name: _slim(part, definitions) for name, part in fields.items()}
        # Replies omit a field that is null, so it is not required.
        always = [n for n in node.get("required", ()) if _NULL not in fields[n].get("anyOf", ())]
        kept |= {"required": always} if always else {}
    return kept


def _is_dropped(key: str, value: object) -> bool:
    empty = (key == "default" and value in (None, "", [])) or (key == "items" and value == {})
    return key in _DROPPED or empty


def shorten_items(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema without limits in lists of objects, and with each enumeration only once.

    The limits still apply. Another tool's schema states them, and repeating them costs tokens.
    """
    listed: list[Any] = []
    properties = {name: _shorten(part, listed) for name, part in schema["properties"].items()}
    return {**schema, "properties": properties}


def _shorten(part: dict[str, Any], listed: list[Any]) -> dict[str, Any]:
    item = part.get("items", {})
    if "properties" not in item:
        return part
    fields: dict[str, Any] = {}
    for name, field in item["properties"].items():
        values = field.get("enum")
        dropped = _LIMITS | {"enum"} if values in listed else _LIMITS
        fields[name] = {key: value for key, value in field.items() if key not in dropped}
        listed += [values] if values else []
    return {**part, "items": {**item, "properties": fields}}


def merge(*schemas: dict[str, Any]) -> dict[str, Any]:
    """Return one flat object schema that accepts the objects of each of `schemas`.

    A field is required if all schemas require it. If there are several schemas, the fields of
    nested objects are left out, because clients check every answer against the schema. With these
    fields, the SDK's client spent half of the time of a search on the check of ten facts.
    """
    slimmed = [slim(schema) for schema in schemas]
    shorten = _flatten if len(schemas) > 1 else dict[str, Any]
    properties: dict[str, Any] = {}
    for schema in slimmed:
        for name, field in schema["properties"].items():
            part = shorten({key: value for key, value in field.items() if key != "default"})
            merged = properties.setdefault(name, part)
            if "enum" in part and part != merged:
                values = list(dict.fromkeys([*merged.get("enum", ()), *part["enum"]]))
                properties[name] = {"type": "string", "enum": values}
    required = [n for n in properties if all(n in s.get("required", ()) for s in slimmed)]
    return {"type": "object", "properties": properties, "required": required}


def _flatten(part: dict[str, Any]) -> dict[str, Any]:
    flat = {key: value for key, value in part.items() if key not in ("properties", "required")}
    return {**flat, "items": _flatten(flat["items"])} if "items" in flat else flat
