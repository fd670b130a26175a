"""The commands `here` and `check-anchors`, about the repository of the folder."""

from dataclasses import asdict
from datetime import UTC, datetime
from typing import Annotated

from textrawl.cli.console import (
    count,
    open_console,
    write_cell,
    write_json,
    write_message,
    write_row,
)
from textrawl.cli.inputs import AsJson, Everywhere, FactLimit, SpaceName, WrittenSpace, option
from textrawl.cli.questions import ask
from textrawl.environment import read_sources
from textrawl.hooks.sessions import read_sessions
from textrawl.host.entrance import choose_address
from textrawl.host.repository import find_folder, find_repository
from textrawl.memory.command_results import FindingRow, Here, RepositoryFact
from textrawl.values.anchors import checkout, find_changes, read_changes
from textrawl.values.text import SHORT_ID, write_change


def here(
    limit: FactLimit = 20,
    everywhere: Everywhere = False,
    space: SpaceName = None,
    as_json: AsJson = False,
) -> None:
    """Show your last session in this Git repository, and its newest facts.

    The proposals that have waited longest for a decision are on stderr. In piped output each fact
    is one line with tabs between its cells: id, repository, entity, time, author, fact.
    """
    found = ask("list_here", Here, space, limit=limit, everywhere=everywhere)
    last = _find_last_session()
    if as_json:
        write_json({**asdict(found), "last_session": last})
        return
    if last:
        write_message("Last session: {client} at {at}, textrawl sessions {session}".format(**last))
    write_message(*_list_proposals(found))
    if not found.rows:
        write_message(f"No fact of {found.repository or 'a repository'}")
    console = open_console()
    if console.is_terminal and found.repository:
        console.print(write_cell(found.repository, "bold"))
    changes = read_changes([row.anchors for row in found.rows])
    for row, change in zip(found.rows, changes, strict=True):
        if console.is_terminal:
            place = f" ({row.repository})" if everywhere else ""
            fact = f"{row.entity_name}: {row.content}{write_change(change)}{place}"
            console.print(write_cell(fact), soft_wrap=True)
        else:
            write_row(
                [
                    str(row.observation_id)[:SHORT_ID],
                    row.repository,
                    row.entity_name,
                    f"{row.created_at:%Y-%m-%dT%H:%M:%SZ}",
                    row.author,
                    row.content + write_change(change),
                ]
            )


def check_anchors(
    apply: Annotated[
        bool, option("--apply", "Propose to end these facts, for a reviewer to decide.")
    ] = False,
    space: WrittenSpace = None,
    as_json: AsJson = False,
) -> None:
    """Show the facts that speak of files which changed or are gone.

    In piped output each fact is one line with tabs between its cells: id, what changed, entity,
    fact. Without --apply, nothing is changed. With it, each fact becomes a finding, as those of
    `textrawl tidy`: `textrawl review list` shows them. Facts of other spaces are left out.
    """
    facts = ask("list_anchored", list[RepositoryFact], space)
    changes = find_changes(checkout.get() or "", [fact.anchors for fact in facts])
    rows = [(fact, change) for fact, change in zip(facts, changes, strict=True) if change]
    if as_json:
        write_json([{"change": change.line, **vars(fact)} for fact, change in rows])
    for fact, change in () if as_json else rows:
        identity = str(fact.observation_id)[:SHORT_ID]
        write_row([identity, change.line, fact.entity_name, fact.content])
    of_all = count(len(facts), "fact")
    write_message(f"Of {of_all} with anchors, {len(rows):,} have changed")
    if apply and rows:
        told = {str(fact.observation_id): change.evidence for fact, change in rows}
        proposed = ask("tidy", list[FindingRow], space, changes=told)
        write_message(f"Proposed: {len(proposed):,}. See `textrawl review list`.")


def _list_proposals(found: Here) -> list[str]:
    """Return a line with the number of undecided proposals and one for each that is known."""
    return [
        f"Undecided: {count(one.total, 'proposal')}, textrawl review list"
        for one in found.proposals[:1]
    ] + [f"  {str(one.id)[:SHORT_ID]} {one.entity_name}: {one.content}" for one in found.proposals]


def _find_last_session() -> dict[str, str] | None:
    """Return the last session of a client in the repository of this folder, or None."""
    folder = choose_address(read_sources()).folder
    keys = find_repository(find_folder(), folder)
    for name, state in read_sessions(folder).items():
        if state.project in keys and state.events:
            at = datetime.fromtimestamp(state.events[-1][1] / 1000, UTC)
            return {"client": state.client, "at": f"{at:%Y-%m-%d %H:%M}", "session": name[:8]}
    return None
