"""`textrawl toolsets`: the groups of tools, and what they cost."""

from dataclasses import asdict, dataclass
from typing import Annotated

import typer
from rich.table import Table

from textrawl.cli.console import open_console, write_json
from textrawl.cli.foreground import run_foreground
from textrawl.server.definition_costs import ToolCost, ToolsetCost, count_definitions
from textrawl.server.server import create_server
from textrawl.settings import Settings, read_settings
from textrawl.toolsets.catalogue import TOOLSETS, choose_toolsets, find_toolsets
from textrawl.wire.token_counter import choose_counter


@dataclass(frozen=True)
class _ToolsetCost:
    """A toolset with the tokens of its definitions.

    `offered` is true if TEXTRAWL_TOOLSETS names the toolset.
    """

    name: str
    offered: bool
    purpose: str
    tokens: int
    tools: list[ToolCost]


def toolsets(
    as_json: Annotated[bool, typer.Option("--json", help="Write JSON.")] = False,
) -> None:
    """List the toolsets that a server can offer.

    TEXTRAWL_TOOLSETS names the toolsets that a server offers. Over HTTP each offered toolset also
    has the path /mcp/t/NAME. The table counts the tokens of the tools' definitions. Every
    conversation begins with these definitions.
    """
    settings = read_settings()
    costs = run_foreground(lambda: _count(settings))
    if as_json:
        write_json([asdict(toolset) for toolset in costs])
    else:
        open_console().print(_draw(costs))


async def _count(settings: Settings) -> list[_ToolsetCost]:
    changes = {"read_only": False, "enable_memory": True}
    counter = choose_counter()
    costs: list[ToolsetCost] = []
    for name in TOOLSETS:  # one server for each, because two toolsets can have a tool of one name
        server = create_server(settings.model_copy(update={"toolsets": [name], **changes}))
        costs += (await count_definitions(server, counter)).toolsets
    offered = {toolset.name for toolset in choose_toolsets(settings.toolsets)}
    purposes = {name: toolset.purpose for name, toolset in find_toolsets().items()}
    return [
        _ToolsetCost(cost.name, cost.name in offered, purposes[cost.name], cost.tokens, cost.tools)
        for cost in costs
    ]


def _draw(costs: list[_ToolsetCost]) -> Table:
    table = Table()
    for name in ("toolset", "offered"):
        table.add_column(name)
    for name in ("tools", "tokens"):
        table.add_column(name, justify="right")
    table.add_column("purpose")
    for toolset in costs:
        offered = "yes" if toolset.offered else "no"
        table.add_row(
            toolset.name, offered, str(len(toolset.tools)), f"{toolset.tokens:,}", toolset.purpose
        )
    return table
