"""cluster_memories and consolidate_memories: similar memories, and one memory in their place."""

from collections.abc import Sequence
from typing import Annotated, Literal, Self

from mcp.types import CallToolResult
from pydantic import Field

from textrawl.errors import ArgumentInvalid
from textrawl.toolsets.call import Call
from textrawl.toolsets.decay.clusters import (
    MOST_MEMBERS,
    THRESHOLD,
    Action,
    Cluster,
    Limits,
)
from textrawl.toolsets.decay.consolidation_operations import (
    Clustering,
    ComparedRow,
    ConsolidationOperations,
    Merged,
    SimilarityRow,
)
from textrawl.toolsets.decay.declaration import Limit, Score, decay
from textrawl.toolsets.decay.replies import DecayReply
from textrawl.toolsets.toolset import READS, WRITES
from textrawl.wire.replies import Key, SnakePart

_MOST_SHOWN = 20
_PREVIEWS = 3

Mode = Literal["preview", "dry_run", "apply", "link"]


class ClusterPart(SnakePart):
    """A cluster, with the beginnings of its first texts."""

    id: Annotated[str, Key("id")]
    size: Annotated[int, Key("n")]
    cohesion: Annotated[float, Key("coh")]
    suggested_action: Annotated[Action, Key("do")]
    memory_ids: Annotated[list[str], Key("ids")]
    content_previews: Annotated[list[str], Key("c")]

    @classmethod
    def build(cls, cluster: Cluster, clustering: Clustering) -> Self:
        """Return the part for a cluster."""
        return cls(
            id=cluster.id,
            size=len(cluster.members),
            cohesion=round(cluster.cohesion, 4),
            suggested_action=cluster.action,
            memory_ids=[str(member) for member in cluster.members],
            content_previews=[
                clustering.previews[member] for member in cluster.members[:_PREVIEWS]
            ],
        )


class DuplicatePart(SnakePart):
    """Two memories that may say the same."""

    id1: Annotated[str, Key("id1")]
    id2: Annotated[str, Key("id2")]
    content1_preview: Annotated[str, Key("c1")]
    content2_preview: Annotated[str, Key("c2")]
    similarity: Annotated[float, Key("s")]


class ClustersReply(DecayReply):
    """The clusters, at most 20."""

    success: Annotated[bool, Key("ok")] = True
    mode: Literal["clustering"] = "clustering"
    clusters_found: Annotated[int, Key("found")]
    strategy: Literal["similarity"] = "similarity"
    threshold: float
    clusters: Annotated[list[ClusterPart], Key("e")]
    message: Annotated[str, Key("msg")]

    def size(self) -> int:
        """Return the number of clusters."""
        return len(self.clusters)

    def choose(self, count: int) -> Self:
        """Return a copy with the first clusters."""
        return self.model_copy(update={"clusters": self.clusters[:count]})


class DuplicatesReply(DecayReply):
    """The pairs of memories that are most similar, at most 20."""

    success: Annotated[bool, Key("ok")] = True
    mode: Literal["duplicate_detection"] = "duplicate_detection"
    duplicates_found: Annotated[int, Key("found")]
    duplicates: Annotated[list[DuplicatePart], Key("e")]
    message: Annotated[str, Key("msg")]

    def size(self) -> int:
        """Return the number of pairs."""
        return len(self.duplicates)

    def choose(self, count: int) -> Self:
        """Return a copy with the most similar pairs."""
        return self.model_copy(update={"duplicates": self.duplicates[:count]})


@decay.tool(READS, ClustersReply, DuplicatesReply)
async def cluster_memories(
    call: Call,
    strategy: Literal["similarity"] = "similarity",
    threshold: Score = THRESHOLD,
    max_cluster_size: Limit = MOST_MEMBERS,
    find_duplicates: Annotated[bool, Field(description="pairs instead of clusters")] = False,
    duplicate_threshold: Score = 0.88,
) -> CallToolResult:
    """List clusters of similar memories, for consolidate_memories; changes nothing."""
    operations = ConsolidationOperations(call.store)
    if find_duplicates:
        rows, pairs = await operations.compare(duplicate_threshold, call.caller)
        return call.recall("cluster", _list_duplicates(rows, pairs))
    clustering = await operations.cluster(Limits(threshold, max_cluster_size), call.caller)
    return call.recall("cluster", _list_clusters(clustering, threshold, strategy))


def _list_clusters(clustering: Clustering, threshold: float, strategy: str) -> ClustersReply:
    found, compared = len(clustering.clusters), len(clustering.previews)
    message = f"Found {found} clusters using {strategy} strategy"
    return ClustersReply(
        clusters_found=found,
        threshold=threshold,
        clusters=[ClusterPart.build(one, clustering) for one in clustering.clusters[:_MOST_SHOWN]],
        message=message + _tell_rest(compared, clustering.total),
    )


