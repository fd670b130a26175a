"""The commands `search`, `show` and `explain`."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from itertools import groupby
from typing import Annotated, Any
from uuid import UUID

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from textrawl.cli.console import (
    count,
    open_console,
    write_cell,
    write_json,
    write_message,
    write_row,
)
from textrawl.cli.inputs import (
    AsJson,
    AsOf,
    EntityName,
    Everywhere,
    FactLimit,
    KnownAt,
    Query,
    SpaceName,
    Types,
    option,
    read_query,
)
from textrawl.cli.questions import ask
from textrawl.memory.command_results import Absence, Described, Explained, Found
from textrawl.memory.fact_rows import EVER, EntityRow, ExplainedRow, HitRow
from textrawl.values.anchors import read_changes
from textrawl.values.text import write_absence, write_change
from textrawl.values.times import write_day, write_lifetime, write_period

_TENSES = {
    "first": "the first time",
    "ever": "all times",
    "last": "the last time",
    "since": "the beginning of something",
    "before": "the time before something",
    "former": "an earlier time",
    "now": "now",
}
_Documents = Annotated[
    bool, option("--documents", "Search the documents of graphs instead of facts.")
]


def search(  # noqa: PLR0913, PLR0917 - each argument is an option
    query: Query,
    types: Types = None,
    limit: FactLimit = 10,
    as_of: AsOf = None,
    documents: _Documents = False,
    everywhere: Everywhere = False,
    space: SpaceName = None,
    as_json: AsJson = False,
) -> None:
    """Search the memory by words and by meaning.

    Each fact has a score from 0 to 100: 90 is highly relevant, 70 good, 50 moderate. In piped
    output each fact is one line with tabs between its cells: score, entity, type, space, id, time,
    author, fact. `textrawl stats` does not count this search.
    """
    if documents and types:
        raise typer.BadParameter("--documents cannot have --type: documents have no type")
    text = read_query(" ".join(query))
    if documents:
        # A question does not need these modules, which take a second to load.
        from textrawl.cli.document_search import search_documents  # noqa: PLC0415 - see above

        found = search_documents(space, text, limit, as_of)
    else:
        given = {"types": types or None, "limit": limit, "as_of": as_of, "everywhere": everywhere}
        found = ask("search", Found, space, query=text, **given)
    if found.missing:
        write_message(f"Keywords only: {found.missing}.")
    rows = [row for row in found.rows if row.content is not None]
    if hidden := len(found.rows) - len(rows):
        write_message(f"Left out by the limits of graphs: {count(hidden, 'chunk')}.")
    for row, change in zip(rows, read_changes([row.anchors for row in rows]), strict=True):
        row.change = change
    if as_json:
        write_json(rows)
    if not (as_json and rows):
        _show(rows, found, ever=as_of == EVER)


def _show(rows: Sequence[HitRow], found: Found, *, ever: bool) -> None:
    """Write facts. If `ever` is true, each fact ends with its period of validity."""
    console = open_console()
    if not rows:
        absence = found.absence or Absence([], None)
        write_message(*write_absence(absence.words, absence.closest))
    elif console.is_terminal:
        _draw_hit(console, rows, several=found.several, ever=ever)
    else:
        for row in rows:
            write_row(
                [
                    f"{100 * row.score:.0f}",
                    row.entity_name,
                    _name_type(row),
                    row.space,
                    row.chunk_id or str(row.observation_id),
                    f"{row.created_at:%Y-%m-%dT%H:%M:%SZ}",
                    row.author,
                    _write_fact(row, ever=ever),
                ]
            )


def _write_fact(row: HitRow, *, ever: bool) -> str:
    """Return the text, its period if the question is about other times than now, and its change."""
    shown = ever or row.dated
    text = _add_period(row.text, row.valid_from, row.valid_until) if shown else row.text
    return text + write_change(row.change)


def _add_period(text: str, start: datetime | None, end: datetime | None) -> str:
    return f"{text}{write_lifetime(write_period(start, end))}" if start else text


def _draw_hit(console: Console, rows: Sequence[HitRow], *, several: bool, ever: bool) -> None:
    """Draw entities in the order of their best fact, each with its facts below it."""
    order = {_find_owner(row): rank for rank, row in reversed(list(enumerate(rows)))}
    grouped = sorted(rows, key=lambda row: order[_find_owner(row)])
    for _, group in groupby(grouped, _find_owner):
        facts = list(group)
        entity = facts[0]
        space = f" @{entity.space}" if several or entity.document_id else ""
        name = write_cell(entity.entity_name, "bold")
        console.print(Text.assemble(name, f" ({_name_type(entity)}){space}"))
        table = Table.grid(padding=(0, 2), expand=True)
        table.add_column(justify="right", width=4, style="green")
        table.add_column(ratio=1)
        table.add_column(style="dim", no_wrap=True)
        for row in facts:
            source = f"{row.created_at:%Y-%m-%d} {str(row.observation_id)[:8]}"
            if row.document_id:
                source = f"line {row.line}"
            text = _write_fact(row, ever=ever)
            table.add_row(f"{100 * row.score:.0f}", write_cell(text), source)
        console.print(table)


def _find_owner(row: HitRow) -> UUID:
    """Return the id of the document of a chunk, or of the entity of a fact."""
    return row.document_id or row.entity_id


def _name_type(row: HitRow) -> str:
    return "document" if row.document_id else row.entity_type


Item = Mapping[str, Any]


def show(  # noqa: PLR0913, PLR0917 - each argument is an option
    name: EntityName,
    limit: Annotated[
        int, option("--limit -n", "Maximum number of facts, newest first.", min=1, max=100_000)
    ] = 20,
    as_of: AsOf = None,
    known_at: KnownAt = None,
    everywhere: Everywhere = False,
    space: SpaceName = None,
    why: Annotated[
        bool, option("--why", "Show the sentences from which an LLM took the facts.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show an entity with its newest facts and its relations.

    Piped output has tabs between the cells of a line. The first cell is the kind of the line. The
    cells of an entity are: entity, name, type, space, description. The cells of a fact are: fact,
    id, time, author, space, text. The cells of a relation are: relation, from, type, to.
    """
    times = {"as_of": as_of, "known_at": known_at}
    found = ask(
        "describe", Described, space, name=name, limit=limit, everywhere=everywhere, **times
    )
    console = open_console()
    if as_of == EVER and not as_json:
        _show_periods(found.row)
    if not as_json:
        facts = found.row.observations
        changes = read_changes([fact["anchors"] for fact in facts])
        for fact, change in zip(facts, changes, strict=True):
            fact["content"] += write_change(change)
    if why and not as_json:
        _show_evidence(found.row)
    if as_json:
        write_json(found.row)
    elif console.is_terminal:
        _draw_entity(console, found.row, several=found.several)
    else:
        _write(found.row)


