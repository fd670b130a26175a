"""Tools that cluster, merge and promote memories, read messages, and search notes."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Annotated, ClassVar, Literal, Self

from anyio import to_thread
from mcp.types import CallToolResult
from pydantic import AfterValidator, BeforeValidator, Field

from textrawl.errors import ArgumentInvalid
from textrawl.memory import decay as memories
from textrawl.memory.decay import CandidateRow, Clustering, Limits, MemoryCluster
from textrawl.memory.decay_analysis import find_recall_intent, find_save_intent
from textrawl.memory.vault import VaultMatch, Wanted, check_vault, search_vault
from textrawl.scheduling import run_aside
from textrawl.tools.call import Call
from textrawl.tools.decay.tools import (
    Days,
    DecayFailureReply,
    DecayReply,
    Limit,
    LongText,
    MemoryId,
    Query,
    Score,
    Tags,
    decay,
    reply_failure,
    shorten,
)
from textrawl.tools.toolset import READS, WRITES
from textrawl.values.text import write_line
from textrawl.wire.columns import ROUNDED, UuidText
from textrawl.wire.replies import Key, SnakePart

_MOST_SHOWN = 20
_PREVIEWS = 3

Mode = Literal["preview", "dry_run", "apply", "link"]


class ClusterPart(SnakePart):
    """A cluster, with the beginnings of its first texts."""

    id: Annotated[str, Key("id")]
    size: Annotated[int, Key("n")]
    cohesion: Annotated[float, Key("coh")]
    suggested_action: Annotated[memories.Action, Key("do")]
    memory_ids: Annotated[list[str], Key("ids")]
    content_previews: Annotated[list[str], Key("c")]

    @classmethod
    def build(cls, cluster: MemoryCluster, clustering: Clustering) -> Self:
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

    items = ("clusters",)

    success: Annotated[bool, Key("ok")] = True
    mode: Literal["clustering"] = "clustering"
    clusters_found: Annotated[int, Key("found")]
    strategy: Literal["similarity"] = "similarity"
    threshold: float
    clusters: Annotated[list[ClusterPart], Key("e")]
    message: Annotated[str, Key("msg")]


class DuplicatesReply(DecayReply):
    """The pairs of memories that are most similar, at most 20."""

    items = ("duplicates",)

    success: Annotated[bool, Key("ok")] = True
    mode: Literal["duplicate_detection"] = "duplicate_detection"
    duplicates_found: Annotated[int, Key("found")]
    duplicates: Annotated[list[DuplicatePart], Key("e")]
    message: Annotated[str, Key("msg")]


@decay.tool(READS, ClustersReply, DuplicatesReply)
async def cluster_memories(
    call: Call,
    strategy: Literal["similarity"] = "similarity",
    threshold: Score = memories.THRESHOLD,
    max_cluster_size: Limit = memories.MOST_MEMBERS,
    find_duplicates: Annotated[bool, Field(description="pairs instead of clusters")] = False,
    duplicate_threshold: Score = 0.88,
) -> CallToolResult:
    """List clusters of similar memories, for consolidate_memories; changes nothing."""
    if find_duplicates:
        rows, pairs = await memories.compare_memories(call, duplicate_threshold)
        return call.recall("cluster", _list_duplicates(rows, pairs))
    clustering = await memories.cluster_memories(call, Limits(threshold, max_cluster_size))
    found, compared = clustering.clusters, len(clustering.previews)
    reply = ClustersReply(
        clusters_found=len(found),
        threshold=threshold,
        clusters=[ClusterPart.build(one, clustering) for one in found[:_MOST_SHOWN]],
        message=f"Found {len(found)} clusters using {strategy} strategy"
        + _tell_rest(compared, clustering.total),
    )
    return call.recall("cluster", reply)


def _list_duplicates(
    rows: Sequence[memories.ComparedMemoryRow], pairs: Sequence[memories.SimilarityRow]
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

    items = ("clusters",)

    success: Annotated[bool, Key("ok")] = True
    mode: Annotated[Mode, Key("mode")]
    clusters: Annotated[list[ConsolidationPart], Key("r")]
    message: Annotated[str, Key("msg")]


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
    if cluster_id is not None:
        chosen = [await memories.find_cluster(call, cluster_id)]
    else:
        found = await memories.cluster_memories(call, Limits())
        chosen = [one for one in found.clusters if one.cohesion >= cohesion_threshold]
    parts = [await _consolidate(call, cluster, mode) for cluster in chosen[:_MOST_SHOWN]]
    more = len(chosen) - len(parts)
    rest = f"; call again for the other {more}" if more else ""
    done = {"apply": "Consolidated", "link": "Linked"}.get(mode, "Would consolidate")
    message = f"{done} {len(parts)} clusters{rest}"
    return call.reply(ConsolidationReply(mode=mode, clusters=parts, message=message))


async def _consolidate(call: Call, cluster: MemoryCluster, mode: Mode) -> ConsolidationPart:
    part = ConsolidationPart(
        cluster_id=cluster.id,
        cohesion=round(cluster.cohesion, 4),
        memory_ids=[str(member) for member in cluster.members],
    )
    if mode == "link":
        strength = max(0.0, min(1.0, cluster.cohesion))
        part.links_created = await call.write_one(
            "link_cluster", int, memories=list(cluster.members), strength=strength
        )
        return part
    merged = await memories.merge_cluster(call, cluster)
    if mode == "apply":
        part.new_memory_id = await memories.replace_cluster(call, cluster, merged)
    part.merged_content, part.strength = merged.content, round(merged.merged_strength, 4)
    part.merged_tags, part.merged_entities = merged.merged_tags, merged.merged_entities
    return part


_MOST_LISTED = 10
_MOST_PROMOTED = 100  # in one call
_NOTE_PREVIEW = 100  # characters


class CandidatePart(SnakePart):
    """A memory that can be promoted, with the reason."""

    id: Annotated[UuidText, Key("id"), Field(validation_alias="memory_id")]
    content_preview: Annotated[
        str,
        Key("c"),
        AfterValidator(lambda text: text[:_NOTE_PREVIEW]),
        Field(validation_alias="content"),
    ]
    reason: Annotated[str, Key("why"), BeforeValidator(lambda reason: reason or "forced")]
    score: Annotated[float, Key("s"), ROUNDED]
    use_count: Annotated[int, Key("uses")]
    age_days: Annotated[float, Key("age"), AfterValidator(lambda days: round(days, 1))]


class PromotedReply(DecayReply):
    """The memories that were promoted, or would be. The candidates are the first ten."""

    items = ("candidates",)

    success: Annotated[bool, Key("ok")] = True
    dry_run: Annotated[bool, Key("dry")]
    candidates_found: Annotated[int, Key("found")]
    promoted_count: Annotated[int, Key("n")]
    promoted_ids: Annotated[list[str], Key("ids")]
    candidates: Annotated[list[CandidatePart], Key("e")]
    message: str


@decay.tool(WRITES, PromotedReply, DecayFailureReply, dry_run="dry_run")
async def promote_memory(
    call: Call,
    memory_id: MemoryId | None = None,
    auto_detect: bool = False,
    dry_run: bool = False,
    target: Literal["obsidian"] = "obsidian",
    force: bool = False,
) -> CallToolResult:
    """Make a memory, or with auto_detect all that qualify, a Markdown note of the vault.

    gc leaves promoted memories. force: also one that does not qualify.
    """
    if (memory_id is None) is not auto_detect:
        raise ArgumentInvalid("Give either memory_id, or auto_detect true; nothing was changed")
    rows = await call.read("promotion_candidates", CandidateRow, memory=memory_id)
    refusal = None if auto_detect else _refuse(rows, force=force)
    if refusal is not None:
        return reply_failure(call, refusal)
    vault = call.settings.vault
    if not dry_run and rows:
        await to_thread.run_sync(check_vault, vault)
    chosen = [] if dry_run else rows[:_MOST_PROMOTED]
    promoted = await memories.promote_memories(call, vault, chosen)
    return call.reply(_build(rows, promoted, target, dry_run=dry_run))


def _refuse(rows: Sequence[CandidateRow], *, force: bool) -> DecayFailureReply | None:
    """Return the reason why the one memory cannot be promoted."""
    if not rows:
        return DecayFailureReply(message="Memory not found; search_memory shows the ids")
    [row] = rows
    if row.status == "promoted":
        message = f"Memory is promoted already: {row.promoted_to}"
        return DecayFailureReply(message=message, promoted_to=row.promoted_to)
    if row.reason is None and not force:
        score = round(row.score, 4)
        message = f"Memory does not qualify (score {score:.2f}); force promotes it anyway"
        return DecayFailureReply(message=message, score=score)
    return None


def _build(
    rows: Sequence[CandidateRow], promoted: Sequence[str], target: str, *, dry_run: bool
) -> PromotedReply:
    found = len(rows)
    count = found if dry_run else len(promoted)
    left = 0 if dry_run else found - _MOST_PROMOTED
    more = f"; call again for the other {left}" if left > 0 else ""
    return PromotedReply(
        dry_run=dry_run,
        candidates_found=found,
        promoted_count=0 if dry_run else count,
        promoted_ids=list(promoted),
        candidates=[CandidatePart.model_validate(row) for row in rows[:_MOST_LISTED]],
        message=f"{'Would promote' if dry_run else 'Promoted'} {count} memories to {target}{more}",
    )


_PREVIEW = 300  # characters
Weight = Annotated[float, Field(ge=0, le=2)]


_Instant = Annotated[str, BeforeValidator(datetime.isoformat)]


class UnifiedPart(SnakePart):
    """A memory (stm) or a note (ltm). Ids, paths and times are there if the call asks for them."""

    content: Annotated[str, Key("c"), AfterValidator(lambda text: shorten(text, _PREVIEW))]
    title: Annotated[str | None, Key("t")] = None
    source: Annotated[Literal["stm", "ltm"], Key("src")]
    score: Annotated[float, Key("s"), ROUNDED]
    tags: Annotated[list[str], Key("tags")]
    path: Annotated[str | None, Key("path")] = None
    memory_id: Annotated[str | None, Key("id")] = None
    created_at: Annotated[_Instant | None, Key("at")] = None
    last_used: Annotated[_Instant | None, Key("used")] = None

    def line(self) -> str:
        """Return the line of the text."""
        places = [f"({place})" for place in (self.memory_id, self.path) if place]
        head = f"[{self.source} {self.score:.2f}]"
        title = f"{write_line(self.title)}:" if self.title else ""
        words = [head, title, write_line(self.content), *(f"#{tag}" for tag in self.tags), *places]
        return " ".join(word for word in words if word)


class UnifiedReply(DecayReply):
    """Memories and notes, the best first. The text is always lines, as the original answers."""

    items = ("results",)
    always_lines: ClassVar[bool] = True

    success: Annotated[bool, Key("ok")] = True
    count: Annotated[int, Key("n")]
    results: Annotated[list[UnifiedPart], Key("r")]
    note: Annotated[str | None, Key("note")] = None
    dropped: Annotated[int | None, Key("cut")] = None

    @classmethod
    def build(cls, found: Sequence[VaultMatch], note: str | None, *, verbose: bool) -> Self:
        """Return the reply for the results of a search."""
        parts = [UnifiedPart.model_validate(one) for one in found]
        if not verbose:
            for part in parts:
                part.path = part.memory_id = part.created_at = part.last_used = None
        return cls(count=len(parts), results=parts, note=note)

    def lines(self) -> Iterator[str]:
        """Yield a line for each result."""
        yield from (part.line() for part in self.results)
        if not self.results:
            yield "nothing found"
        if self.dropped:
            yield f"cut {self.dropped}"
        if self.note:
            yield f"note {self.note}"

    def choose(self, count: int) -> Self:
        """Return a copy with the best results."""
        return super().choose(count).model_copy(update={"count": count})


@decay.tool(READS, UnifiedReply)
async def search_unified(
    call: Call,
    query: Query = "",
    tags: Tags | None = None,
    limit: Limit = 10,
    stm_weight: Weight = 1.0,
    ltm_weight: Weight = 0.7,
    window_days: Days | None = None,
    min_score: Score | None = None,
    verbose: Annotated[bool, Field(description="ids, paths and times too")] = False,
) -> CallToolResult:
    """Search memories (stm) and the notes of the vault (ltm) together; each has all words."""
    wanted = Wanted(query, tags or (), limit, stm_weight, ltm_weight, window_days, min_score)
    found, note = await search_vault(call, call.settings.vault, wanted)
    return call.recall("unified", UnifiedReply.build(found, note, verbose=verbose))


class SaveIntentReply(DecayReply):
    """Whether a message is worth saving, with arguments for save_memory."""

    should_save: Annotated[bool, Key("save")]
    confidence: Annotated[float, Key("conf")]
    suggested_entities: Annotated[list[str], Key("e"), Field(validation_alias="entities")]
    suggested_tags: Annotated[list[str], Key("tags"), Field(validation_alias="tags")]
    suggested_strength: Annotated[float, Key("str"), Field(validation_alias="strength")]
    reasoning: Annotated[str, Key("why")]


class RecallIntentReply(DecayReply):
    """Whether a message asks for a memory, with arguments for search_memory."""

    should_search: Annotated[bool, Key("search")]
    confidence: Annotated[float, Key("conf")]
    suggested_query: Annotated[str, Key("q"), Field(validation_alias="query")]
    suggested_tags: Annotated[list[str], Key("tags"), Field(validation_alias="tags")]
    suggested_entities: Annotated[list[str], Key("e"), Field(validation_alias="entities")]
    reasoning: Annotated[str, Key("why")]


@decay.tool(READS, SaveIntentReply)
async def analyze_message(call: Call, message: LongText) -> CallToolResult:
    """Tell whether a message is worth saving.

    Confidence above 0.7: call save_memory with the suggestions; from 0.4: ask the user first.
    """
    intent = await run_aside(find_save_intent, message)
    return call.reply(SaveIntentReply.model_validate(intent))


@decay.tool(READS, RecallIntentReply)
async def analyze_for_recall(call: Call, message: LongText) -> CallToolResult:
    """Tell whether a message asks for something saved, and what to search for.

    Confidence above 0.7: call search_memory; from 0.4: ask the user first.
    """
    intent = await run_aside(find_recall_intent, message)
    return call.reply(RecallIntentReply.model_validate(intent))