def _list_duplicates(
    rows: Sequence[ComparedRow], pairs: Sequence[SimilarityRow]
) -> DuplicatesReply:
    previews = {row.memory_id: row.preview for row in rows}
    best = sorted(pairs, key=lambda pair: (-pair.similarity, str(pair.one), str(pair.other)))
    message = f"Found {len(pairs)} potential duplicate pairs"
    return DuplicatesReply(
        duplicates_found=len(pairs),
        duplicates=[
            DuplicatePart(
                id1=str(pair.one),
                id2=str(pair.other),
                content1_preview=previews[pair.one],
                content2_preview=previews[pair.other],
                similarity=round(pair.similarity, 4),
            )
            for pair in best[:_MOST_SHOWN]
        ],
        message=message + _tell_rest(len(rows), rows[0].total if rows else 0),
    )


def _tell_rest(compared: int, total: int) -> str:
    rest = f" among the {compared:,} memories that were used last, of {total:,}"
    return rest if total > compared else ""


class ConsolidationPart(SnakePart):
    """A cluster that was consolidated or linked, or would be."""

    cluster_id: Annotated[str, Key("id")]
    cohesion: Annotated[float, Key("coh")]
    memory_ids: Annotated[list[str], Key("ids")]
    merged_content: Annotated[str | None, Key("c")] = None
    merged_tags: Annotated[list[str] | None, Key("tags")] = None
    merged_entities: Annotated[list[str] | None, Key("e")] = None
    strength: Annotated[float | None, Key("str")] = None
    new_memory_id: Annotated[str | None, Key("new")] = None
    links_created: Annotated[int | None, Key("links")] = None


class ConsolidationReply(DecayReply):
    """The clusters of a call of consolidate_memories."""

    success: Annotated[bool, Key("ok")] = True
    mode: Annotated[Mode, Key("mode")]
    clusters: Annotated[list[ConsolidationPart], Key("r")]
    message: Annotated[str, Key("msg")]

    def size(self) -> int:
        """Return the number of clusters."""
        return len(self.clusters)

    def choose(self, count: int) -> Self:
        """Return a copy with the first clusters."""
        return self.model_copy(update={"clusters": self.clusters[:count]})


@decay.tool(WRITES, ConsolidationReply)
async def consolidate_memories(
    call: Call,
    cluster_id: Annotated[str, Field(max_length=100)] | None = None,
    mode: Mode = "preview",
    auto_detect: Annotated[bool, Field(description="all clusters, without cluster_id")] = False,
    cohesion_threshold: Annotated[Score, Field(description="with auto_detect")] = 0.75,
) -> CallToolResult:
    """Show (preview), make (apply: one memory replaces them) or link (link) a cluster.

    Texts are merged as they are, without a model.
    """
    if (cluster_id is None) is not auto_detect:
        raise ArgumentInvalid("Give either cluster_id, or auto_detect true; nothing was changed")
    operations = ConsolidationOperations(call.store)
    if cluster_id is not None:
        chosen = [await operations.find(cluster_id, call.caller)]
    else:
        found = await operations.cluster(Limits(), call.caller)
        chosen = [one for one in found.clusters if one.cohesion >= cohesion_threshold]
    parts = [await _consolidate(call, cluster, mode) for cluster in chosen[:_MOST_SHOWN]]
    more = len(chosen) - len(parts)
    rest = f"; call again for the other {more}" if more else ""
    done = {"apply": "Consolidated", "link": "Linked"}.get(mode, "Would consolidate")
    message = f"{done} {len(parts)} clusters{rest}"
    return call.reply(ConsolidationReply(mode=mode, clusters=parts, message=message))


async def _consolidate(call: Call, cluster: Cluster, mode: Mode) -> ConsolidationPart:
    operations = ConsolidationOperations(call.store)
    part = ConsolidationPart(
        cluster_id=cluster.id,
        cohesion=round(cluster.cohesion, 4),
        memory_ids=[str(member) for member in cluster.members],
    )
    if mode == "link":
        part.links_created = await operations.link(cluster, call.caller)
        return part
    merged = await operations.merge(cluster, call.caller)
    if mode == "apply":
        part.new_memory_id = str(await operations.apply(cluster, merged, call.caller))
    return part.model_copy(update=_describe(merged))


def _describe(merged: Merged) -> dict[str, object]:
    return {
        "merged_content": merged.text,
        "merged_tags": merged.tags,
        "merged_entities": merged.entities,
        "strength": round(merged.strength, 4),
    }
