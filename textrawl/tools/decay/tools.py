"""The tools of the `decay` toolset."""

from textrawl.tools.decay.consolidation import (
    analyze_for_recall,
    analyze_message,
    cluster_memories,
    consolidate_memories,
    gc,
    promote_memory,
    search_unified,
)
from textrawl.tools.decay.declaration import decay
from textrawl.tools.decay.memories import (
    backfill_embeddings,
    create_relation,
    observe_memory_usage,
    open_memories,
    read_graph,
    save_memory,
    search_memory,
    touch_memory,
)

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
