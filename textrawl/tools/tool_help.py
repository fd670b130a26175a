"""The help of a tool: its description, its parameters in full, and more examples.

Descriptions are in every conversation and are short. The help is read when somebody needs it.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mcp.types import Tool

_FOLDER = Path(__file__).parent
_LIMITS = {
    "minimum": "at least {}",
    "maximum": "at most {}",
    "maxLength": "at most {} characters",
    "maxItems": "at most {} items",
}


def write_tool_help(tool: Tool) -> str:
    """Return the help of `tool` in Markdown."""
    sections = [f"# {tool.name}", tool.description or ""]
    if lines := list(_list_parameters(tool.input_schema)):
        sections.append("\n".join(["Parameters:", "", *lines]))
    return "\n\n".join([*sections, *_read_examples(tool.name)]) + "\n"


def _read_examples(name: str) -> list[str]:
    """Return the file about the tool in the folder of its toolset, if there is such a file."""
    found = _FOLDER.glob(f"*/help/{name}.md")
    return [file.read_text("utf-8").strip() for file in found]


def _list_parameters(schema: dict[str, Any], path: str = "") -> Iterator[str]:
    required = schema.get("required", [])
    for name, parameter in schema.get("properties", {}).items():
        yield f"- `{path}{name}` ({', '.join(_list_traits(name, parameter, required))})" + (
            f": {parameter['description']}" if "description" in parameter else ""
        )
        items = parameter.get("items", {})
        if "properties" in items:
            yield from _list_parameters(items, f"{path}{name}[].")


def _list_traits(name: str, parameter: dict[str, Any], required: list[str]) -> Iterator[str]:
    items = parameter.get("items", {})
    kind = parameter.get("type", "string")
    yield f"list of {items.get('type', 'string')}s" if kind == "array" else kind
    if name in required:
        yield "required"
    if values := parameter.get("enum") or items.get("enum"):
        yield f"one of {' / '.join(map(str, values))}"
    if "default" in parameter:
        yield f"default {json.dumps(parameter['default'])}"
    for key, words in _LIMITS.items():
        if key in parameter:
            yield words.format(parameter[key])
