"""The last checks of the memory, which the health page shows again."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from textrawl.examination.findings import Finding


@dataclass
class Examined:
    """What the last checks found, and when. `at` is None before the first."""

    findings: Sequence[Finding] = ()
    at: datetime | None = None

    def keep(self, findings: Sequence[Finding], at: datetime) -> None:
        """Replace the findings."""
        self.findings, self.at = findings, at
