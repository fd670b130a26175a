"""textrawl_client: a textrawl memory for programs in Python, over HTTP or on this machine."""

from importlib import import_module

TYPE_CHECKING = False  # the server of textrawl imports `errors` early, and nothing else of this
if TYPE_CHECKING:
    from typing import Any

    from textrawl_client.client import Client, SyncClient

__version__ = "0.1.0"
__all__ = ["Client", "SyncClient", "__version__"]


def __getattr__(name: str) -> "Any":
    if name not in ("Client", "SyncClient"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("textrawl_client.client"), name)
