"""What `textrawl demo` shows of its play."""

import re
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from textrawl.demonstration.costs import Cost
from textrawl.demonstration.play import FACTS_SHOWN, Play, Stored

_FORMATS = {"lines": "lines", "compact": "compact", "verbose": "verbose", "pretty": "pretty JSON"}
_FACT = re.compile(r"(\d{1,3}) (.+)")  # of a search, with its score in hundredths


def draw_play(console: Console, shown: Play, folder: Path) -> None:
    """Everything that was stored, asked and answered, then the sums."""
    console.print(_tell_stored(shown.stored))
    console.print(
        f"Below, each question as a model asks it and the answer, {FACTS_SHOWN} facts at most, in "
        "the format `lines`: scores in hundredths, facts under the entity they are about. Then "
        f"the tokens ({shown.encoding}) of the same answer in each format.\n"
    )
    for number, scene in enumerate(shown.scenes, 1):
        took = (f"  {scene.milliseconds:.0f} ms", "dim")
        console.print(Text.assemble(f"{number:>2}  ", (scene.asked, "bold"), took))
        console.print(_draw_answer(scene.lines))
        console.print(_write_cost(scene.cost))
        console.print()
    console.print("The first answer again in `compact`, the format that models get by default:")
    console.print(Text(shown.scenes[0].text, style="cyan", overflow="fold"))
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


def _draw_answer(lines: str) -> Table:
    """Return the answer, a row a line; what is too long for one goes on below its beginning."""
    table = Table.grid(padding=(0, 1))
    table.add_column(width=6, justify="right")
    table.add_column()
    for line in lines.splitlines():
        score, content = found.groups() if (found := _FACT.fullmatch(line)) else ("", line)
        table.add_row(score, Text(content, style="cyan", overflow="fold"))
    return table


def _write_cost(cost: Cost) -> Text:
    counts = [f"{label} {getattr(cost, name):,}" for name, label in _FORMATS.items()]
    return Text(f"       tokens: {', '.join(counts)}", style="green")


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
