"""The tools of the `sync` toolset."""

from textrawl.toolsets.sync.declaration import sync
from textrawl.toolsets.sync.pulling import sync_pull
from textrawl.toolsets.sync.pushing import sync_push
from textrawl.toolsets.sync.status import sync_status

__all__ = ["sync", "sync_pull", "sync_push", "sync_status"]