def _show_periods(row: EntityRow) -> None:
    """Add its period of validity to each fact, also if it has ended."""
    for fact in row.observations:
        start, end = (
            datetime.fromisoformat(fact[name]) if fact[name] else None
            for name in ("valid_from", "valid_until")
        )
        fact["content"] = _add_period(fact["content"], start, end)


def _show_evidence(row: EntityRow) -> None:
    """Add its sentence to each fact that an LLM took from a text. Say so if no fact has one."""
    if not any(fact["evidence"] for fact in row.observations):
        write_message("None of these facts has a sentence: an LLM took none of them from a text.")
    for fact in row.observations:
        if evidence := fact["evidence"]:
            fact["content"] += f" [{_quote(evidence, fact['evidence_start'])}]"


def _write(row: EntityRow) -> None:
    write_row(["entity", row.name, row.entity_type, row.space, row.description or ""])
    for fact in row.observations:
        write_row(
            [
                "fact",
                str(fact["id"]),
                str(fact["valid_from"]),
                fact["author"],
                fact["space"],
                fact["content"],
            ]
        )
    for edge in _list_edges(row):
        write_row(["relation", *edge])
    for fact in row.revised:
        write_row(["wrong", str(fact["id"]), fact["revised_at"], fact["content"], fact["reason"]])


