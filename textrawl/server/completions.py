"""Completion of the arguments of prompts and of the variables of resource templates."""

from mcp import MCPError
from mcp.types import (
    INVALID_PARAMS,
    CompleteRequestParams,
    CompleteResult,
    Completion,
    ResourceTemplateReference,
)

from textrawl.server.prompts import Prompts
from textrawl.server.resources import Resources
from textrawl.toolsets.call import Call
from textrawl.toolsets.toolset import Complete

_MOST = 100  # values of one answer, as the protocol demands
_LONGEST = 200  # characters of a beginning: no name is longer


class Completions:
    """The values that a caller can choose for an argument. Callers get only what they can read."""

    def __init__(self, resources: Resources, prompts: Prompts) -> None:
        self._resources = resources
        self._prompts = prompts

    async def complete(self, call: Call, asked: CompleteRequestParams) -> CompleteResult:
        """Return at most 100 values that fit what was typed. Raises MCPError (-32602)."""
        complete = self._find(asked)
        values = list[str]()
        if complete is not None and len(asked.argument.value) <= _LONGEST:
            values = list(await complete(call, asked.argument.value.replace("\0", "")))
        return CompleteResult(
            completion=Completion(values=values[:_MOST], has_more=len(values) > _MOST)
        )

    def _find(self, asked: CompleteRequestParams) -> Complete | None:
        """Return the function for an argument, or None if it has no values to choose from."""
        name = asked.argument.name
        if isinstance(asked.ref, ResourceTemplateReference):
            variables = self._resources.find_completions(asked.ref.uri)
        else:
            spec = self._prompts.find(asked.ref.name)
            variables = {one.name: one.complete for one in spec.arguments}
        if name not in variables:
            known = ", ".join(variables) or "none"
            raise MCPError(INVALID_PARAMS, f"Unknown argument {name[:64]}. Known: {known}")
        return variables[name]
