"""The MCP prompts of some toolsets, which clients show as slash commands."""

from collections.abc import Collection, Iterable, Mapping, Sequence

from mcp import MCPError
from mcp.types import (
    INVALID_PARAMS,
    GetPromptResult,
    Prompt,
    PromptArgument,
    PromptMessage,
    TextContent,
)

from textrawl.toolsets.call import Call
from textrawl.toolsets.toolset import Argument, PromptSpec, Toolset
from textrawl.values.text import clean_name


class Prompts:
    """The prompts of some toolsets. A prompt that needs a tool is left out without this tool."""

    def __init__(self, toolsets: Iterable[Toolset], tools: Collection[str]) -> None:
        specs = [spec for toolset in toolsets for spec in toolset.prompts]
        self._specs = {spec.name: spec for spec in specs if spec.tool is None or spec.tool in tools}

    def __bool__(self) -> bool:
        """Return whether there are prompts."""
        return bool(self._specs)

    def find(self, name: str) -> PromptSpec:
        """Return the prompt. Raises MCPError (-32602)."""
        if name not in self._specs:
            known = ", ".join(self._specs)
            raise MCPError(INVALID_PARAMS, f"Unknown prompt: {name[:64]}. Known: {known}")
        return self._specs[name]

    def list(self) -> Sequence[Prompt]:
        """Return the prompts with their arguments."""
        return [_describe(spec) for spec in self._specs.values()]

    async def write(
        self, call: Call, name: str, arguments: Mapping[str, str] | None
    ) -> GetPromptResult:
        """Return the text of a prompt as a message of the user. Raises MCPError (-32602)."""
        spec = self.find(name)
        content = TextContent(text=await spec.write(call, _check(spec, arguments or {})))
        message = PromptMessage(role="user", content=content)
        return GetPromptResult(description=spec.description, messages=[message])


def _describe(spec: PromptSpec) -> Prompt:
    arguments = [
        PromptArgument(name=one.name, description=one.description, required=one.required)
        for one in spec.arguments
    ]
    return Prompt(
        name=spec.name,
        title=spec.title,
        description=spec.description,
        arguments=arguments or None,
    )


def _check(spec: PromptSpec, arguments: Mapping[str, str]) -> dict[str, str]:
    """Return the arguments without empty ones. Raises MCPError (-32602)."""
    known = {one.name: one for one in spec.arguments}
    if unknown := [name for name in arguments if name not in known]:
        names = ", ".join(known) or "none"
        raise MCPError(
            INVALID_PARAMS, f"{spec.name}: unknown argument {unknown[0][:64]}. Known: {names}"
        )
    cleaned = {name: _clean(spec, known[name], text) for name, text in arguments.items()}
    given = {name: text for name, text in cleaned.items() if text}
    for argument in spec.arguments:
        if argument.required and argument.name not in given:
            raise MCPError(
                INVALID_PARAMS,
                f"{spec.name}: the argument {argument.name} is missing. "
                f"Give it: {argument.description}",
            )
    return given


def _clean(spec: PromptSpec, argument: Argument, text: str) -> str:
    cleaned = clean_name(text)
    if len(cleaned) > argument.longest:
        raise MCPError(
            INVALID_PARAMS,
            f"{spec.name}: the argument {argument.name} is too long. "
            f"Give at most {argument.longest} characters",
        )
    return cleaned
