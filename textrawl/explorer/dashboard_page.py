"""The dashboard: what spaces hold, how they grow, and what answers cost."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from starlette.responses import Response

from textrawl.explorer.arguments import read_number
from textrawl.explorer.visits import Visit
from textrawl.store.report import ReportRow
from textrawl.toolsets.stats.operations import StatsOperations

_DAYS, _MOST_DAYS = 90, 3660
_HEIGHT = 100


@dataclass(frozen=True)
class Bar:
    """A bar of a chart. `height` is in hundredths of the highest bar."""

    label: str
    value: float
    height: float


async def show(visit: Visit) -> Response:
    """Show the numbers of one space, or of all spaces that the person can read."""
    visit.principal.require("read")
    days = read_number(visit.read("days"), least=1, most=_MOST_DAYS, default=_DAYS)
    holdings = await StatsOperations(visit.site.store).count_memory(visit.caller)
    [report] = await visit.site.store.database.call(
        "memory_report", ReportRow, days=days, **visit.caller.reading
    )
    types = [{"name": name, "facts": number} for name, number in holdings.types.items()]
    values = {
        "space": visit.read("space"),
        "days": days,
        "most_days": _MOST_DAYS,
        "holdings": holdings,
        "types": _draw(types, "name", "facts"),
        "growth": _draw(report.growth, "week", "facts"),
        "authors": _draw(report.authors, "author", "facts"),
        "recall_days": _draw(report.recall_days, "day", "tokens"),
        "recalls": report.recalls,
        "saved": _count_saved(report.recalls),
        "stale": report.stale,
        "unanswered": report.unanswered,
    }
    return visit.show("dashboard.html", values)


def _draw(rows: Sequence[dict[str, Any]], label: str, value: str) -> list[Bar]:
    most = max((float(row[value]) for row in rows), default=0) or 1
    return [Bar(str(row[label]), row[value], _HEIGHT * float(row[value]) / most) for row in rows]


def _count_saved(recalls: dict[str, Any]) -> int:
    """Return the tokens that the format saved compared with verbose text, or 0."""
    return max(int(recalls["verbose_tokens"] or 0) - int(recalls["tokens"]), 0)
