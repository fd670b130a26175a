"""The tools of the `curation` toolset."""

from textrawl.toolsets.curation.declaration import curation
from textrawl.toolsets.curation.revising import revise_fact
from textrawl.toolsets.curation.sharing import share_memories

__all__ = ["curation", "revise_fact", "share_memories"]
