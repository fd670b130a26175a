"""Rows of the SQL functions about a whole memory.

Rows that only commands read are in `textrawl.cli.rows`, because each class in this module adds
0.5 ms to the start of a server.
"""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class SpaceRow:
    """The row of `default_space`."""

    default_space: int


@dataclass(frozen=True)
class StatisticsRow:
    """The counts of a memory. `bytes` is the size of the whole database."""

    entities: int
    facts: int
    valid_facts: int
    relations: int
    events: int
    bytes: int
    types: dict[str, int]
    models: list[dict[str, Any]]