def _draw_entity(console: Console, row: EntityRow, *, several: bool) -> None:
    space = f" @{row.space}" if several else ""
    console.print(Text.assemble(write_cell(row.name, "bold"), f" ({row.entity_type}){space}"))
    if row.description:
        console.print(write_cell(row.description))
    facts = [fact for fact in row.observations if fact["content"] != row.description]
    console.print(_draw_facts(facts, several=several))
    if hidden := row.total_observations - len(row.observations):
        older = count(hidden, "older fact")
        console.print(f"[dim]and {older}: --limit {row.total_observations} shows all[/]")
    edges = _list_edges(row)
    if edges:
        console.print("\n[bold]Relations[/]")
    for edge in edges:
        console.print(Text("  ").join([Text(), *map(write_cell, edge)]))
    if hidden := row.total_relations - len(edges):
        console.print(f"[dim]and {count(hidden, 'more relation')}[/]")
    if row.revised:
        console.print("\n[bold]Wrong[/]")
    for fact in row.revised:
        console.print(write_cell(f"  {fact['content']} ({fact['reason']})"), soft_wrap=True)


def _draw_facts(facts: Sequence[Item], *, several: bool) -> Table:
    """Draw one row for each fact. Authors and spaces are shown if there are several."""
    authors = len({fact["author"] for fact in facts}) > 1
    table = Table.grid(padding=(0, 2), expand=True)
    table.add_column(style="dim", no_wrap=True)
    table.add_column(style="dim", no_wrap=True)
    table.add_column(ratio=1)
    for fact in facts:
        origin = [fact["author"]] if authors else []
        origin += [f"@{fact['space']}"] if several else []
        lead = Text(f"{' '.join(origin)}: ", "cyan") if origin else Text()
        table.add_row(
            str(fact["valid_from"])[:10],
            str(fact["id"])[:8],
            Text.assemble(write_cell(lead.plain, "cyan"), write_cell(fact["content"])),
        )
    return table


def _list_edges(row: EntityRow) -> list[tuple[str, str, str]]:
    """Return (from, relation, to) of each relation. Outgoing relations come first."""
    leaving = [(row.name, edge["relation_type"], edge["to_entity"]) for edge in row.outgoing]
    arriving = [(edge["from_entity"], edge["relation_type"], row.name) for edge in row.incoming]
    return leaving + arriving


_More = Annotated[int, option("--more", "Facts to show that were left out.", min=0, max=50)]
_LeastScore = Annotated[
    float | None, option("--least-score SCORE", "Leave out facts below this score.", min=0, max=100)
]


def explain(  # noqa: PLR0913, PLR0917 - each argument is an option
    query: Query,
    types: Types = None,
    limit: FactLimit = 10,
    more: _More = 5,
    least_score: _LeastScore = None,
    as_of: AsOf = None,
    space: SpaceName = None,
    as_json: AsJson = False,
) -> None:
    """Explain why a search finds some facts and leaves out others.

    The command shows the words of the query that each fact has, with their weights, how close its
    meaning is, and what its neighbours add: the facts that were stored just before and after it.
    The evidence adds up to the log odds of the score. Then it shows facts that were left out: over
    the limit, below the least score, or ended. In piped output each fact is one line: outcome,
    score, score without neighbours, coverage, cosine, words, found by, evidence, entity, id, fact.
    """
    text = read_query(" ".join(query))
    least = None if least_score is None else least_score / 100
    found = ask(
        "explain",
        Explained,
        space,
        query=text,
        types=types or None,
        limit=limit,
        more=more,
        least_score=least,
        as_of=as_of,
    )
    if found.missing:
        write_message(f"Keywords only: {found.missing}.")
    if as_of is None and (about := _describe_time(found.time)):
        write_message(f"The question is about {about}.")
    if as_json:
        write_json(found.rows)
    else:
        _show_explanation(found.rows)


