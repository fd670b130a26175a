"""JSON schemas cut down to what clients understand and models need.

No titles, null defaults, `$ref` or unions: several clients choke on them, and every one of them
costs tokens in each conversation.
"""

from typing import Any, cast

_NOISE = {"title", "format", "minLength", "additionalProperties", "$ref", "$defs",
          "properties", "required"}  # fmt: skip
_LIMITS = {"maxLength", "minimum", "maximum", "default"}
_NULL = {"type": "null"}


def slim(schema: dict[str, Any]) -> dict[str, Any]:
    """An object schema with its definitions inlined and nothing that may go."""
    return _slim(schema, schema.get("$defs", {}))


def _slim(given: Any, definitions: dict[str, Any]) -> Any:
    if isinstance(given, list):
        return [_slim(item, definitions) for item in cast("list[Any]", given)]
    if not isinstance(given, dict):
        return given
    node = cast("dict[str, Any]", given)
    if "$ref" in node:
        inlined = definitions[node["$ref"].rsplit("/", 1)[1]]
        node = {**{k: v for k, v in inlined.items() if k != "description"}, **node}
    if "anyOf" in node:
        [kind] = [option for option in node["anyOf"] if option != _NULL]
        return _slim({**kind, **{k: v for k, v in node.items() if k != "anyOf"}}, definitions)
    kept = {k: _slim(v, definitions) for k, v in node.items() if not _is_noise(k, v)}
    if "properties" in node:
        fields: dict[str, Any] = node["properties"]
        kept["properties"] = {name: _slim(part, definitions) for name, part in fields.items()}
        required = [name for name in node.get("required", ()) if not _may_be_null(fields[name])]
        kept |= {"required": required} if required else {}
    return kept


def _is_noise(key: str, value: object) -> bool:
    return key in _NOISE or (key == "default" and value in (None, "", []))


def _may_be_null(part: dict[str, Any]) -> bool:
    """Whether a field may be None: replies leave those out, so they are not required."""
    return _NULL in part.get("anyOf", ())


def shorten_items(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema whose lists of objects name fields and types alone, and each enumeration once.

    The limits hold all the same; another tool's schema tells them, and here they cost tokens again.
    """
    spelt: list[Any] = []
    properties = {name: _shorten(part, spelt) for name, part in schema["properties"].items()}
    return {**schema, "properties": properties}


def _shorten(part: dict[str, Any], spelt: list[Any]) -> dict[str, Any]:
    item = part.get("items", {})
    if "properties" not in item:
        return part
    fields: dict[str, Any] = {}
    for name, field in item["properties"].items():
        values = field.get("enum")
        without = _LIMITS | {"enum"} if values in spelt else _LIMITS
        fields[name] = {key: value for key, value in field.items() if key not in without}
        spelt += [values] if values else []
    return {**part, "items": {**item, "properties": fields}}


def merge(*schemas: dict[str, Any]) -> dict[str, Any]:
    """One flat object that fits each of `schemas`; it requires only what all of them require.

    Of several, what is inside their fields is left at the names that are always there: clients
    check every answer, and to check each field of ten facts was half of what a search, whose
    schema alone is merged, took the SDK's client.
    """
    slimmed = [slim(schema) for schema in schemas]
    shorten = _flatten if len(schemas) > 1 else dict[str, Any]
    properties: dict[str, Any] = {}
    for schema in slimmed:
        for name, told in schema["properties"].items():
            part = shorten({key: value for key, value in told.items() if key != "default"})
            known = properties.setdefault(name, part)
            if "const" in part and part != known:
                values = [*known.get("enum", [known.get("const")]), part["const"]]
                properties[name] = {"type": "string", "enum": values}
    required = [n for n in properties if all(n in s.get("required", ()) for s in slimmed)]
    return {"type": "object", "properties": properties, "required": required}


def _flatten(part: dict[str, Any]) -> dict[str, Any]:
    told = {key: value for key, value in part.items() if key != "properties"}
    return {**told, "items": _flatten(told["items"])} if "items" in told else told
