"""Findings of `textrawl doctor`."""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from textrawl.errors import StartRefused, TextrawlError
from textrawl.postgres.conninfo import describe_failure


@dataclass(frozen=True)
class Finding:
    """The result of one check; if it is `broken`, calls fail and `message` names the fix."""

    name: str
    verdict: Literal["ok", "note", "broken"]
    message: str


@contextmanager
def record_errors(findings: list[Finding], name: str) -> Generator[None]:
    """Record an expected error of the block as a finding."""
    try:
        yield
    except (StartRefused, TextrawlError) as error:
        findings.append(Finding(name, "broken", describe_error(error)))


def describe_error(error: StartRefused | TextrawlError) -> str:
    """Return the message of `error`, with that of libpq if a database cannot be reached."""
    reason = describe_failure(error.__cause__)
    return f"{error} ({reason})" if reason else str(error)
