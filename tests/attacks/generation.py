"""What an attacker asks a server for, made from its own lists of what can be asked.

The arguments come from the schemas of tools and operations, and their values from everything that
somebody could have heard of another space.
"""

import random
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import quote

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from tests.attacks.site import GRAPHS, SPACES
from textrawl.memory.commands import OPERATIONS
from textrawl.tools.catalogue import find_toolsets
from textrawl.tools.toolset import Collection, PromptSpec

Schema = Mapping[str, Any]
Values = st.SearchStrategy[Any]


class Attempt(NamedTuple):
    """A request that reaches for a space. `path` is the place of the server that it asks."""

    method: str
    params: dict[str, Any]
    path: str


@dataclass(frozen=True)
class Loot:
    """Everything an attacker may have heard of another space, without its secret."""

    space: str
    facts: list[str]  # with the statements of relations, which have the ids of the relations
    numbers: list[int]
    entities: list[str]
    sources: list[str]  # of its graphs, also of the sensitive one
    proposals: list[str]

    @property
    def canary(self) -> str:
        """Name of an entity of the space."""
        return f"Canary {self.space}"

    @property
    def ids(self) -> list[str]:
        """Ids as tools write them."""
        known = [*self.facts, *self.entities, *self.sources, *self.proposals]
        kinds = [f"{kind}:{one}" for kind in ("fact", "entity", "document") for one in known]
        snapshot = f"custom/{self.space}_2026-05-12T09-30-00-000Z"
        return [
            *known,
            *(one[:8] for one in known),
            *(f"{one}:1" for one in known),
            *kinds,
            snapshot,
        ]

    @property
    def texts(self) -> dict[str, list[str]]:
        """Texts by the names of parameters that they suit; those of "" suit all."""
        space, canary = self.space, self.canary
        graphs = [f"{space}-{kind}" for kind in GRAPHS]
        day, names = "2026-05-12", ["Ada", canary, f"{canary.lower()} ", canary[:-1]]
        questions = [
            f"canary {space}",
            "what hides the vault?",
            f"~s3 canary | {space}",
            canary,
            "%",
        ]
        return {
            r"id$|ids$|^replaces$|^fact$|cursor|fromId|toId": self.ids,
            r"space|graph|engram|instance|^source$|^target$": [space, *graphs, f"{space} graph"],
            r"date|since|until|as_?of|at$|valid": [day, "2020-01-01", "2099-01-01T00:00:00Z"],
            r"file|category|slug|section|path": [f"{space}.md", "custom", space, "../secret"],
            r"name|label|entity|alias|other|from|to": names,
            r"namespace|prefix|suffix|key": ["vault", space, "secret", "*"],
            r"query|question|text|message|content": questions,
            r"granularity": ["daily", "significant", "weekly"],
            "": ["person", "knows", "hides", "mine", "", *self.ids[:9], *names, *questions],
        }


def build_values(schema: Schema, loot: Loot, name: str = "") -> Values:
    """Return values that a JSON schema without references allows, for the parameter `name`."""
    if "anyOf" in schema:
        return st.one_of([build_values(one, loot, name) for one in schema["anyOf"]])
    if "const" in schema or "enum" in schema:
        return st.sampled_from(schema.get("enum", [schema.get("const")]))
    match schema.get("type"):
        case "boolean" | "null" | "integer" | "number" as kind:
            own = {"boolean": st.booleans(), "null": st.none()}
            return own[kind] if kind in own else _build_numbers(schema, loot)
        case "array":
            item = build_values(schema["items"], loot, name)
            return st.lists(item, min_size=schema.get("minItems", 0), max_size=3)
        case "object":
            return _build_object(schema, loot)
        case kind:
            texts = _build_texts(loot, name)
            return texts if kind else texts | st.integers(0, 9) | st.just({"of": loot.space})


def _build_numbers(schema: Schema, loot: Loot) -> Values:
    least, most = schema.get("minimum", 0), schema.get("maximum")
    return st.sampled_from([least, most] if most else [least, 9, *loot.numbers, 2**40])


def _build_texts(loot: Loot, name: str) -> Values:
    suited = [
        texts for pattern, texts in loot.texts.items() if pattern and re.search(pattern, name)
    ]
    own = suited[0] if suited else loot.texts[""]
    return st.sampled_from([*own, *own, *loot.texts[""][:3]])


