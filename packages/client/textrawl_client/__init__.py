"""textrawl_client: a textrawl memory for programs in Python, over HTTP or on this machine."""

from importlib import import_module

TYPE_CHECKING = False  # the server of textrawl imports `errors` early, and nothing else of this
if TYPE_CHECKING:
    from typing import Any

    from textrawl_client.client import Client, SyncClient
    from textrawl_client.items import Put
    from textrawl_client.schemas import Item

__version__ = "0.1.0"
__all__ = ["Client", "Item", "Put", "SyncClient", "__version__"]


def __getattr__(name: str) -> "Any":
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = {"Item": "schemas", "Put": "items"}.get(name, "client")
    return getattr(import_module(f"{__name__}.{module}"), name)
