"""The report about the last days of a memory."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class ReportRow:
    """The row of memory_report about the last days. Times are ISO 8601. Costs are in tokens."""

    growth: list[dict[str, Any]]
    sources: dict[str, int]
    authors: list[dict[str, Any]]
    recalls: dict[str, Any]
    recall_days: list[dict[str, Any]]
    slowest: list[dict[str, Any]]
    stale: dict[str, Any]
    unanswered: dict[str, Any]
    llm: list[dict[str, Any]]