def _describe_time(time: Mapping[str, str]) -> str:
    """Return the time that the words of the question name, or an empty text."""
    names = [_TENSES[time["tense"]]] if "tense" in time else []
    if period := time.get("around"):
        start, end = map(datetime.fromisoformat, period[1:-1].split(","))
        names.append(f"{write_day(start)} to {write_day(end - timedelta(microseconds=1))}")
    return ", ".join(names)


def _show_explanation(rows: Sequence[ExplainedRow]) -> None:
    console = open_console()
    if not rows:
        write_message("Nothing found.")
    elif console.is_terminal:
        _draw(console, rows)
    else:
        for row in rows:
            write_row(
                [
                    row.outcome,
                    *map(_write_hundredths, (row.score, row.own_score, row.coverage)),
                    "" if row.cosine is None else f"{row.cosine:.3f}",
                    _write_words(row),
                    " ".join(row.found_by),
                    " ".join(f"{name}:{value}" for name, value in row.named_evidence),
                    row.entity_name,
                    str(row.observation_id),
                    row.content,
                ]
            )


def _draw(console: Console, rows: Sequence[ExplainedRow]) -> None:
    table = Table.grid(padding=(0, 2), expand=True)
    table.add_column(justify="right", style="green", width=4)
    table.add_column(ratio=1)
    outcome = ""
    for row in rows:
        if row.outcome != outcome:
            outcome = row.outcome
            table.add_row("", Text(outcome.capitalize(), "bold"))
        fact = Text.assemble(write_cell(row.entity_name, "bold"), " ", write_cell(row.content))
        table.add_row(_write_hundredths(row.score), fact)
        table.add_row("", write_cell(_describe(row), "dim"))
        if row.evidence:
            table.add_row("", write_cell(_quote(row.evidence, row.evidence_start), "dim"))
    console.print(table)


def _quote(evidence: str, start: int | None) -> str:
    """Return the sentence from which a fact was taken, with its place in its text."""
    return f"said: {evidence}" + ("" if start is None else f" (at character {start})")


def _describe(row: ExplainedRow) -> str:
    """Return the reasons for the score of a fact in one line."""
    if row.score is None:
        end = row.valid_until
        why = f"valid until {end:%Y-%m-%d}" if end else "not valid yet at that time"
        return f"{why}; words: {_write_words(row) or 'none'}"
    parts = [f"words: {_write_words(row) or 'none'} ({_write_hundredths(row.coverage) or 0})"]
    if row.likeness is not None:
        parts.append(f"meaning: {_write_hundredths(row.likeness)} (cosine {row.cosine:.2f})")
    if row.own_score is not None and round(100 * row.score) != round(100 * row.own_score):
        parts.append(f"without neighbours: {_write_hundredths(row.own_score)}")
    if row.timeless_score is not None:
        period = write_period(row.valid_from, row.valid_until)
        parts.append(f"without a time: {_write_hundredths(row.timeless_score)}; valid: {period}")
    parts.append(f"found by: {' and '.join(row.found_by) or 'a neighbour or a relation'}")
    evidence = " ".join(f"{value} {name}" for name, value in row.named_evidence)
    parts.append(f"{evidence} = {sum(row.log_odds or ()):.2f} log odds, score {row.score:.2f}")
    return "; ".join(parts)


def _write_words(row: ExplainedRow) -> str:
    return " ".join(
        f"{'+' if word['found'] else '-'}{word['word']}:{_write_hundredths(word['weight'])}"
        for word in row.words
    )


def _write_hundredths(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.0f}"
