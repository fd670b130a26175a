"""The page of `textrawl stats --html`. It contains plots as SVG and loads no other file."""

import re
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from html import escape
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from textrawl.cli.console import count
from textrawl.cli.statistics_report import Report, describe_llm, write_counts, write_saved
from textrawl.errors import StartRefused
from textrawl.values.text import escape_hidden

_SCRIPTS = re.compile(r"<script.*?</script>|<desc.*?</desc>", re.DOTALL)
_COLOURS = ("#33658a", "#f6ae2d", "#758e4f", "#f26419", "#86bbd8", "#6d597a", "#b56576")
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>textrawl memory</title>
<style>
body {{ font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 72rem;
  padding: 0 1rem; color: #222; }}
main {{ display: grid; grid-template-columns: repeat(auto-fit, minmax(min(30rem, 100%), 1fr));
  gap: 1.5rem; }}
section {{ border: 1px solid #ddd; border-radius: 6px; padding: 1rem; min-width: 0; }}
h1, h2 {{ font-weight: 600; }} h2 {{ font-size: 1rem; margin: 0 0 .5rem; }}
table {{ border-collapse: collapse; width: 100%; }}
td, th {{ text-align: left; padding: .15rem .75rem .15rem 0; vertical-align: top;
  overflow-wrap: anywhere; }}
td:first-child {{ min-width: 5.5rem; overflow-wrap: normal; }}
svg {{ display: block; max-width: 100%; height: auto; }}
@media (max-width: 40rem) {{
  body {{ margin: 1rem auto; padding: 0 .5rem; }} section {{ padding: .75rem; }}
}}
</style>
</head>
<body>
<h1>Memory</h1>
<p>{when}; the last {days} days.</p>
<main>
{sections}
</main>
</body>
</html>
"""


def require_plots() -> None:
    """Require the library that draws plots. Raises StartRefused."""
    if find_spec("pygal") is None:
        raise StartRefused(
            "--html needs pygal, which is not installed: install textrawl[plots]; in a checkout "
            "run `uv sync --inexact --extra plots` (or `.uv/bin/uv sync …`)"
        )


def write_page(report: Report) -> str:
    """Write the whole page. Call `require_plots` before, because this needs pygal."""
    recent = report.recent
    growth = [(week["week"], week["facts"]) for week in recent.growth]
    authors = [(item["author"], item["facts"]) for item in recent.authors]
    types = sorted(report.holdings.types.items(), key=lambda item: -item[1])
    tokens = [(day["day"], day["tokens"]) for day in recent.recall_days]
    times = [(day["day"], day["p50_ms"]) for day in recent.recall_days]
    sections = [
        _write_table("Totals", ("", ""), _list_totals(report)),
        _write_section("Facts added per week", _plot_bars("facts", growth)),
        _write_section("Entities by type", _plot_rows(types)),
        _write_section("Facts by author", _plot_rows(authors)),
        _write_section("Tokens of answers per day", _plot_bars("tokens", tokens)),
        _write_section("Median time of an answer per day, in ms", _plot_bars("ms", times)),
        *_list_tables(report),
    ]
    when = f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"
    return _PAGE.format(when=when, days=report.days, sections="\n".join(sections))


def _list_totals(report: Report) -> list[tuple[object, ...]]:
    row, recalls = report.holdings, report.recent.recalls
    saved = write_saved(recalls)
    return [
        ("entities", f"{row.entities:,}"),
        ("facts", f"{row.valid_facts:,} valid, {row.facts - row.valid_facts:,} no longer valid"),
        ("relations", f"{row.relations:,}"),
        ("sources", f"{write_counts(report.recent.sources) or 'none'} (facts)"),
        *(
            ("vectors", f"{model['name']}: {count(model['pending'], 'fact')} without a vector yet")
            for model in row.models
        ),
        ("answers", f"{recalls['calls']:,}"),
        ("tokens", f"{recalls['tokens']:,} in all answers{f'; {saved}' if saved else ''}"),
        (
            "stale facts",
            f"{report.recent.stale['facts']:,}: "
            f"{write_counts(report.recent.stale['reasons']) or 'none'}",
        ),
    ]


def _list_tables(report: Report) -> list[str]:
    recent = report.recent
    slow = [(f"{item['milliseconds']} ms", item["mode"], item["asked"]) for item in recent.slowest]
    unanswered = [
        (item["times"], item["score"], item["asked"]) for item in recent.unanswered["most"]
    ]
    stale = [
        (str(item["at"])[:10], item["reasons"], f"{item['entity']}: {item['fact']}")
        for item in recent.stale["oldest"]
    ]
    llm = [(use["purpose"], f"{use['calls']:,}", describe_llm(use)) for use in recent.llm]
    return [
        _write_table("LLM", ("purpose", "calls", "cost"), llm),
        _write_table("Slowest answers", ("time", "mode", "question"), slow),
        _write_table("Unanswered questions", ("times", "best score", "question"), unanswered),
        _write_table("Oldest stale facts", ("stored", "reason", "fact"), stale),
    ]


def _write_table(title: str, names: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    body = "".join(f"<tr>{''.join(map(_write_cell, row))}</tr>" for row in rows)
    return _write_section(title, f"<table><tr>{head}</tr>{body}</table>" if rows else "none")


def _write_cell(value: object) -> str:
    return f"<td>{_escape('' if value is None else str(value))}</td>"


def _escape(text: str) -> str:
    return escape(escape_hidden(text))


def _write_section(title: str, body: str) -> str:
    return f"<section><h2>{_escape(title)}</h2>{body}</section>"


def _plot_bars(name: str, points: Sequence[tuple[str, Any]]) -> str:
    chart = _load().Bar(**_choose_look(), x_label_rotation=35, show_minor_x_labels=False)
    chart.x_labels = [label for label, _ in points]
    chart.x_labels_major = [label for label, _ in points[:: max(len(points) // 4, 1)]]
    chart.add(name, [None if value is None else float(value) for _, value in points])
    return _render(chart)


def _plot_rows(counts: Sequence[tuple[str, int]]) -> str:
    chart = _load().HorizontalBar(**_choose_look())
    chart.x_labels = [escape_hidden(label[:40]) for label, _ in reversed(counts)]
    chart.add("", [count for _, count in reversed(counts)])
    return _render(chart)


def _load() -> Any:
    """Load pygal, an optional library without types."""
    library = import_module("pygal")
    # Remove the finder that pygal adds for its maps, because every later import would warn of it.
    sys.meta_path[:] = [finder for finder in sys.meta_path if type(finder).__module__ != "pygal"]
    return library


def _choose_look() -> Mapping[str, Any]:
    """Return options of a chart without scripts and without fonts from other hosts."""
    style = _load().style.Style(
        background="transparent",
        plot_background="transparent",
        colors=_COLOURS,
        font_family="system-ui, sans-serif",
        label_font_size=17,
        major_label_font_size=17,
        no_data_font_size=24,
    )
    return {
        "style": style,
        "js": (),
        "width": 480,
        "height": 300,
        "show_legend": False,
        "no_data_text": "nothing yet",
        "disable_xml_declaration": True,
        "pretty_print": False,
    }


def _render(chart: Any) -> str:
    # Remove the tooltips, because they need a script.
    return _SCRIPTS.sub("", str(chart.render(is_unicode=True)))
