"""The plan that `textrawl undo` shows before it changes anything."""

from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import groupby

from rich.text import Text
from rich.tree import Tree

from textrawl.cli.console import count
from textrawl.store.trail import PlanRow, UndoRow

_MOST_ENTITIES = 20
_MOST_STEPS = 5
_WIDEST = 100

_STYLES = {
    "remove": "red",
    "hand over": "yellow",
    "revive": "green",
    "reset": "green",
    "lost": "bold red",
    "move back": "green",
    "return": "green",
    "retype": "green",
    "kept": "yellow",
}
_COUNTS = {
    "removed": "removed",
    "handed_over": "handed over",
    "revived": "valid again",
    "reset": "reset to former values",
    "moved": "moved back or returned",
    "retyped": "given their former type",
    "dropped": "entities dropped",
    "lost": "forgotten and lost",
    "kept": "reflections of others kept with their entities or relations",
}


def draw_plan(author: str, since: datetime, plan: Sequence[PlanRow]) -> Tree:
    """Draw the steps by space and entity. A long list ends with the number of omitted items."""
    begin = f"{since.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
    steps = count(len(plan), "step") if plan else "no visible steps"
    tree = Tree(Text(f"Undoing {author} since {begin}: {steps}", style="bold"))
    for space, rows in groupby(plan, lambda row: row.space_name):
        branch = tree.add(Text(space, style="bold cyan"))
        entities = [(n or "(forgotten)", list(g)) for n, g in groupby(rows, _find_name)]
        for name, entity_steps in entities[:_MOST_ENTITIES]:
            _draw_entity(branch, name, entity_steps)
        if len(entities) > _MOST_ENTITIES:
            others = entities[_MOST_ENTITIES:]
            hidden = sum(len(entity_steps) for _, entity_steps in others)
            branch.add(_note(f"… {count(len(others), 'more entity')}, {count(hidden, 'step')}"))
    return tree


def count_steps(row: UndoRow) -> str:
    """Return the number of each kind of change that was made."""
    changes = [
        f"{getattr(row, name)} {label}" for name, label in _COUNTS.items() if getattr(row, name)
    ]
    return ", ".join(changes) or "only repetitions of facts"


def _find_name(row: PlanRow) -> str | None:
    return row.entity_name


def _draw_entity(branch: Tree, name: str, rows: Sequence[PlanRow]) -> None:
    dropped = any(row.action == "drop entity" for row in rows)
    leaf = branch.add(Text(f"{name} (is removed too)" if dropped else name))
    steps = [row for row in rows if row.action != "drop entity"]
    for row in steps[:_MOST_STEPS]:
        leaf.add(_draw_step(row))
    if len(steps) > _MOST_STEPS:
        leaf.add(_note(f"… {len(steps) - _MOST_STEPS} more"))


def _draw_step(row: PlanRow) -> Text:
    action = row.action
    if row.new_author:
        action += f" to {row.new_author}" if action == "hand over" else f", of {row.new_author}"
    text = Text(f"{action}: {row.content or row.kind}", style=_STYLES[row.action])
    text.truncate(_WIDEST, overflow="ellipsis")
    return text


def _note(text: str) -> Text:
    return Text(text, style="dim")
