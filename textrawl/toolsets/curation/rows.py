"""Rows that the SQL functions of the curation toolset return: a class for each function."""

from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True)
class SharedRow:
    """The counts of share_memories. `entity_id` is the entity in the target.

    `duplicate_facts` is the number of facts that were there before, or None for a caller who cannot
    read the target. `moved_facts` and `moved_relations` were taken away from the source.
    """

    entity_id: UUID | None
    entity_name: str
    shared_facts: int
    duplicate_facts: int | None
    relations: int
    moved_facts: int
    moved_relations: int
    sample: list[str] | None


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
