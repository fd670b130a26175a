"""textrawl: shared memory for AI agents, kept in Postgres."""

from importlib.metadata import version

from textrawl.migrations import migrate
from textrawl.server import create_server
from textrawl.settings import Settings, read_settings

__version__ = version("textrawl")
__all__ = ["Settings", "__version__", "create_server", "migrate", "read_settings"]
