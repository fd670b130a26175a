"""One thing that `textrawl doctor` looked at, and what came of it."""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from textrawl.errors import StartRefused, TextrawlError
from textrawl.postgres.conninfo import describe_failure


@dataclass(frozen=True)
class Finding:
    """One thing looked at; with a `broken` one calls fail, and it says what to do."""

    name: str
    verdict: Literal["ok", "note", "broken"]
    told: str


@contextmanager
def noting(findings: list[Finding], name: str) -> Generator[None]:
    """Turn an expected error into a finding."""
    try:
        yield
    except (StartRefused, TextrawlError) as error:
        findings.append(Finding(name, "broken", describe_error(error)))


def describe_error(error: StartRefused | TextrawlError) -> str:
    """Return what `error` says, with what libpq says of a database that cannot be reached."""
    reason = describe_failure(error.__cause__)
    return f"{error} ({reason})" if reason else str(error)
