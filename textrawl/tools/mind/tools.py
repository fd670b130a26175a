"""The tools of the `mind` toolset, which are declared when their modules are loaded."""

from textrawl.tools.mind import nodes, walks
from textrawl.tools.mind.declaration import mind

__all__ = ["mind", "nodes", "walks"]
