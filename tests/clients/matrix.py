"""The matrix of benchmarks/clients.md: a row for each program, printed by the tests that run it."""

import os
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.clients.catalogue import PROGRAMS
from tests.clients.connecting import write_results
from tests.clients.programs.program import Program
from tests.support.pages import rewrite_generated, write_table

PAGE = Path(__file__).parents[2] / "benchmarks/clients.md"
RUN = "client"  # the property of a report that names program and transport

_TITLES = (
    "client", "version", "connects over", "the five tools are there", "the model sees",
    "instructions", "deleting",
)  # fmt: skip
_DELETING = {
    "cannot be asked": "the model has to ask, and to send `confirm`",
    "says no by itself": "no without asking; the server then refuses for five minutes",
    "asks a person": "the user is asked, and only yes deletes",
}


def write_matrix(connected: Mapping[str, Sequence[str]]) -> str:
    """Return the matrix of some programs, and the transports over which each played the script."""
    rows = [_write_row(program, connected) for program in PROGRAMS if program.name in connected]
    return write_table(_TITLES, rows)


def write_expected() -> str:
    """Return the matrix as it is when every program does what its module says of it."""
    return write_matrix({program.name: program.transports for program in PROGRAMS})


def _write_row(program: Program, connected: Mapping[str, Sequence[str]]) -> list[str]:
    plain = program.shows == "program"
    return [
        program.name, program.version,
        ", ".join(connected[program.name]) or "-",
        "once the model looks for them" if program.deferred else "at once",
        "- (a program gets both)" if plain else program.shows,
        "offered to the program" if plain else "yes" if program.instructions else "no",
        _DELETING[program.user],
    ]  # fmt: skip


def print_matrix(terminalreporter: Any) -> None:
    """Print the matrix of what passed; UPDATE_PAGES=1 writes it when all did."""
    outcomes: dict[str, dict[str, str]] = defaultdict(dict)
    for outcome in ("passed", "failed", "skipped"):
        for report in terminalreporter.stats.get(outcome, []):
            for key, value in getattr(report, "user_properties", []):
                if key == RUN:
                    name, transport = value
                    outcomes[name][transport] = outcome
    if not outcomes:
        return
    connected = {
        name: [transport for transport, outcome in found.items() if outcome == "passed"]
        for name, found in outcomes.items()
    }
    matrix = write_matrix({name: sorted(found, reverse=True) for name, found in connected.items()})
    terminalreporter.section("benchmarks/clients.md")
    terminalreporter.write_line(matrix)
    if os.environ.get("UPDATE_PAGES") and matrix == write_expected():
        text = PAGE.read_text(encoding="utf-8")
        writers = {"clients": lambda: matrix, "connecting": write_results}
        PAGE.write_text(rewrite_generated(text, writers), encoding="utf-8")


def name_run(test: pytest.Item, program: Program, transport: str) -> None:
    """Name a test's program and transport in its report."""
    test.user_properties.append((RUN, (program.name, transport)))
