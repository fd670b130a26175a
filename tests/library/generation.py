"""The module `textrawl_client.schemas`, made from output schemas of tools and operations.

.venv/bin/python -m tests.library.generation
"""

import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel, TypeAdapter
from pydantic.alias_generators import to_camel, to_snake

from tests.support.pages import ROOT
from textrawl.memory.commands import OPERATIONS
from textrawl.tools.catalogue import find_toolsets

MODULE = ROOT / "packages/client/textrawl_client/schemas.py"
HEADER = '''"""The results of calls, made from the output schemas of tools and operations.

A script makes this module: `.venv/bin/python -m tests.library.generation`.
"""

from datetime import datetime
from typing import Any

from pydantic import AliasChoices, BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel


class Result(BaseModel):
    """A result, or a part of one. It cannot be changed."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, frozen=True)
'''
_RENAMED = {"as": "given_type"}
_PLAIN = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}
_NAMES = {
    "SimilarPart": "Similar",
    "EndPart": "End",
    "EntityPart": "EntityHead",
    "RevisedPart": "Revised",
    "ProposedPart": "Proposed",
}
_COSTS = frozenset({"success", "message", "mode", "truncated", "dropped", "usedTokens", "degraded"})
_TOLD = ("    cleaned: int = 0", "    secrets: tuple[str, ...] = ()")  # Reply.notice has them


@dataclass(frozen=True)
class Made:
    """A class to make: its name, its sentence, and the parts of schemas whose fields it has.

    `names` has other names of fields. The keys of a name are alternatives, with | between them. The
    fields in `sure` have a value in each answer to a program.
    """

    name: str
    sentence: str
    parts: tuple[tuple[Any, str], ...]
    names: Mapping[str, str] = field(default_factory=dict[str, str])
    left_out: frozenset[str] = _COSTS
    sure: frozenset[str] = frozenset()
    more: tuple[str, ...] = ()


def _of_tool(toolset: str, tool: str, reply: str) -> type[BaseModel]:
    replies = find_toolsets()[toolset].every_tool[tool].replies
    return next(one for one in replies if one.__name__ == reply)


def _list_found() -> Iterator[Made]:
    search = _of_tool("memory", "query_memory", "SearchReply")
    yield Made(
        "Fact",
        "A fact that answers a question. `type` is the type of its entity.",
        ((search, "FactPart"), (search, "FoundEntity")),
        {"entityName": "entity", "entityType": "type"},
        frozenset({"memories"}),
        frozenset({"id", "createdAt", "saidAt", "space"}),
    )
    yield Made(
        "StoredFact",
        "A fact with this id, valid or ended. `wrong` is the reason if somebody corrected it.",
        ((OPERATIONS["get_fact"].result, "FetchedFact"),),
        {"entity_name": "entity", "entity_type": "type"},
    )
    yield Made(
        "Entity",
        "An entity with its newest facts and its relations.",
        ((_of_tool("memory", "query_memory", "EntityReply"), ""),),
        {"observations": "facts", "totalObservations": "total_facts"},
        _COSTS | {"found", "like"},
        frozenset({"entity"}),
    )
    yield Made(
        "EntityPage",
        "Entities of a list, and the number of all that match.",
        ((OPERATIONS["list_entities"].result, "EntityPage"),),
    )


def _list_stored() -> Iterator[Made]:
    yield Made(
        "Item",
        "A value under a namespace and a key. `version` counts its changes from 1.",
        (
            (_of_tool("items", "search_items", "ItemsReply"), "FoundPart"),
            (_of_tool("items", "item_history", "HistoryReply"), "VersionPart"),
        ),
    )
    yield Made(
        "JournalEntry",
        "An entry of the journal, with the beginning of its text.",
        ((_of_tool("journal", "memory_list", "EntriesReply"), "ListedPart"),),
    )


def _list_changed() -> Iterator[Made]:
    yield Made(
        "Remembered",
        "A stored fact. `duplicate`: the entity had it. `proposal_id`: it waits for a review.",
        ((_of_tool("memory", "remember_fact", "RememberReply"), ""),),
        {"observationId|proposalId": "id", "entityName": "entity", "entityType": "type"},
        sure=frozenset({"entityName", "entityType"}),
        more=_TOLD,
    )
    yield Made(
        "Related",
        "A relation that the memory has now, or that the call ended.",
        ((_of_tool("memory", "relate_entities", "RelateReply"), ""),),
        {"relationId|proposalId": "id"},
        sure=frozenset({"fromEntity", "toEntity"}),
        more=_TOLD,
    )
    yield Made(
        "Forgotten",
        "A deletion, or its preview, which has no id but numbers and the texts of newest facts.",
        ((_of_tool("memory", "forget_entity", "ForgetReply"), ""),),
        {"deletedEntityId|deletedObservationId|deletedRelationId": "id"},
        _COSTS | {"dryRun"},
    )
    yield Made(
        "Undone",
        "An undo in a space: how many items it changed, for each action.",
        ((OPERATIONS["undo_event"].result, "UndoRow"),),
        left_out=frozenset(),
    )


