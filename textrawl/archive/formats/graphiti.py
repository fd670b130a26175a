"""Graphs of Zep and Graphiti: nodes, edges with periods, and episodes, as JSON."""

from collections.abc import Iterator, Mapping
from typing import Any

from textrawl.archive.bundles import Bundle
from textrawl.archive.formats import ImportFormat, as_list, as_object, as_text, read_time
from textrawl.archive.items import (
    Entity,
    Fault,
    ImportedFact,
    ImportedNote,
    ImportedRelation,
    Item,
)

_NODES = ("nodes", "entity_nodes", "entities")
_EDGES = ("edges", "entity_edges", "facts")
_EPISODES = ("episodes", "episodic_nodes")


def recognises(bundle: Bundle) -> bool:
    """Return whether the file is a graph of Zep or Graphiti."""
    heads = (bundle.read_head(name) for name in list(bundle.sizes)[:1])
    marks = (b'"source_node_uuid"', b'"group_id"', b'"valid_at"')
    return any(sum(mark in head for mark in marks) > 1 for head in heads)


def read(bundle: Bundle) -> Iterator[Item]:
    """Yield the nodes as entities, the edges as facts and relations, the episodes as documents."""
    for name in bundle.sizes:
        graph = as_object(bundle.read_json(name))
        names = dict[str, str]()
        for number, node in enumerate(_find(graph, _NODES)):
            key, title = as_text(node.get("uuid")), as_text(node.get("name")).strip()
            if not key or not title:
                yield Fault(f"{name}, node {number}", "it has no uuid or no name")
                continue
            names[key] = title
            yield _read_node(key, title, node)
        for number, edge in enumerate(_find(graph, _EDGES)):
            source = names.get(as_text(edge.get("source_node_uuid")))
            target = names.get(as_text(edge.get("target_node_uuid")))
            if not source or not target or not as_text(edge.get("uuid")):
                yield Fault(f"{name}, edge {number}", "it has no uuid, or a node of it is missing")
                continue
            yield from _read_edge(edge, source, target)
        for episode in _find(graph, _EPISODES):
            if text := as_text(episode.get("content")).strip():
                title = as_text(episode.get("name")) or as_text(episode.get("source_description"))
                yield ImportedNote(
                    as_text(episode.get("uuid")), title, text, read_time(episode.get("valid_at"))
                )


def _find(graph: Mapping[str, Any], keys: tuple[str, ...]) -> list[dict[str, Any]]:
    return [as_object(one) for key in keys for one in as_list(graph.get(key))]


def _read_node(key: str, title: str, node: Mapping[str, Any]) -> Entity:
    labels = [as_text(one) for one in as_list(node.get("labels"))]
    kind = next((one for one in labels if one and one != "Entity"), None)
    summary = as_text(node.get("summary")).strip() or None
    return Entity(key, title, kind, summary, at=read_time(node.get("created_at")))


def _read_edge(edge: Mapping[str, Any], source: str, target: str) -> Iterator[Item]:
    key, at = as_text(edge.get("uuid")), read_time(edge.get("created_at"))
    begin = read_time(edge.get("valid_at"))
    # Graphiti sets `expired_at` when it learns that the edge is not valid any more.
    end = read_time(edge.get("invalid_at")) or read_time(edge.get("expired_at"))
    if relation := as_text(edge.get("name")).strip():
        yield ImportedRelation(key, source, relation.lower(), target, at, begin, end)
    if text := as_text(edge.get("fact")).strip():
        said = read_time(edge.get("reference_time"))
        yield ImportedFact(f"{key}/fact", source, text, at, said, begin, end)


FORMAT = ImportFormat("graphiti", "Zep or Graphiti", recognises, read)
