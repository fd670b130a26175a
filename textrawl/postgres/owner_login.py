"""The address of a memory for its owner."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class OwnerLogin:
    """The conninfo of a memory's owner.

    `programs` is the folder with the programs of Postgres, or None if it is unknown. `timeout` is
    the time limit for connecting, in seconds.
    """

    conninfo: str
    programs: Path | None
    timeout: float
