"""textrawl: shared memory for AI agents, kept in Postgres."""

from importlib import import_module

TYPE_CHECKING = False  # the module typing loads slowly, and Ctrl-C shows a traceback until `main`
if TYPE_CHECKING:
    from typing import Any

    from textrawl.client.client import Client, SyncClient
    from textrawl.postgres.migrations import migrate
    from textrawl.server.server import create_server
    from textrawl.settings import Settings, read_settings

__version__ = "0.1.0"
__all__ = [
    "Client",
    "Settings",
    "SyncClient",
    "__version__",
    "create_server",
    "migrate",
    "read_settings",
]

_MODULES = {
    "Client": "client.client",
    "Settings": "settings",
    "SyncClient": "client.client",
    "create_server": "server.server",
    "migrate": "postgres.migrations",
    "read_settings": "settings",
}


def __getattr__(name: str) -> "Any":
    # Import on demand: the MCP SDK takes half a second to load, and most commands do not need it.
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
