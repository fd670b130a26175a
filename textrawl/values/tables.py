"""Tables as CSV, for spreadsheets and scripts."""

import csv
import re
from collections.abc import Iterable
from io import StringIO

_FORMULA = re.compile("[=+@\t\r-]")


def write_table(rows: Iterable[Iterable[object]]) -> str:
    """Return rows as CSV. A text like a formula begins with `'`, so that no spreadsheet runs it."""
    text = StringIO()
    csv.writer(text, lineterminator="\n").writerows(
        [f"'{cell}" if isinstance(cell, str) and _FORMULA.match(cell) else cell for cell in row]
        for row in rows
    )
    return text.getvalue()
