"""Arguments as models send them, made into what a tool takes, or an error that repairs them.

Where the meaning is certain an odd shape is accepted: null, "null" and "" for an optional
parameter, a list that was written as a string, one string where a list is expected, snake_case for
camelCase, an enum value in the wrong case. All else is refused by name.
"""

import json
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError
from pydantic.alias_generators import to_camel

from textrawl.errors import ArgumentInvalid, EntityTypeInvalid, TextrawlError

_ABSENT = (None, "", "null")
_SHOWN = 40  # characters of a wrong value that an error repeats
_LISTED = 100  # faults that an error names before it only counts: as many as items of a batch


def forgive(schema: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of an object `schema` with odd shapes made regular.

    Raises ArgumentInvalid for an argument that the schema does not know.
    """
    known: dict[str, Any] = schema["properties"]
    named = {name if name in known else to_camel(name): value for name, value in given.items()}
    if unknown := sorted(named.keys() - known.keys()):
        raise ArgumentInvalid(
            f"Known arguments: {', '.join(known)}",
            title=f"Unknown argument {unknown[0]!r:.{_SHOWN}}",
        )
    required = schema.get("required", ())
    return {
        name: _regularise(known[name], value)
        for name, value in named.items()
        if name in required or not _is_absent(value)
    }


def _is_absent(value: object) -> bool:
    return value is None or (isinstance(value, str) and value.strip() in _ABSENT)


def _regularise(schema: Mapping[str, Any], value: Any) -> Any:
    if schema.get("type") == "array":
        return _regularise_list(schema["items"], value)
    if schema.get("type") == "object" and isinstance(value, dict) and "properties" in schema:
        try:
            return forgive(schema, value)
        except ArgumentInvalid:
            return value  # the validation that follows names the place as well
    if "enum" in schema and isinstance(value, str):
        return value.strip().lower() if value.strip().lower() in schema["enum"] else value
    if schema.get("type") in ("integer", "number") and isinstance(value, bool):
        return str(value).lower()  # else true would count as 1
    return value


def _regularise_list(item: Mapping[str, Any], value: Any) -> Any:
    if isinstance(value, str) and value.lstrip().startswith(("[", "{")):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return value
    if isinstance(value, str | dict):
        value = [value]
    return [_regularise(item, one) for one in value] if isinstance(value, list) else value


def explain(error: ValidationError) -> TextrawlError:
    """What is wrong with arguments, as an error that names each: where, what was given, what may be."""
    faults = error.errors(include_url=False, include_context=True)
    told = "; ".join(_describe(fault) for fault in faults[:_LISTED])
    if len(faults) > _LISTED:
        told += f"; and {len(faults) - _LISTED} more"
    return EntityTypeInvalid(told) if all(map(_is_entity_type, faults)) else ArgumentInvalid(told)


def _is_entity_type(fault: Any) -> bool:
    names = [part for part in fault["loc"] if isinstance(part, str)]
    return (
        fault["type"] == "literal_error" and bool(names) and names[-1].endswith(("Type", "Types"))
    )


def _describe(fault: Any) -> str:
    place = ""
    for part in fault["loc"]:
        place += f"[{part}]" if isinstance(part, int) else f".{part}" if place else str(part)
    if fault["type"] == "missing":
        return f"{place}: required"
    if fault["type"] == "extra_forbidden":
        return f"{place}: unknown"
    wrong = fault["msg"].removeprefix("Value error, ").removeprefix("Input ")
    return f"{place}: {wrong}{_show(fault['input'])}"


def _show(value: object) -> str:
    """The value that was given, shortened, with nothing in it that could disturb a log or a model."""
    text = "".join(c if c.isprintable() else "\ufffd" for c in str(value))
    if isinstance(value, dict | list) or not text:
        return ""
    return f" (given {text if len(text) <= _SHOWN else text[:_SHOWN] + '…'!r})"
