"""`textrawl toolsets`: the groups of tools, and what they cost."""

from dataclasses import asdict, dataclass
from typing import Annotated

import typer
from rich.table import Table

from textrawl.cli.console import open_console, write_json
from textrawl.cli.foreground import run_foreground
from textrawl.server.definition_costs import ToolCost, count_definitions
from textrawl.server.server import create_server
from textrawl.settings import Settings, read_settings
from textrawl.toolsets.catalogue import EVERY, choose_toolsets, find_toolsets
from textrawl.wire.token_counter import choose_counter


@dataclass(frozen=True)
class _ToolsetCost:
    """A toolset, whether it is in TEXTRAWL_TOOLSETS, and the tokens of its definitions."""

    name: str
    offered: bool
    purpose: str
    tokens: int
    tools: list[ToolCost]


def toolsets(
    as_json: Annotated[bool, typer.Option("--json", help="Write JSON.")] = False,
) -> None:
    """List the toolsets that a server can offer.

    TEXTRAWL_TOOLSETS chooses which ones it offers; over HTTP each of these also has the path
    /mcp/t/NAME. The tokens are those of the tools' definitions, which every conversation pays for.
    """
    settings = read_settings()
    costs = run_foreground(lambda: _count(settings))
    if as_json:
        write_json([asdict(toolset) for toolset in costs])
    else:
        open_console().print(_draw(costs))


async def _count(settings: Settings) -> list[_ToolsetCost]:
    changes = {"toolsets": [EVERY], "read_only": False, "enable_memory": True}
    server = create_server(settings.model_copy(update=changes))
    introduction = await count_definitions(server, choose_counter())
    offered = {toolset.name for toolset in choose_toolsets(settings.toolsets)}
    purposes = {name: toolset.purpose for name, toolset in find_toolsets().items()}
    return [
        _ToolsetCost(cost.name, cost.name in offered, purposes[cost.name], cost.tokens, cost.tools)
        for cost in introduction.toolsets
    ]


def _draw(costs: list[_ToolsetCost]) -> Table:
    table = Table()
    for name in ("toolset", "offered"):
        table.add_column(name)
    for name in ("tools", "tokens"):
        table.add_column(name, justify="right")
    table.add_column("what it is for")
    for toolset in costs:
        offered = "yes" if toolset.offered else "no"
        table.add_row(
            toolset.name, offered, str(len(toolset.tools)), f"{toolset.tokens:,}", toolset.purpose
        )
    return table
