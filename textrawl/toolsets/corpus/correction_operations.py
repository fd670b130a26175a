"""The operations of correct and apply: they ask the LLM, and call SQL functions."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from textrawl.access.principal import Caller
from textrawl.documents.chunking import MOST_CHARACTERS
from textrawl.errors import ArgumentInvalid, LlmBadOutput
from textrawl.postgres.sqlstates import DataRefused
from textrawl.scheduling.write_order import let_later_writes_pass
from textrawl.settings import CorrectionMode
from textrawl.store.document_vectors import embed_document, find_document_model
from textrawl.store.llm_calls import LlmCalls, build_record
from textrawl.store.store import Store
from textrawl.toolsets.corpus.correction import ProposedText, build_prompt, place_text
from textrawl.toolsets.corpus.rows import AppliedRow, ChunkRow, ProposedRow
from textrawl.wire.token_counter import choose_counter


@dataclass(frozen=True)
class Proposal:
    """A proposed correction, which nobody has applied yet."""

    row: ProposedRow
    original: str
    proposed: str


class CorrectionOperations:
    """Corrections of chunks for one caller, in `graphs` or in all graphs of the caller."""

    def __init__(self, store: Store, graphs: Sequence[str] | None, caller: Caller) -> None:
        self._store = store
        self._call = store.database.call
        self._graphs = None if graphs is None else list(graphs)
        self._caller = caller

    async def propose(
        self, document: UUID, part: int, proposal: str, mode: CorrectionMode
    ) -> Proposal:
        """Store a proposed text for a chunk. The chunk does not change. Raises LlmFailed."""
        chunk = await self._read(document, part)
        if mode == "llm":
            proposed = await self._ask(chunk, proposal)
        else:
            proposed = _place_proposal(chunk.content, proposal)
        try:
            [row] = await self._call(
                "propose_correction",
                ProposedRow,
                document=document,
                chunk_part=part,
                original=chunk.content,
                proposed=proposed,
                proposal=proposal,
                tokens=choose_counter().count(proposed),
                mode=mode,
                graphs=self._graphs,
                **self._caller.signing,
            )
        except DataRefused as refusal:
            raise refusal.explain() from refusal
        return Proposal(row, chunk.content, proposed)

    async def apply(self, correction: UUID) -> tuple[AppliedRow, bool]:
        """Replace a chunk by its proposed text. Return also whether it has its vector already."""
        # The text is not known yet, so ask with the longest text of a chunk.
        model = await find_document_model(self._store, ["x" * MOST_CHARACTERS])
        try:
            [row] = await self._call(
                "apply_correction",
                AppliedRow,
                correction=correction,
                graphs=self._graphs,
                **self._caller.signing,
            )
        except DataRefused as refusal:
            raise refusal.explain() from refusal
        return row, await embed_document(self._store, model, row.space_id, row.document_id)

    async def _read(self, document: UUID, part: int) -> ChunkRow:
        try:
            [row] = await self._call(
                "read_chunk",
                ChunkRow,
                document=document,
                chunk_part=part,
                credential=self._caller.principal.credential,
                graphs=self._graphs,
                scope="write",  # otherwise the LLM would work for a caller who can only read
            )
        except DataRefused as refusal:
            raise refusal.explain() from refusal
        return row

    async def _ask(self, chunk: ChunkRow, proposal: str) -> str:
        let_later_writes_pass()  # the LLM can take a minute
        principal = self._caller.principal
        space = next((one.id for one in principal.spaces if one.name == chunk.graph), None)
        record = build_record(
            self._store.database, "correct", credential=principal.credential, space=space
        )
        prompt = build_prompt(chunk.label, chunk.content, proposal)
        calls = LlmCalls(self._store.llm, record)
        answer = await calls.complete_json(prompt, ProposedText, whole=True)
        try:
            return place_text(chunk.content, answer.proposedText)
        except ValueError as fault:
            raise LlmBadOutput(
                f"The text that the LLM wrote {fault}: say in proposal which words to replace, or "
                "set TEXTRAWL_LLM_MODEL to a larger model; nothing was stored"
            ) from fault


def _place_proposal(chunk: str, proposal: str) -> str:
    """Return the proposal as the new text of a chunk. Raises ArgumentInvalid."""
    try:
        return place_text(chunk, proposal)
    except ValueError as fault:
        raise ArgumentInvalid(
            f"proposal {fault}: give the whole new text of the chunk, because this server has "
            "TEXTRAWL_CORRECTION_MODE=deterministic; nothing was stored"
        ) from fault
