"""The tools of the `entities` toolset."""

from textrawl.toolsets.entities.candidates import find_same_entities
from textrawl.toolsets.entities.declaration import entities
from textrawl.toolsets.entities.merging import merge_entities, split_entity
from textrawl.toolsets.entities.naming import name_entity

__all__ = ["entities", "find_same_entities", "merge_entities", "name_entity", "split_entity"]
