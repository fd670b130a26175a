"""Conversations that are trees, because a message can be edited and an answer made again."""

from collections.abc import Mapping
from typing import Any

from textrawl.archive.json_values import as_object, as_text


def walk(nodes: Mapping[str, Any], leaf: str, parent: str) -> list[dict[str, Any]]:
    """Return the nodes from the root to a leaf. `parent` names the field with the node before."""
    key, path = leaf, dict[str, dict[str, Any]]()
    while key not in path and (node := as_object(nodes.get(key))):
        path[key] = node
        key = as_text(node.get(parent))
    return list(path.values())[::-1]
