"""Which memory a file is made of or goes into."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Place:
    """Where a memory is, for its owner; `programs` is a folder of Postgres' programs, or None.

    `timeout` in seconds is how long a connection is waited for.
    """

    conninfo: str
    programs: Path | None
    timeout: float
