"""Toolsets: groups of tools that a server offers, each a module of this package."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from mcp.server.mcpserver.context import Context
from mcp.server.mcpserver.tools import Tool
from mcp.types import CallToolResult, ToolAnnotations

from textrawl.memory import Memory, Origin
from textrawl.recalls import Recall, Recalls
from textrawl.replies import Renderer, Reply
from textrawl.schemas import merge, shorten_items, slim
from textrawl.texts import clean_name

READS = ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
WRITES = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
DELETES = ToolAnnotations(
    read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False
)


class App:
    """What a tool has at hand while the server runs; without `recalls` none are noted."""

    def __init__(
        self, memory: Memory, renderer: Renderer, author: str, recalls: Recalls | None = None
    ) -> None:
        self.memory = memory
        self.render = renderer.render
        self._renderer = renderer
        self._recalls = recalls
        self._author = author
        self._author_id: int | None = None

    async def describe_origin(self, ctx: "Context[App]", tool: str) -> Origin:
        """Who calls `tool`, as every write records it."""
        if self._author_id is None:
            self._author_id = await self.memory.register_author(self._author)
        return Origin(self._author_id, _name_client(ctx), tool)

    def recall(
        self, ctx: "Context[App]", mode: str, reply: Reply, max_tokens: int | None
    ) -> CallToolResult:
        """The result that tells what was recalled in `mode`, its cost noted."""
        written = self._renderer.write(reply, max_tokens)
        if self._recalls is not None:
            recall = Recall(
                client=_name_client(ctx), mode=mode,
                format=self._renderer.format, structured=self._renderer.structured,
                tokens=written.tokens, budget=written.budget, items=written.items,
                dropped=written.dropped,
            )  # fmt: skip
            self._recalls.add(recall)
        return written.result


def _name_client(ctx: Context[App]) -> str | None:
    """Name and version of the client, as far as it told them."""
    params = ctx.session.client_params
    if params is None:
        return None
    return clean_name(f"{params.client_info.name} {params.client_info.version}"[:200])


@dataclass(frozen=True)
class ToolSpec:
    """A tool as it is declared: `required` adds to the schema what the server can still infer."""

    function: Callable[..., Any]
    annotations: ToolAnnotations
    replies: tuple[type[Reply], ...]
    required: tuple[str, ...]

    def build(self, *, structured: bool) -> Tool:
        """The tool as the SDK serves it, its schemas slimmed, unknown arguments refused."""
        tool = Tool.from_function(
            self.function,
            title=self.function.__name__.replace("_", " ").capitalize(),
            description=" ".join((self.function.__doc__ or "").split()),
            annotations=self.annotations,
            structured_output=False,
        )
        arguments = tool.fn_metadata.arg_model
        arguments.model_config["extra"] = "forbid"
        arguments.model_rebuild(force=True)
        tool.parameters = shorten_items(slim(tool.parameters))
        if self.required:
            tool.parameters["required"] = [*self.required, *tool.parameters.get("required", [])]
        if structured:
            schemas = [reply.model_json_schema(mode="serialization") for reply in self.replies]
            tool.fn_metadata.output_schema = merge(*schemas)
        return tool


@dataclass(frozen=True)
class Toolset:
    """A named group of tools, listed in the `order` given.

    `purpose` is its sentence in the documentation.
    """

    name: str
    purpose: str
    order: tuple[str, ...]
    _specs: dict[str, ToolSpec] = field(default_factory=dict[str, ToolSpec])

    @property
    def tools(self) -> dict[str, ToolSpec]:
        """Its tools by name."""
        return {name: self._specs[name] for name in self.order}

    def tool(
        self, annotations: ToolAnnotations, *replies: type[Reply], required: tuple[str, ...] = ()
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Registers a function as a tool that answers one of `replies`."""

        def register(function: Callable[..., Any]) -> Callable[..., Any]:
            self._specs[function.__name__] = ToolSpec(function, annotations, replies, required)
            return function

        return register


def find_toolsets() -> dict[str, Toolset]:
    """Every toolset by name."""
    from textrawl.toolsets.memory import memory  # noqa: PLC0415 - it imports this package

    return {toolset.name: toolset for toolset in (memory,)}
