"""The tools of the `decay` toolset."""

from textrawl.toolsets.decay.backfill import backfill_embeddings
from textrawl.toolsets.decay.collection import gc
from textrawl.toolsets.decay.consolidation import cluster_memories, consolidate_memories
from textrawl.toolsets.decay.declaration import decay
from textrawl.toolsets.decay.intents import analyze_for_recall, analyze_message
from textrawl.toolsets.decay.links import create_relation, open_memories, read_graph
from textrawl.toolsets.decay.promotion import promote_memory
from textrawl.toolsets.decay.save import save_memory
from textrawl.toolsets.decay.search import search_memory
from textrawl.toolsets.decay.unified import search_unified
from textrawl.toolsets.decay.use import observe_memory_usage, touch_memory

__all__ = [
    "analyze_for_recall",
    "analyze_message",
    "backfill_embeddings",
    "cluster_memories",
    "consolidate_memories",
    "create_relation",
    "decay",
    "gc",
    "observe_memory_usage",
    "open_memories",
    "promote_memory",
    "read_graph",
    "save_memory",
    "search_memory",
    "search_unified",
    "touch_memory",
]
