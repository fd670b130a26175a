"""The conformance suites of MCP against `textrawl serve --http`.

    python -m benchmarks.conformance

The suites are installed from npm once, into the cache of tests/clients. They are written for a
server with certain test tools, resources and prompts. A check can fail because it needs these, or
for another reason. The table counts both kinds separately. It prints Markdown, and exits with 1 if
a check fails for another reason.
"""

import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
from anyio import to_thread

from benchmarks.support.place import listen, open_folder
from tests.clients.installing import find_node, install
from tests.support.pages import write_table
from textrawl.settings import read_foreign_environment

_PACKAGE = "@modelcontextprotocol/conformance"
_FAILED, _PASSED = "FAILURE", "SUCCESS"
# Both are unscored: the SDK's own server fails them as well.
_KNOWN = {"tasks-": "needs the tasks extension", "sep-2243-server-accepts-whitespace": "unscored"}
_REASONS = {
    "needs a test tool of the suite": re.compile(
        r"Unknown (?:tool|prompt|resource|template)|No subscriptions to|Not testable"
        r"|Available tools|Expected InputRequiredResult|Prerequisite"
    ),
    "needs what textrawl does not offer": re.compile(r"Method not found|-32601"),
}
UNEXPLAINED = "fails"


@dataclass(frozen=True)
class Suite:
    """A version of the suites, and the options for its run."""

    version: str
    options: tuple[str, ...]

    @property
    def title(self) -> str:
        """The name of the suite in the table."""
        return f"{self.version}, `{' '.join(self.options)}`"


SUITES = (
    Suite("0.1.16", ("--suite", "all")),
    Suite("0.2.0-alpha.12", ("--requirements", "2025-11-25")),
    Suite("0.2.0-alpha.12", ("--requirements", "2026-07-28")),
)


@dataclass(frozen=True)
class Check:
    """One check of a scenario."""

    scenario: str
    name: str
    status: str
    message: str

    @property
    def reason(self) -> str:
        """Return the reason why the check failed."""
        for part, reason in _KNOWN.items():
            if part in self.scenario or part in self.name:
                return reason
        matching = [reason for reason, words in _REASONS.items() if words.search(self.message)]
        return matching[0] if matching else UNEXPLAINED


@dataclass(frozen=True)
class Outcome:
    """The findings of a suite."""

    suite: Suite
    checks: Sequence[Check]

    @property
    def failures(self) -> list[Check]:
        """The checks that failed."""
        return [check for check in self.checks if check.status == _FAILED]

    @property
    def row(self) -> list[str]:
        """The row of the suite in the table."""
        scenarios = {check.scenario for check in self.checks}
        failing = {check.scenario for check in self.failures}
        passed = sum(check.status == _PASSED for check in self.checks)
        reasons = Counter(check.reason for check in self.failures)
        counts = [len(scenarios), len(scenarios - failing), passed]
        return [self.suite.title, *(str(count) for count in [*counts, *_order(reasons)])]


def _order(reasons: Counter[str]) -> Iterable[int]:
    return [reasons[reason] for reason in (*_REASONS, *_KNOWN.values(), UNEXPLAINED)]


def write_outcomes(outcomes: Sequence[Outcome]) -> str:
    """Return the table: scenarios without a failure, then checks by their result."""
    reasons = (*_REASONS, *_KNOWN.values(), UNEXPLAINED)
    titles = ["suite", "scenarios", "without a failure", "checks passed", *reasons]
    return write_table(titles, [outcome.row for outcome in outcomes])


async def run() -> list[Outcome]:
    """Run every suite against one server with a new, empty memory."""
    with open_folder("conformance") as folder:
        environment = {
            **read_foreign_environment(),
            "DATA_DIR": str(folder / "data"),
            "EMBEDDING_PROVIDER": "local",
        }
        async with listen(environment, "--insecure") as url:
            return [
                await _run_suite(suite, url, folder / str(number))
                for number, suite in enumerate(SUITES)
            ]


async def _run_suite(suite: Suite, url: str, folder: Path) -> Outcome:
    installed = install("npm", [f"{_PACKAGE}@{suite.version}"])
    script = installed / "node_modules" / _PACKAGE / "dist/index.js"
    command = [str(find_node().program), str(script), "server", "--url", url, *suite.options]
    done = await anyio.run_process([*command, "-o", str(folder)], check=False)
    files = await to_thread.run_sync(lambda: sorted(folder.glob("*/checks.json")))
    if not files:
        raise RuntimeError(f"The suite {suite.title} ran nothing: {done.stderr.decode()}")
    return Outcome(suite, [check for file in files for check in _read_checks(file)])


def _read_checks(file: Path) -> list[Check]:
    scenario = re.sub(r"^server-|-\d{4}-\d\d-\d\dT.*$", "", file.parent.name)
    checks: list[dict[str, Any]] = json.loads(file.read_text(encoding="utf-8"))
    return [
        Check(scenario, check["id"], check["status"], check.get("errorMessage") or "")
        for check in checks
    ]


def main() -> None:
    """Print the table, and the checks that failed."""
    outcomes = anyio.run(run)
    print(write_outcomes(outcomes))
    left = [
        f"{outcome.suite.title}: {check.scenario}, {check.name}: {check.message}"
        for outcome in outcomes
        for check in outcome.failures
        if check.reason == UNEXPLAINED
    ]
    print(*left, sep="\n", file=sys.stderr)
    sys.exit(1 if left else 0)


if __name__ == "__main__":
    main()
