"""Findings of `textrawl doctor`."""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from textrawl.errors import StartRefused, TextrawlError
from textrawl.postgres.conninfo import describe_failure


@dataclass(frozen=True)
class Finding:
    """The result of one check. If the verdict is `broken`, calls fail and `message` has the fix."""

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
    """Return the message of `error`. If libpq caused the error, its message is added."""
    reason = describe_failure(error.__cause__)
    return f"{error} ({reason})" if reason else str(error)
