"""The tools of the `decay` toolset, which are declared when their modules are loaded."""

from textrawl.tools.decay import consolidation, memories
from textrawl.tools.decay.declaration import decay

__all__ = ["consolidation", "decay", "memories"]
