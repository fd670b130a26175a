"""`textrawl toolsets`: which groups of tools there are, and what they cost."""

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
class _Offer:
    """A toolset, whether TOOLSETS names it, and what its definitions cost in tokens."""

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
    offers = run_foreground(lambda: _count(settings))
    if as_json:
        write_json([asdict(offer) for offer in offers])
    else:
        open_console().print(_draw(offers))


async def _count(settings: Settings) -> list[_Offer]:
    changes = {"toolsets": [EVERY], "read_only": False, "enable_memory": True}
    server = create_server(settings.model_copy(update=changes))
    told = await count_definitions(server, choose_counter())
    offered = {toolset.name for toolset in choose_toolsets(settings.toolsets)}
    known = find_toolsets()
    return [
        _Offer(cost.name, cost.name in offered, known[cost.name].purpose, cost.tokens, cost.tools)
        for cost in told.toolsets
    ]


def _draw(offers: list[_Offer]) -> Table:
    table = Table()
    for name in ("toolset", "offered"):
        table.add_column(name)
    for name in ("tools", "tokens"):
        table.add_column(name, justify="right")
    table.add_column("what it is for")
    for offer in offers:
        offered = "yes" if offer.offered else "no"
        table.add_row(
            offer.name, offered, str(len(offer.tools)), f"{offer.tokens:,}", offer.purpose
        )
    return table
