"""Rows that the SQL functions about a memory as a whole return.

Rows that commands alone read are in textrawl.cli.rows: making such a class takes 0.5 ms.
"""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class SpaceRow:
    """What default_space returns."""

    default_space: int


@dataclass(frozen=True)
class StatisticsRow:
    """How much a memory holds; `bytes` of the whole database."""

    entities: int
    facts: int
    valid_facts: int
    relations: int
    events: int
    bytes: int
    types: dict[str, int]
    models: list[dict[str, Any]]