def write_module() -> str:
    """Return the text of the module."""
    words = [sys.executable, "-m", "ruff", "format", "--stdin-filename", MODULE, "-"]
    return subprocess.run(
        words, input=_write_classes(), capture_output=True, text=True, check=True, cwd=ROOT
    ).stdout


def _write_classes() -> str:
    written = dict[str, str]()
    for made in (*_list_found(), *_list_stored(), *_list_changed()):
        fields = dict[str, str]()
        for model, part in made.parts:
            schema = _read_schema(model)
            chosen = schema["$defs"].get(part, schema) if part else schema
            for line, key in _write_fields(made, chosen, schema["$defs"], written):
                fields.setdefault(key, line)
        written[made.name] = _write_class(made.name, made.sentence, [*fields.values(), *made.more])
    return "\n\n".join([HEADER, *written.values()]).rstrip() + "\n"


def _read_schema(model: Any) -> dict[str, Any]:
    if isinstance(model, TypeAdapter):
        schema: dict[str, Any] = model.json_schema(mode="serialization")
    else:
        schema = model.model_json_schema(mode="serialization")
    schema.setdefault("$defs", {})
    return schema


def _write_fields(
    made: Made, schema: Mapping[str, Any], parts: Mapping[str, Any], written: dict[str, str]
) -> Iterator[tuple[str, str]]:
    """Yield the lines of fields, the required ones first, with their keys."""
    optional = list[tuple[str, str]]()
    others = {key for keys in made.names for key in keys.split("|")[1:]} - {"proposalId"}
    for key, value in schema["properties"].items():
        if key in made.left_out | others:
            continue
        keys = next((keys for keys in made.names if keys.split("|")[0] == key), key)
        name = (_RENAMED | dict(made.names)).get(keys, to_snake(key))
        kind, default = _write_type(value, parts, written)
        if key in made.sure:
            kind, default = kind.removesuffix(" | None"), ""
        if "|" in keys and made.name != "Forgotten":
            kind, default = "str", ""
        line = f"    {name}: {kind}{_write_value(name, keys, default)}"
        if default:
            optional.append((line, key))
        else:
            yield line, key
    yield from optional


def _write_value(name: str, keys: str, default: str) -> str:
    """Return what follows the annotation of a field."""
    given = [f"default={default}"] if default else []
    if "|" in keys:
        choices = ", ".join(f'"{key}"' for key in keys.split("|"))
        return f" = Field({', '.join([*given, f'validation_alias=AliasChoices({choices})'])})"
    if keys not in (name, to_camel(name)):
        return f" = Field({', '.join([*given, f'alias={keys!r}'])})"
    return f" = {default}" if default else ""


def _write_type(
    schema: Mapping[str, Any], parts: Mapping[str, Any], written: dict[str, str]
) -> tuple[str, str]:
    """Return the annotation of a field, and its default or an empty text."""
    if "anyOf" not in schema:
        return _write_kind(schema, parts, written), ""
    chosen = [part for part in schema["anyOf"] if part.get("type") != "null"]
    kinds = list(dict.fromkeys(_write_kind(part, parts, written) for part in chosen))
    if kinds == ["bool"]:
        return "bool", "False"
    if kinds[0].startswith("tuple["):
        return kinds[0], "()"
    return " | ".join([*kinds, "None"]), "None"


def _write_kind(
    schema: Mapping[str, Any], parts: Mapping[str, Any], written: dict[str, str]
) -> str:
    if "$ref" in schema:
        return _write_part(schema["$ref"].rpartition("/")[2], parts, written)
    if schema.get("format") == "date-time":
        return "datetime"
    if schema.get("type") == "array":
        return f"tuple[{_write_kind(schema['items'], parts, written)}, ...]"
    if schema.get("type") == "object":
        inner: Any = schema.get("additionalProperties") or {}
        return f"dict[str, {_PLAIN.get(inner.get('type') if inner is not True else '', 'Any')}]"
    return _PLAIN.get(schema.get("type", ""), "Any")


def _write_part(name: str, parts: Mapping[str, Any], written: dict[str, str]) -> str:
    """Write the class of a part, and return its name."""
    shown = _NAMES.get(name, name)
    if shown not in written:
        schema = parts[name]
        made = Made(shown, schema["description"].partition("\n")[0], ())
        lines = [line for line, _ in _write_fields(made, schema, parts, written)]
        written[shown] = _write_class(shown, made.sentence, lines)
    return shown


def _write_class(name: str, sentence: str, lines: list[str]) -> str:
    return f'class {name}(Result):\n    """{sentence}"""\n\n' + "\n".join(lines) + "\n"


if __name__ == "__main__":
    MODULE.write_text(write_module(), encoding="utf-8")
