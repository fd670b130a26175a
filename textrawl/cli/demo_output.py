"""Output of `textrawl demo`."""

import re
import shlex
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from textrawl.clients.catalogue import CLIENTS
from textrawl.clients.installation import find_script
from textrawl.demonstration.costs import Cost
from textrawl.demonstration.run import FACTS_SHOWN, DemoResult, Stored

_FORMATS = {"lines": "lines", "compact": "compact", "verbose": "verbose", "pretty": "pretty JSON"}
_FACT = re.compile(r"(\d{1,3}) (.+)")  # a line with a fact: its score in hundredths, its text


def draw_demo(console: Console, result: DemoResult, folder: Path) -> None:
    """Draw the counts of stored data, each question with its answer, and the sums of tokens."""
    console.print(_describe_stored(result.stored))
    console.print(
        f"Below are the questions of a model and the answers, with at most {FACTS_SHOWN} facts, in "
        "the format `lines`. The facts about an entity follow its name, each after its score in "
        f"hundredths. The last line counts the tokens ({result.encoding}) of the answer in each "
        "format.\n"
    )
    for number, answer in enumerate(result.answers, 1):
        time = (f"  {answer.milliseconds:.0f} ms", "dim")
        console.print(Text.assemble(f"{number:>2}  ", (answer.question, "bold"), time))
        console.print(_draw_lines(answer.lines))
        console.print(_write_cost(answer.cost))
        console.print()
    console.print("The first answer again in `compact`, the format that models get by default:")
    console.print(Text(result.answers[0].text, style="cyan", overflow="fold"))
    console.print()
    console.print(_draw_sums(result))
    milliseconds = sum(answer.milliseconds for answer in result.answers)
    console.print(
        f"\n{len(result.answers)} answers in {milliseconds:.0f} ms, "
        f"everything in {result.seconds:.1f} s. The demonstration's memory stays in"
    )
    console.print(Text(str(folder)), soft_wrap=True)


def _describe_stored(stored: Stored) -> str:
    old_facts, old_relations = (
        stored.facts - stored.new_facts,
        stored.relations - stored.new_relations,
    )
    text = (
        f"Stored {stored.new_facts} facts and {stored.new_relations} relations about PostgreSQL "
        f"in {stored.seconds:.1f} s, by {stored.calls} calls of build_knowledge."
    )
    if old_facts or old_relations:
        text += (
            f" {old_facts} facts and {old_relations} relations exist from an earlier run: nothing "
            "is stored twice."
        )
    return text


def _draw_lines(lines: str) -> Table:
    """Draw one row for each line of an answer. Long lines are wrapped and indented."""
    table = Table.grid(padding=(0, 1))
    table.add_column(width=6, justify="right")
    table.add_column()
    for line in lines.splitlines():
        score, content = match.groups() if (match := _FACT.fullmatch(line)) else ("", line)
        table.add_row(score, Text(content, style="cyan", overflow="fold"))
    return table


def _write_cost(cost: Cost) -> Text:
    counts = [f"{label} {getattr(cost, name):,}" for name, label in _FORMATS.items()]
    return Text(f"       tokens: {', '.join(counts)}", style="green")


def _draw_sums(result: DemoResult) -> Table:
    table = Table(title="All answers together", title_justify="left", title_style="bold")
    table.add_column("")
    sums = {name: sum(getattr(answer.cost, name) for answer in result.answers) for name in _FORMATS}
    for label in _FORMATS.values():
        table.add_column(label, justify="right")
    table.add_row("tokens", *(f"{count:,}" for count in sums.values()))
    shares = (f"{100 * count / sums['pretty']:.0f} %" for count in sums.values())
    table.add_row("of pretty JSON", *shares)
    return table


def draw_connecting(console: Console) -> None:
    """Draw the commands that connect clients: those that are installed, or else all."""
    installed = [name for name, client in CLIENTS.items() if client.is_installed()]
    console.print("\n[bold]Connect a client[/]. Its memory is new and has no facts of the demo.\n")
    for name in installed or CLIENTS:
        # Write each command without line breaks, so that users can copy it.
        command = Text(shlex.join([*find_script(), "connect", name]), style="cyan")
        console.print(command, soft_wrap=True)
    console.print("\nEach command shows what it would change, and asks first.")
