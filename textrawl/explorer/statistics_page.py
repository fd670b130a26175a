"""The page of `textrawl stats --html`: the numbers of the dashboard in one file.

It loads no other file and has no script.
"""

from datetime import UTC, datetime

from markupsafe import Markup

from textrawl.explorer.rendering import read_assets, write
from textrawl.explorer.site import describe_numbers
from textrawl.memory.store import ReportRow, StatisticsRow


def write_page(holdings: StatisticsRow, report: ReportRow, days: int) -> str:
    """Return the whole page about the last `days`."""
    # The stylesheet is a file of this package, so it is safe to write it as it is.
    style = Markup(read_assets()["style.css"].decode())  # noqa: S704
    values = {"style": style, "at": datetime.now(UTC), "days": days}
    return write("statistics.html", {**values, **describe_numbers(holdings, report)})
