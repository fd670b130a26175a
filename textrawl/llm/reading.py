"""JSON in the answer of an LLM. Small models put prose and code fences around it."""

import json
import re
from typing import Any, cast

from pydantic import BaseModel
from pydantic_core import from_json

_THOUGHTS = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)
_DECODER = json.JSONDecoder()
_MOST_STARTS = 20  # braces of prose before the object
_LIMITS = {"minLength", "maxLength", "pattern", "minimum", "maximum", "minItems", "maxItems"}
_UNSUPPORTED = {*_LIMITS, "default", "format", "title"}


def drop_thoughts(text: str) -> str:
    """Return an answer without the thoughts that some models write before it."""
    return _THOUGHTS.sub("", text).strip()


def find_object(text: str) -> dict[str, Any] | None:
    """Return the JSON object in `text`, or None.

    Text before and after the object is ignored. If the object has no end, its brackets are closed.
    """
    text = text.rstrip("` \n")
    starts = [match.start() for match in re.finditer(r"\{", text)][:_MOST_STARTS]
    for start in starts:
        found = _decode(text, start)
        if found:
            return found
    return None


def _decode(text: str, start: int) -> dict[str, Any]:
    """Return the object that begins at `start`, or an empty one."""
    try:
        found, _ = _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        try:
            found = from_json(text[start:], allow_partial=True)
        except ValueError:
            return {}
    return cast("dict[str, Any]", found)


def write_schema(model: type[BaseModel]) -> dict[str, Any]:
    """Return the JSON schema of `model` in the form that providers accept.

    Every field is required, because small models omit all other fields. OpenAI refuses limits, so
    only `model` checks them.
    """
    return _require_all(model.model_json_schema())


def _require_all(node: Any) -> Any:
    if isinstance(node, list):
        return [_require_all(item) for item in cast("list[Any]", node)]
    if not isinstance(node, dict):
        return node
    schema = cast("dict[str, Any]", node)
    kept = {key: value for key, value in schema.items() if key not in _UNSUPPORTED}
    for group in ("properties", "$defs"):
        if group in schema:
            kept[group] = {name: _require_all(item) for name, item in schema[group].items()}
    for key in ("items", "anyOf"):
        if key in schema:
            kept[key] = _require_all(schema[key])
    if "properties" in schema:
        kept |= {"required": list(schema["properties"]), "additionalProperties": False}
    return kept
