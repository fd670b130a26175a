"""`textrawl space`: named memories."""

from dataclasses import asdict
from typing import Annotated

import typer

from textrawl.cli.administration import (
    Administration,
    administer,
    draw_rows,
    write_instant,
    write_plain,
)
from textrawl.cli.console import open_console, write_json, write_message
from textrawl.cli.progress import show_index_progress
from textrawl.cli.rows import FoundSpaceRow, MadeSpaceRow, SpaceListRow
from textrawl.embeddings.rows import KnownModelRow
from textrawl.errors import ArgumentInvalid
from textrawl.postgres.vector_indexes import drop_space_index, index_space
from textrawl.values.text import clean_name

space = typer.Typer(
    help="Create, list, rename and archive spaces: named memories.", no_args_is_help=True
)

Name = Annotated[str, typer.Argument(metavar="SPACE", parser=clean_name, help="Name of the space.")]
AsJson = Annotated[bool, typer.Option("--json", help="Write JSON.")]


@space.command()
def create(name: Name, as_json: AsJson = False) -> None:
    """Create a space. Nobody can use it until `textrawl grant` or `textrawl token` lets them."""

    async def work(memory: Administration) -> MadeSpaceRow:
        [row] = await memory.call("create_space", MadeSpaceRow, name=name)
        return row

    _report(administer(work), "Created the space {}", as_json=as_json)


@space.command(name="list")
def list_spaces(as_json: AsJson = False) -> None:
    """Show all spaces."""

    async def work(memory: Administration) -> list[SpaceListRow]:
        return await memory.call("list_spaces", SpaceListRow)

    rows = administer(work)
    if as_json:
        write_json([write_plain(asdict(row)) for row in rows])
        return
    columns = ("space", "facts", "members", "created", "archived", "own index")
    lines = [
        (
            row.name,
            f"{row.facts:,}",
            f"{row.members:,}",
            write_instant(row.created_at, ""),
            write_instant(row.archived_at, ""),
            row.own_index or "",
        )
        for row in rows
    ]
    open_console().print(draw_rows(columns, lines))


@space.command()
def rename(
    name: Name,
    new_name: Annotated[
        str, typer.Argument(metavar="NEW-NAME", parser=clean_name, help="The new name.")
    ],
    as_json: AsJson = False,
) -> None:
    """Rename a space. Addresses with the old name, such as /mcp/SPACE, stop working."""

    async def work(memory: Administration) -> MadeSpaceRow:
        [row] = await memory.call("rename_space", MadeSpaceRow, name=name, new_name=new_name)
        return row

    _report(administer(work), f"{name} is called {{}} now", as_json=as_json)


@space.command()
def archive(
    name: Name,
    restore: Annotated[bool, typer.Option("--restore", help="Reopen an archived space.")] = False,
    as_json: AsJson = False,
) -> None:
    """Close a space to everybody. Its content, grants and tokens are kept."""

    async def work(memory: Administration) -> MadeSpaceRow:
        [row] = await memory.call("archive_space", MadeSpaceRow, name=name, archived=not restore)
        return row

    message = "{} is open again" if restore else "Archived {}: nobody can read or write it"
    _report(administer(work), message, as_json=as_json)


@space.command()
def index(
    name: Name,
    drop: Annotated[bool, typer.Option("--drop", help="Delete the index.")] = False,
) -> None:
    """Build a vector index for one large space, while others read and write.

    It helps if the space holds tens of thousands of facts and is a small part of the memory.
    """

    async def work(memory: Administration) -> str:
        [row] = await memory.call("find_space", FoundSpaceRow, name=name)
        if drop:
            dropped = await drop_space_index(memory.conninfo, row.find_space)
            return f"{name} has no index of its own {'any more' if dropped else 'to delete'}."
        if not await memory.call("embedding_models", KnownModelRow):
            raise ArgumentInvalid("the first server that runs makes them", title="No vectors yet")
        with show_index_progress() as report:
            indexes = await index_space(memory.conninfo, row.find_space, report)
        outcome = f": {', '.join(indexes)}" if indexes else " already"
        return f"{name} has an index of its own{outcome}."

    write_message(administer(work, wait=None))


def _report(row: MadeSpaceRow, message: str, *, as_json: bool) -> None:
    if as_json:
        write_json(write_plain(asdict(row)))
    write_message(f"{message.format(row.name)}.")
