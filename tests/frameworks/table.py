"""The table of `pytest -m frameworks`: each framework, its version, and what became of it."""

from collections import defaultdict
from typing import Any

import pytest

from tests.frameworks.catalogue import FRAMEWORKS, Framework
from tests.support.pages import write_table

_RUN, _RESULT = "framework", "framework result"  # properties of a report
_TITLES = ("framework", "version", "tests", "results")


def name_run(test: pytest.Item, framework: Framework) -> None:
    """Name the framework of a test in its report."""
    test.user_properties.append((_RUN, framework.name))


def tell_result(test: pytest.Item, output: str) -> None:
    """Put the last line that a program printed into the report of its test."""
    for line in output.strip().splitlines()[-1:]:
        test.user_properties.append((_RESULT, line))


def print_frameworks(terminalreporter: Any) -> None:
    """Print the table, if a test of a framework ran."""
    outcomes: dict[str, list[str]] = defaultdict(list)
    results: dict[str, list[str]] = defaultdict(list)
    for outcome in ("passed", "failed", "skipped"):
        for report in terminalreporter.stats.get(outcome, []):
            named = [*getattr(report, "user_properties", [])]
            for framework in {value for key, value in named if key == _RUN}:
                outcomes[framework].append(outcome)
                results[framework] += [value for key, value in named if key == _RESULT]
                if outcome == "skipped":
                    results[framework].append(report.longrepr[2].removeprefix("Skipped: "))
    if not outcomes:
        return
    rows = [
        [known.name, known.version, _count(outcomes[known.name]), "; ".join(results[known.name])]
        for known in FRAMEWORKS
        if known.name in outcomes
    ]
    terminalreporter.section("frameworks")
    terminalreporter.write_line(write_table(_TITLES, rows))


def _count(outcomes: list[str]) -> str:
    names = dict.fromkeys(outcomes)
    return ", ".join(f"{outcomes.count(outcome)} {outcome}" for outcome in names)
