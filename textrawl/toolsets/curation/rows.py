"""Rows that the SQL functions of the curation toolset return: a class for each function."""

from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True)
class RevisedRow:
    """The fact that revise_fact marked as wrong, and its successor.

    `content` is the text of the wrong fact, or None for a caller who cannot read. `duplicate` is
    true if the successor was a valid fact before. `repeated` is true if the same call came before.
    """

    entity_id: UUID
    entity_name: str
    observation_id: UUID
    content: str | None
    successor_id: UUID | None
    duplicate: bool | None
    repeated: bool