def _build_object(schema: Schema, loot: Loot) -> Values:
    parts: Schema = schema.get("properties", {})
    fields = {name: build_values(part, loot, name) for name, part in parts.items()}
    needed = {name: fields[name] for name in schema.get("required", ())}
    others = {name: part for name, part in fields.items() if name not in needed}
    return st.fixed_dictionaries(needed, optional=others)


def draw(named: Iterable[tuple[str, Values]], each: int) -> list[tuple[str, Any]]:
    """Return up to `each` values of each strategy, with its name, in a mixed order."""
    drawn = [(name, value) for name, values in named for value in _draw(values, each)]
    random.Random(0).shuffle(drawn)  # noqa: S311 - no secret
    return drawn


def _draw(values: Values, count: int) -> list[Any]:
    drawn = list[Any]()

    @settings(max_examples=count, phases=[Phase.generate], database=None)
    @given(values)
    def keep(value: object) -> None:
        drawn.append(value)

    keep()
    return drawn


def list_tools(loot: Loot) -> dict[str, Values]:
    """Return arguments for each tool of each toolset."""
    specs = (spec for toolset in find_toolsets().values() for spec in toolset.every_tool.values())
    return {
        spec.name: build_values(spec.build(structured=False).parameters, loot) for spec in specs
    }


def list_attempts(loot: Loot) -> dict[str, st.SearchStrategy[Attempt]]:
    """Return attempts at all that a server answers, by the name of what is asked for."""
    toolsets = find_toolsets().values()
    others = [loot.space, "default", "%2e%2e", *(f"{s}-{kind}" for s in SPACES for kind in GRAPHS)]
    path = st.sampled_from([*["/mcp"] * 16, *(f"/mcp/{space}" for space in others)])
    found = {
        name: st.builds(_call_tool, st.just(name), given, path)
        for name, given in list_tools(loot).items()
    }
    for name, operation in OPERATIONS.items():
        given = build_values(operation.arguments.model_json_schema(), loot)
        places = st.sampled_from(["/mcp/t/commands", f"/mcp/t/commands/{loot.space}"])
        found[f"command {name}"] = st.builds(Attempt, st.just(name), given, places)
    for toolset in toolsets:
        for document in toolset.documents:
            found[document.uri] = st.builds(_read, st.just(document.uri), path)
        for collection in toolset.collections:
            found[collection.template] = _ask_for(collection, loot, path)
        for prompt in toolset.prompts:
            found[f"prompt {prompt.name}"] = _ask_to_write(prompt, loot, path)
    return found


def _call_tool(name: str, arguments: dict[str, Any], path: str) -> Attempt:
    return Attempt("tools/call", {"name": name, "arguments": arguments}, path)


def _read(uri: str, path: str) -> Attempt:
    return Attempt("resources/read", {"uri": uri}, path)


def _ask_for(collection: Collection, loot: Loot, path: Values) -> st.SearchStrategy[Attempt]:
    """Return addresses of a template, and completions of its variables."""
    names = re.findall(r"\{(\w+)\}", collection.template)
    variables = st.fixed_dictionaries({name: _build_texts(loot, name) for name in names})

    def read(values: dict[str, str], path: str) -> Attempt:
        return _read(collection.template.format(**{k: quote(v) for k, v in values.items()}), path)

    reference = {"type": "ref/resource", "uri": collection.template}
    return st.builds(read, variables, path) | _complete(reference, names, loot, path)


def _ask_to_write(prompt: PromptSpec, loot: Loot, path: Values) -> st.SearchStrategy[Attempt]:
    """Return arguments of a prompt, and completions of them."""
    names = [argument.name for argument in prompt.arguments]
    arguments = st.fixed_dictionaries({name: _build_texts(loot, name) for name in names})

    def get(arguments: dict[str, str], path: str) -> Attempt:
        return Attempt("prompts/get", {"name": prompt.name, "arguments": arguments}, path)

    reference = {"type": "ref/prompt", "name": prompt.name}
    written = st.builds(get, arguments, path)
    return written | _complete(reference, names, loot, path) if names else written


def _complete(
    reference: dict[str, str], names: Sequence[str], loot: Loot, path: Values
) -> st.SearchStrategy[Attempt]:
    def complete(name: str, typed: str, path: str) -> Attempt:
        params = {"ref": reference, "argument": {"name": name, "value": typed}}
        return Attempt("completion/complete", params, path)

    typed = st.sampled_from(["", "c", "v", loot.space, loot.canary[:-1]])
    return st.builds(complete, st.sampled_from(names), typed, path)
