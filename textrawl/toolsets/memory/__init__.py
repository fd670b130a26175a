"""The five tools that every server offers: remember, relate, recall, forget."""

from textrawl.toolsets.memory.declaration import memory
from textrawl.toolsets.memory.forgetting import forget_entity
from textrawl.toolsets.memory.recall import query_memory
from textrawl.toolsets.memory.writing import build_knowledge, relate_entities, remember_fact

__all__ = [
    "build_knowledge",
    "forget_entity",
    "memory",
    "query_memory",
    "relate_entities",
    "remember_fact",
]
