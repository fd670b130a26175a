"""Extraction of facts and relations from a text of a caller, with the LLM."""

from dataclasses import dataclass

from textrawl.access.principal import Caller
from textrawl.scheduling.write_order import let_later_writes_pass
from textrawl.store.llm_calls import LlmCalls, build_record
from textrawl.store.store import Store
from textrawl.toolsets.memory.extraction import (
    ExtractedMemories,
    Findings,
    build_prompt,
    check_answer,
)
from textrawl.toolsets.memory.operations import MemoryOperations
from textrawl.toolsets.memory.rows import BatchRow


@dataclass(frozen=True)
class Extracted:
    """The findings in a text, and the counts of what was stored, or None."""

    findings: Findings
    stored: BatchRow | None


class TextExtraction:
    """Extracts facts and relations for one caller."""

    def __init__(self, store: Store, caller: Caller) -> None:
        self._memory = MemoryOperations(store)
        self._caller = caller
        record = build_record(
            store.database,
            "extract_memories",
            credential=caller.principal.credential,
            space=caller.principal.home,
        )
        self._llm = LlmCalls(store.llm, record)

    async def extract(self, text: str, source: str, *, storing: bool) -> Extracted:
        """Find facts and relations in a text, and store them if `storing` is true.

        Either all usable items are stored, or none. Raises LlmFailed.
        """
        let_later_writes_pass()  # the LLM can take a minute
        prompt = build_prompt(text, source)
        answer = await self._llm.complete_json(prompt, ExtractedMemories, whole=True)
        findings = check_answer(answer, source)
        if not storing or not (findings.facts or findings.relations):
            return Extracted(findings, None)
        row = await self._memory.build(
            [fact.read() for fact in findings.facts],
            [relation.read() for relation in findings.relations],
            self._caller,
        )
        return Extracted(findings, row)
