"""The tools of the `memory` toolset."""

from textrawl.tools.memory.declaration import memory
from textrawl.tools.memory.extract_memories import extract_memories
from textrawl.tools.memory.query_memory import query_memory
from textrawl.tools.memory.resources import PROMPTS, complete_entity
from textrawl.tools.memory.writing import (
    build_knowledge,
    forget_entity,
    relate_entities,
    remember_fact,
)

__all__ = [
    "PROMPTS",
    "build_knowledge",
    "complete_entity",
    "extract_memories",
    "forget_entity",
    "memory",
    "query_memory",
    "relate_entities",
    "remember_fact",
]
