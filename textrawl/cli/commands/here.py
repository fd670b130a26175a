"""The command `here`."""

from textrawl.cli.console import open_console, write_cell, write_json, write_message, write_row
from textrawl.cli.inputs import AsJson, Everywhere, FactLimit, SpaceName
from textrawl.cli.questions import ask
from textrawl.memory.command_results import Here
from textrawl.values.text import SHORT_ID


def here(
    limit: FactLimit = 20,
    everywhere: Everywhere = False,
    space: SpaceName = None,
    as_json: AsJson = False,
) -> None:
    """Show the newest facts of the Git repository that you are in.

    In piped output each fact is one line with tabs between its cells: id, repository, entity, time,
    author, fact.
    """
    found = ask("list_here", Here, space, limit=limit, everywhere=everywhere)
    if as_json:
        write_json(found)
        return
    if not found.rows:
        write_message(f"No fact of {found.repository or 'a repository'}")
    console = open_console()
    if console.is_terminal and found.repository:
        console.print(write_cell(found.repository, "bold"))
    for row in found.rows:
        if console.is_terminal:
            place = f" ({row.repository})" if everywhere else ""
            console.print(write_cell(f"{row.entity_name}: {row.content}{place}"), soft_wrap=True)
        else:
            write_row(
                [
                    str(row.observation_id)[:SHORT_ID],
                    row.repository,
                    row.entity_name,
                    f"{row.created_at:%Y-%m-%dT%H:%M:%SZ}",
                    row.author,
                    row.content,
                ]
            )
