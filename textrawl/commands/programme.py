"""What `textrawl demo` shows of its play."""

from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from textrawl.demonstration.costs import Cost
from textrawl.demonstration.play import FACTS_SHOWN, Play, Scene, Stored

_FORMATS = {"compact": "compact", "lines": "lines", "verbose": "verbose", "pretty": "pretty JSON"}


def draw_play(console: Console, shown: Play, folder: Path) -> None:
    """Everything that was stored, asked and answered, then the sums."""
    console.print(_tell_stored(shown.stored))
    console.print(
        f"Below, each question as a model asks it and the answer as it reads it, {FACTS_SHOWN} "
        f"facts at most; beside it, the tokens ({shown.encoding}) of the same answer in each "
        "format.\n"
    )
    for number, scene in enumerate(shown.scenes, 1):
        took = (f"  {scene.milliseconds:.0f} ms", "dim")
        console.print(Text.assemble(f"{number:>2}  ", (scene.asked, "bold"), took))
        console.print(_draw_answer(scene))
        console.print()
    console.print(_draw_sums(shown))
    spent = sum(scene.milliseconds for scene in shown.scenes)
    console.print(
        f"\n{len(shown.scenes)} answers in {spent:.0f} ms, everything in {shown.seconds:.1f} s. "
        "The demonstration's memory stays in"
    )
    console.print(Text(str(folder)), soft_wrap=True)


def _tell_stored(stored: Stored) -> str:
    old_facts, old_relations = (
        stored.facts - stored.new_facts,
        stored.relations - stored.new_relations,
    )
    told = (
        f"Stored {stored.new_facts} facts and {stored.new_relations} relations about PostgreSQL "
        f"in {stored.seconds:.1f} s, by {stored.calls} calls of build_knowledge."
    )
    if old_facts or old_relations:
        told += (
            f" {old_facts} facts and {old_relations} relations were there from an earlier run: "
            "nothing is stored twice."
        )
    return told


def _draw_answer(scene: Scene) -> Table:
    table = Table.grid(padding=(0, 2), expand=True)
    table.add_column(width=2)
    table.add_column(ratio=1)
    table.add_column(width=18)
    table.add_row("", Text(scene.text, style="cyan", overflow="fold"), _draw_cost(scene.cost))
    return table


def _draw_cost(cost: Cost) -> Table:
    table = Table.grid(padding=(0, 1), expand=True)
    table.add_column()
    table.add_column(justify="right")
    for name, label in _FORMATS.items():
        style = "bold green" if name == "compact" else ""
        table.add_row(label, f"{getattr(cost, name):,}", style=style)
    return table


def _draw_sums(shown: Play) -> Table:
    table = Table(title="All answers together", title_justify="left", title_style="bold")
    table.add_column("")
    sums = {name: sum(getattr(s.cost, name) for s in shown.scenes) for name in _FORMATS}
    for label in _FORMATS.values():
        table.add_column(label, justify="right")
    table.add_row("tokens", *(f"{count:,}" for count in sums.values()))
    shares = (f"{100 * count / sums['pretty']:.0f} %" for count in sums.values())
    table.add_row("of pretty JSON", *shares)
    return table
