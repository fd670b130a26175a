"""The tools of the `journal` toolset."""

from textrawl.toolsets.journal.consolidation import memory_consolidate
from textrawl.toolsets.journal.declaration import journal
from textrawl.toolsets.journal.deletion import memory_delete
from textrawl.toolsets.journal.listing import memory_list
from textrawl.toolsets.journal.reading import memory_read
from textrawl.toolsets.journal.searching import memory_search
from textrawl.toolsets.journal.writing import memory_create, memory_update

__all__ = [
    "journal",
    "memory_consolidate",
    "memory_create",
    "memory_delete",
    "memory_list",
    "memory_read",
    "memory_search",
    "memory_update",
]
