"""What `textrawl undo` shows before it does anything."""

from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import groupby

from rich.text import Text
from rich.tree import Tree

from textrawl.store.trail import PlanRow, UndoRow

_MOST_ENTITIES = 20
_MOST_STEPS = 5
_WIDEST = 100

_STYLES = {
    "remove": "red", "hand over": "yellow", "revive": "green", "reset": "green",
    "lost": "bold red", "move back": "green", "retype": "green", "kept": "yellow",
}  # fmt: skip
_COUNTS = {
    "removed": "removed", "handed_over": "handed over", "revived": "valid again",
    "reset": "reset to former values", "moved": "moved back",
    "retyped": "given their former type",
    "dropped": "entities dropped", "lost": "forgotten and lost",
    "kept": "reflections of others kept with what they are about",
}  # fmt: skip


def draw_plan(author: str, since: datetime, plan: Sequence[PlanRow]) -> Tree:
    """Spaces, their entities, and what happens to each; long lists are cut and counted."""
    begin = f"{since.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
    steps = f"{len(plan)} steps" if plan else "nothing that shows"
    tree = Tree(Text(f"Taking back {author} since {begin}: {steps}", style="bold"))
    for space, rows in groupby(plan, lambda row: row.space_name):
        branch = tree.add(Text(space, style="bold cyan"))
        entities = [(n or "(forgotten)", list(g)) for n, g in groupby(rows, _find_name)]
        for name, found in entities[:_MOST_ENTITIES]:
            _draw_entity(branch, name, found)
        if len(entities) > _MOST_ENTITIES:
            rest = sum(len(found) for _, found in entities[_MOST_ENTITIES:])
            branch.add(_note(f"… {len(entities) - _MOST_ENTITIES} more entities, {rest} steps"))
    return tree


def count_steps(row: UndoRow) -> str:
    """What was done, in numbers, leaving out what was not."""
    told = [
        f"{getattr(row, name)} {label}" for name, label in _COUNTS.items() if getattr(row, name)
    ]
    return ", ".join(told) or "repetitions alone"


def _find_name(row: PlanRow) -> str | None:
    return row.entity_name


def _draw_entity(branch: Tree, name: str, found: Sequence[PlanRow]) -> None:
    goes = any(row.action == "drop entity" for row in found)
    leaf = branch.add(Text(f"{name} (goes as well)" if goes else name))
    steps = [row for row in found if row.action != "drop entity"]
    for row in steps[:_MOST_STEPS]:
        leaf.add(_tell_step(row))
    if len(steps) > _MOST_STEPS:
        leaf.add(_note(f"… {len(steps) - _MOST_STEPS} more"))


def _tell_step(row: PlanRow) -> Text:
    action = row.action
    if row.new_author:
        action += f" to {row.new_author}" if action == "hand over" else f", of {row.new_author}"
    text = Text(f"{action}: {row.content or row.kind}", style=_STYLES[row.action])
    text.truncate(_WIDEST, overflow="ellipsis")
    return text


def _note(text: str) -> Text:
    return Text(text, style="dim")
