"""JSON schemas cut down to what clients understand and models need.

No titles, null defaults, `$ref` or unions: several clients choke on them, and every one of them
costs tokens in each conversation.
"""

from typing import Any

_NOISE = {"title", "format", "minLength", "additionalProperties", "$ref", "$defs"}


def slim(schema: dict[str, Any]) -> dict[str, Any]:
    """An object schema with its definitions inlined and nothing that may go."""
    return _slim(schema, schema.get("$defs", {}))


def _slim(node: Any, definitions: dict[str, Any]) -> Any:
    if isinstance(node, list):
        return [_slim(item, definitions) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        inlined = definitions[node["$ref"].rsplit("/", 1)[1]]
        node = {**{k: v for k, v in inlined.items() if k != "description"}, **node}
    if "anyOf" in node:
        [kind] = [option for option in node["anyOf"] if option != {"type": "null"}]
        return _slim({**kind, **{k: v for k, v in node.items() if k != "anyOf"}}, definitions)
    kept: dict[str, Any] = {}
    for key, value in node.items():
        if key == "properties":
            kept[key] = {name: _slim(part, definitions) for name, part in value.items()}
        elif key not in _NOISE | {"$ref", "$defs"} and not (
            key == "default" and value in (None, "", [])
        ):
            kept[key] = _slim(value, definitions)
    return kept


def merge(*schemas: dict[str, Any]) -> dict[str, Any]:
    """One flat object that each of `schemas` fits: all properties, required only what all require."""
    properties: dict[str, Any] = {}
    for schema in schemas:
        for name, part in slim(schema)["properties"].items():
            known = properties.setdefault(name, part)
            if "const" in part and part != known:
                values = known.get("enum", [known.get("const")]) + [part["const"]]
                properties[name] = {"type": "string", "enum": values}
    required = [name for name in properties if all(name in s.get("required", ()) for s in schemas)]
    return {"type": "object", "properties": properties, "required": required}
