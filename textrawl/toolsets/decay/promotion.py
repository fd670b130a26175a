"""promote_memory: a memory that proved itself becomes a note."""

from collections.abc import Sequence
from typing import Annotated, Literal, Self

from mcp.types import CallToolResult

from textrawl.errors import ArgumentInvalid
from textrawl.toolsets.call import Call
from textrawl.toolsets.decay.declaration import MemoryId, decay
from textrawl.toolsets.decay.failures import FailureReply, reply_failure
from textrawl.toolsets.decay.operations import DecayOperations
from textrawl.toolsets.decay.promotion_operations import PromotionOperations
from textrawl.toolsets.decay.replies import DecayReply
from textrawl.toolsets.decay.rows import CandidateRow
from textrawl.toolsets.toolset import WRITES
from textrawl.wire.replies import Key, SnakePart

_MOST_SHOWN = 10
_MOST_PROMOTED = 100  # in one call
_PREVIEW = 100  # characters
_FORCED = "forced"


class CandidatePart(SnakePart):
    """A memory that can be promoted, with the reason."""

    id: Annotated[str, Key("id")]
    content_preview: Annotated[str, Key("c")]
    reason: Annotated[str, Key("why")]
    score: Annotated[float, Key("s")]
    use_count: Annotated[int, Key("uses")]
    age_days: Annotated[float, Key("age")]

    @classmethod
    def build(cls, row: CandidateRow) -> Self:
        """Return the part for `row`."""
        return cls(
            id=str(row.memory_id),
            content_preview=row.content[:_PREVIEW],
            reason=row.reason or _FORCED,
            score=round(row.score, 4),
            use_count=row.use_count,
            age_days=round(row.age_days, 1),
        )


class PromotedReply(DecayReply):
    """The memories that were promoted, or would be. The candidates are the first ten."""

    success: Annotated[bool, Key("ok")] = True
    dry_run: Annotated[bool, Key("dry")]
    candidates_found: Annotated[int, Key("found")]
    promoted_count: Annotated[int, Key("n")]
    promoted_ids: Annotated[list[str], Key("ids")]
    candidates: Annotated[list[CandidatePart], Key("e")]
    message: str

    def size(self) -> int:
        """Return the number of candidates."""
        return len(self.candidates)

    def choose(self, count: int) -> Self:
        """Return a copy with the best candidates."""
        return self.model_copy(update={"candidates": self.candidates[:count]})


@decay.tool(WRITES, PromotedReply, FailureReply, dry_run="dry_run")
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
    operations = PromotionOperations(call.store, call.app.vault)
    rows = await DecayOperations(call.store).find_candidates(memory_id, call.caller)
    refusal = None if auto_detect else _refuse(rows, force=force)
    if refusal is not None:
        return reply_failure(call, refusal)
    if not dry_run and rows:
        await operations.check()
    promoted = [] if dry_run else await operations.promote(rows[:_MOST_PROMOTED], call.caller)
    return call.reply(_build(rows, promoted, target, dry_run=dry_run))


def _refuse(rows: Sequence[CandidateRow], *, force: bool) -> FailureReply | None:
    """Return the reason why the one memory cannot be promoted."""
    if not rows:
        return FailureReply(message="Memory not found; search_memory shows the ids")
    [row] = rows
    if row.status == "promoted":
        message = f"Memory is promoted already: {row.promoted_to}"
        return FailureReply(message=message, promoted_to=row.promoted_to)
    if row.reason is None and not force:
        score = round(row.score, 4)
        message = f"Memory does not qualify (score {score:.2f}); force promotes it anyway"
        return FailureReply(message=message, score=score)
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
        candidates=[CandidatePart.build(row) for row in rows[:_MOST_SHOWN]],
        message=f"{'Would promote' if dry_run else 'Promoted'} {count} memories to {target}{more}",
    )
