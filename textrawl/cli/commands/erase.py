"""`textrawl erase`: the erasure of a person, after a plan, with a receipt."""

from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer
from rich.text import Text
from rich.tree import Tree

from textrawl.archive.exports import write_whole
from textrawl.archive.receipts import SUFFIX, read_receipts, write_receipts
from textrawl.cli.console import confirm, count, open_console, write_json, write_message
from textrawl.cli.inputs import AdministeredSpace, AsJson, Yes, argument, option, read_name
from textrawl.cli.questions import ask
from textrawl.errors import StartRefused
from textrawl.memory.command_results import ErasedRow, ErasurePlanRow, Keep

_Names = Annotated[
    list[str] | None,
    argument(
        "PERSON [NAME]...",
        "The person, and further names of the same person, such as a login or a nickname.",
        read_name,
    ),
]
_Keep = Annotated[
    Keep | None,
    option(
        "--keep",
        "Keep what `others` wrote about the person, or what the person wrote about others (`own`).",
    ),
]
_Receipt = Annotated[
    Path | None,
    option(
        "--receipt FILE", f"The file for the receipt; default: erasure-TIME{SUFFIX} in this folder."
    ),
]
_Verify = Annotated[
    Path | None, option("--verify FILE", "Check the receipts in a file. Erase nothing.")
]
_DryRun = Annotated[bool, option("--dry-run", "Show the plan, and erase nothing.")]
_STYLES = {"delete": "red", "redact": "yellow", "stay": "green"}


def erase(  # noqa: PLR0913, PLR0917 - each argument is an option
    names: _Names = None,
    keep: _Keep = None,
    receipt: _Receipt = None,
    verify: _Verify = None,
    dry_run: _DryRun = False,
    yes: Yes = False,
    space: AdministeredSpace = None,
    as_json: AsJson = False,
) -> None:
    """Erase what is about or by a person, and write a receipt without content.

    The command shows a plan, and asks before it erases. Put the receipt beside your backups:
    `textrawl restore` finds it there and erases the same from an older backup.
    """
    if verify is not None and not names:
        _verify_file(verify, space, as_json=as_json)
    elif names and verify is None:
        _check(receipt, unseen=as_json and not (dry_run or yes))
        plan = ask(
            "plan_erasure",
            list[ErasurePlanRow],
            space,
            person=names[0],
            also=names[1:],
            keep=keep,
        )
        if as_json and dry_run:
            write_json(plan)
        elif plan and not as_json:
            open_console().print(_draw(names, plan))
        if all(row.action == "stay" for row in plan):
            write_message(
                f"Nothing is about or by {names[0]} in the open spaces that you administer. Try "
                "other names of the person, such as a login."
            )
        elif not dry_run:
            erasing = _Erasing(names, keep, space, as_json)
            name = f"erasure-{datetime.now(UTC):%Y%m%dT%H%M%SZ}{SUFFIX}"
            erasing.run(plan, (receipt or Path(name)).absolute(), yes=yes)
    else:
        raise typer.BadParameter("give the name of a person, or --verify FILE")


def _check(receipt: Path | None, *, unseen: bool) -> None:
    """Raise BadParameter for a receipt that no restore finds, and for a plan that nobody sees."""
    if receipt is not None and not receipt.name.endswith(SUFFIX):
        raise typer.BadParameter(
            f"`textrawl restore` finds receipts only in files *{SUFFIX}: name it so"
        )
    if unseen:
        raise typer.BadParameter("--json shows no plan: add --dry-run or --yes")


class _Erasing(NamedTuple):
    names: list[str]
    keep: Keep | None
    space: str | None
    as_json: bool

    def run(self, plan: Sequence[ErasurePlanRow], file: Path, *, yes: bool) -> None:
        """Ask, carry out the plan, and write the receipts."""
        person, *also = self.names
        planned = {row.space_id: row.fingerprint for row in plan if row.action != "stay"}
        if not yes:
            confirm("Erase this for good?", "erased")
        with write_whole(file, force=False) as draft:
            done = ask(
                "erase",
                list[ErasedRow],
                self.space,
                person=person,
                also=also,
                keep=self.keep,
                planned=planned,
            )
            write_receipts(draft, [row.receipt for row in done])
        if self.as_json:
            write_json(done)
        for row in done:
            write_message(f"Erased {count(row.rows, 'row')} in {row.space_name}.")
        write_message(f"The receipt is {file}: keep it beside your backups.")


def _draw(names: Sequence[str], plan: Sequence[ErasurePlanRow]) -> Tree:
    """Draw the kinds of rows by space, each with up to three samples."""
    tree = Tree(Text(f"Plan to erase {', '.join(names)}", style="bold"))
    for space, rows in groupby(plan, lambda row: row.space_name):
        branch = tree.add(Text(space, style="bold cyan"))
        for row in rows:
            leaf = branch.add(Text(row.sentence, style=_STYLES[row.action]))
            for sample in row.sample or ():
                leaf.add(Text(sample, style="dim", overflow="ellipsis", no_wrap=True))
    return tree


def _verify_file(file: Path, space: str | None, *, as_json: bool) -> None:
    """Check each receipt of a file. Raises StartRefused if one is not valid."""
    states: list[dict[str, Any]] = []
    for receipt in read_receipts(file):
        state = ask("verify_receipt", str, space, receipt=dict(receipt))
        states.append(
            {"erasure": receipt.get("erasure"), "space": receipt.get("space"), "state": state}
        )
    if as_json:
        write_json(states)
    for row in states:
        write_message(f"{row['erasure']} in {row['space']}: {row['state']}")
    if not states or any(row["state"] != "valid" for row in states):
        raise StartRefused(
            f"{file} has a receipt that is not valid here. pending: restore again, with the file "
            "beside the backup. altered: use another copy. unknown: another space signed it"
        )
