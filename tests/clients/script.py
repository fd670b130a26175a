"""What the model of a program does here: the same calls in the same order, whoever asks."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

Json = dict[str, Any]

FIVE = ("query_memory", "remember_fact", "build_knowledge", "relate_entities", "forget_entity")


@dataclass(frozen=True)
class Step:
    """A call of a tool. Its name is what the result is kept under."""

    name: str
    tool: str
    arguments: Json


def _fact(entity: str, observation: str) -> Json:
    return {"entityName": entity, "entityType": "person", "observation": observation}


def _relation(entity: str) -> Json:
    return {"fromEntity": "Ada Berg", "relation": "knows", "toEntity": entity}


SCRIPT = (
    Step("remember", "remember_fact", _fact("Ada Berg", "leads QA at Acme")),
    Step("build", "build_knowledge", {
        "facts": [_fact("Doomed", "likes tea"), _fact("Spare", "sings")],
        "relations": [_relation("Doomed")],
    }),
    Step("relate", "relate_entities", _relation("Spare")),
    Step("search", "query_memory", {"mode": "search", "query": "who leads QA?"}),
    Step("entity", "query_memory", {"mode": "entity", "entityName": "Ada Berg"}),
    Step("mistake", "query_memory", {"mode": "search"}),
    Step("ask", "forget_entity", {"entityName": "Doomed"}),
    Step("insist", "forget_entity", {"entityName": "Doomed", "confirm": True}),
    Step("confirm", "forget_entity", {"entityName": "Spare", "confirm": True}),
    Step("list", "query_memory", {"mode": "list"}),
)  # fmt: skip


@dataclass(frozen=True)
class Turn:
    """One request of a program to its model.

    `tools` are the schemas of parameters by the program's own name of the tool. `results` is what
    the program passes on of the calls that were answered so far, as text, by the id of the call.
    """

    tools: Mapping[str, Json]
    results: Mapping[str, str]
    body: Json

    @property
    def ours(self) -> dict[str, str]:
        """The program's name of each of the five tools that the model may call."""
        names = {*self.tools, *self._read_found()}
        return {tool: name for tool in FIVE for name in names if name.endswith(tool)}

    @property
    def looks(self) -> list[str]:
        """The ids of calls that looked for tools."""
        return [known for known in self.results if known.startswith(_LOOK)]

    def _read_found(self) -> set[str]:
        """Names in the results of looking for tools: Qwen Code declares them there alone."""
        found = " ".join(self.results[known] for known in self.looks)
        return {name for name in re.findall(r"\w+", found) if name.startswith("mcp__")}


@dataclass(frozen=True)
class Call:
    """The model calls a tool, by the program's name of it."""

    id: str
    name: str
    arguments: Json


Move = Call | str
"""What the model does next: a call, or text, which ends the turn."""

DONE, MISSING = "The script is played.", "The tools are missing."
_LOOK = "look"
_LOOKS = ("ToolSearch", "tool_search")  # tools of programs that show others when asked for
_MOST_LOOKS = 2


def choose_move(turn: Turn, script: Sequence[Step]) -> Move:
    """Return the first call of the script that has no result yet."""
    if not turn.tools:
        return "A title"  # some programs ask for one beside the conversation
    ours = turn.ours
    if len(ours) < len(FIVE):
        return _look_for_tools(turn)
    for step in script:
        if step.name not in turn.results:
            name = ours[step.tool]
            return Call(step.name, name, step.arguments | _fill(turn.tools.get(name, {})))
    return DONE


def _look_for_tools(turn: Turn) -> Move:
    wanted = ",".join(f"mcp__textrawl__{tool}" for tool in FIVE)
    for name in _LOOKS:
        if name in turn.tools and len(turn.looks) < _MOST_LOOKS:
            return Call(f"{_LOOK}{len(turn.looks)}", name, {"query": f"select:{wanted}"})
    return MISSING


def _fill(schema: Json) -> Json:
    """Return what a model sets because the program adds it, as Gemini CLI wait_for_previous."""
    return {name: True for name in schema.get("properties", {}) if "_" in name}


def read_list(value: Any) -> list[Json]:
    """Return a list of objects; anything else is an empty one."""
    return cast("list[Json]", value) if isinstance(value, list) else []


def write_content(content: Any) -> str:
    """Return what a message holds as text: pieces of text as such, anything else as JSON."""
    if isinstance(content, str):
        return content
    parts = read_list(content)
    if parts and all("text" in part for part in parts):
        return "\n".join(part["text"] for part in parts)
    return json.dumps(content, ensure_ascii=False)


def flatten(body: object) -> str:
    """Return a body as text in which JSON within a string reads as it does outside."""
    return json.dumps(body, ensure_ascii=False).replace("\\n", "\n").replace("\\", "")
