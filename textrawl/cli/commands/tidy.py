"""`textrawl tidy`: propose what is out of order in the memory, without an LLM."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated

import typer

from textrawl.cli.console import open_console, write_json, write_message, write_texts
from textrawl.cli.inputs import AsJson, WrittenSpace
from textrawl.cli.memory_session import ask
from textrawl.memory import commands
from textrawl.memory.review import FindingRow

# In the order in which they are shown, as FINDING in the singular and the plural.
_FINDINGS = {
    "name": ("entity has two spellings", "entities have two spellings"),
    "same": ("entity may have two names", "entities may have two names"),
    "disagreement": ("fact disagrees with a newer one", "facts disagree with newer ones"),
    "double": ("fact is there in other words", "facts are there in other words"),
    "question": ("open question is answered", "open questions are answered"),
    "expired": ("fact has ended by its own words", "facts have ended by their own words"),
    "relation": ("fact states a relation", "facts state relations"),
    "stale": ("old fact was never recalled", "old facts were never recalled"),
}


def tidy(
    apply: Annotated[
        bool, typer.Option("--apply", help="Propose what was found, for a reviewer to decide.")
    ] = False,
    space: WrittenSpace = None,
    as_json: AsJson = False,
) -> None:
    """Find what is out of order in the memory, and propose to mend it.

    No LLM is asked. Without --apply, only a plan of at most ten lines is shown. With it, each
    finding becomes a proposal. Nothing else changes before somebody accepts it: `textrawl review
    list` shows them. A second run finds nothing new, and nothing that was rejected.
    """
    rows = ask(commands.tidy, space, dry_run=not apply)
    if as_json:
        write_json([asdict(row) for row in rows])
    else:
        write_texts(open_console(), *_sum_up(rows))
    if not rows:
        write_message("Nothing new is out of order.")
    elif apply:
        write_message("Proposed. See `textrawl review list`, `accept` and `reject`.")
    else:
        write_message("Nothing was changed: --apply proposes this.")


def _sum_up(rows: Sequence[FindingRow]) -> list[str]:
    """Return a line for each kind of finding, with its number and an example."""
    lines: list[str] = []
    for finding, (one, several) in _FINDINGS.items():
        found = [row for row in rows if row.finding == finding]
        if found:
            first = found[0]
            what = one if len(found) == 1 else several
            lines.append(f"{len(found):,} {what}: {first.entity_name}: {first.content}")
    return lines
