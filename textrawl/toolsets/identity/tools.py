"""The tools of the `identity` toolset."""

from textrawl.toolsets.identity.declaration import identity
from textrawl.toolsets.identity.loading import wrap_files
from textrawl.toolsets.identity.reading import identity_get_all, identity_get_meta
from textrawl.toolsets.identity.snapshots import (
    snapshot_create,
    snapshot_get,
    snapshot_list,
    snapshot_restore,
)
from textrawl.toolsets.identity.writing import (
    identity_append,
    identity_delete_custom,
    identity_prepend,
    identity_rewrite_section,
    identity_set_meta,
    identity_update_section,
    identity_write,
)

__all__ = [
    "identity",
    "identity_append",
    "identity_delete_custom",
    "identity_get_all",
    "identity_get_meta",
    "identity_prepend",
    "identity_rewrite_section",
    "identity_set_meta",
    "identity_update_section",
    "identity_write",
    "snapshot_create",
    "snapshot_get",
    "snapshot_list",
    "snapshot_restore",
    "wrap_files",
]
