"""The tools of the `memory` toolset."""

from textrawl.toolsets.memory.build_knowledge import build_knowledge
from textrawl.toolsets.memory.declaration import memory
from textrawl.toolsets.memory.extract_memories import extract_memories
from textrawl.toolsets.memory.forget_entity import forget_entity
from textrawl.toolsets.memory.prompts import PROMPTS
from textrawl.toolsets.memory.query_memory import query_memory
from textrawl.toolsets.memory.relate_entities import relate_entities
from textrawl.toolsets.memory.remember_fact import remember_fact
from textrawl.toolsets.memory.resources import complete_entity

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
