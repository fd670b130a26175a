"""Summaries of entities with many facts: clauses of an LLM that each quote a fact."""

import json
import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import BaseModel, Field

from textrawl.errors import LlmBadOutput, LlmFailed
from textrawl.memory.llm_calls import LlmCalls
from textrawl.memory.store import StoreCall
from textrawl.models.llm import Material, Prompt
from textrawl.values.grounding import Grounding, Unsupported
from textrawl.values.leaks import mask_secrets
from textrawl.values.text import SHORT_ID, SUMMARY_TOKENS, clean_fact
from textrawl.wire.token_counter import choose_counter

logger = logging.getLogger("textrawl")

_MOST_CHARACTERS = 30_000  # of the facts in a prompt
_MOST_ATTEMPTS = 5  # if the answer to the last attempt is unusable
_LONGEST = 200  # characters of a clause
_ANSWER_TOKENS = 1_000
_LETTER = r"[^\W\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"  # of a script with spaces
_TASK = (
    "Sum up what the numbered facts say about the entity, the most important first. Answer as "
    "JSON. Each clause has a text of at most fifteen words and the number of the one fact that "
    "says it. Use the words of that fact, with its numbers, denials and conditions, and add "
    "nothing. Do not join two facts in a clause. Leave out facts that hardly matter. At most "
    "twelve clauses."
)


class Clause(BaseModel):
    """A clause as the LLM writes it, with the number of the fact that it quotes."""

    text: str
    fact: int


class EntitySummary(BaseModel):
    """The answer of the LLM."""

    clauses: list[Clause] = Field(max_length=1_000)


@dataclass(frozen=True)
class ClaimedSummary:
    """An entity that this server sums up, with its facts: [{id, content}]."""

    entity_id: UUID
    entity_name: str
    facts: list[dict[str, str]]
    facts_hash: UUID | None
    attempts: int


class SummaryOperations:
    """Makes the summaries of the caller's home space."""

    def __init__(self, call: StoreCall) -> None:
        self._store, self._caller = call.store, call.caller
        self._home = call.caller.reading_home
        self._llm = LlmCalls(call.store, "record_llm_use", purpose="summarize", **self._home)

    async def queue(self, since: datetime | None) -> None:
        """Queue the entities whose facts have changed since then, or all if it is None."""
        await self._store.database.call("queue_summaries", int, since=since, **self._home)

    async def make_next(self) -> bool:
        """Make a summary that is due, or try it again later if the answer of the LLM is unusable.

        Return False if none is due. Raises LlmFailed if the LLM did not answer.
        """
        timeout = self._store.llm.timeout if self._store.llm is not None else 0.0
        rows = await self._store.database.call(
            "claim_summary", ClaimedSummary, lease=2 * timeout + 60, **self._home
        )
        for row in rows:
            try:
                facts = limit_facts(row.facts)
                prompt = build_prompt(row.entity_name, facts)
                answer = await self._llm.complete_json(prompt, EntitySummary)
                clauses = choose_clauses(answer, row.entity_name, facts)
                await self._store_clauses(row, clauses)
            except LlmBadOutput as failure:
                logger.info("The summary of an entity is made later: %s", failure)
                if row.attempts >= _MOST_ATTEMPTS:
                    await self._store_clauses(row, [])
                else:
                    await self._delay(row)
            except LlmFailed:
                await self._delay(row, answered=False)
                raise
        return bool(rows)

    async def _store_clauses(self, row: ClaimedSummary, clauses: Sequence[dict[str, Any]]) -> None:
        await self._store.database.value(
            "store_summary",
            int,
            entity=row.entity_id,
            facts_hash=row.facts_hash,
            clauses=json.dumps(clauses),
            llm=self._store.llm.name if self._store.llm is not None else None,
            **{**self._caller.signing, **self._home},
        )

    async def _delay(self, row: ClaimedSummary, *, answered: bool = True) -> None:
        await self._store.database.value(
            "delay_summary", bool, entity=row.entity_id, answered=answered, **self._home
        )


def limit_facts(facts: Sequence[dict[str, str]]) -> list[dict[str, str]]:
    """Return the first facts that fit in a prompt, with secrets masked."""
    chosen, size = list[dict[str, str]](), 0
    for fact in facts:
        content = mask_secrets(fact["content"]).text
        size += len(content)
        if size > _MOST_CHARACTERS:
            break
        chosen.append({"id": fact["id"], "content": content})
    return chosen


def build_prompt(name: str, facts: Sequence[dict[str, str]]) -> Prompt:
    """Return the prompt for the facts of an entity, which have numbers from 1."""
    material = Material()
    lines = [f"{number}. {fact['content']}" for number, fact in enumerate(facts, 1)]
    passage = material.enclose("facts", name.replace('"', "'"), "\n".join(lines))
    return Prompt(f"{_TASK}\n\n{material.care}", passage, _ANSWER_TOKENS)


def choose_clauses(
    answer: EntitySummary, name: str, facts: Sequence[dict[str, str]]
) -> list[dict[str, Any]]:
    """Return the clauses that their facts say, each fact once, within 120 tokens.

    Raises LlmBadOutput if there is none.
    """
    count, kept, used = choose_counter().count, list[dict[str, Any]](), 0
    for clause in answer.clauses:
        text = " ".join(clean_fact(clause.text).split())
        fact = facts[clause.fact - 1] if 0 < clause.fact <= len(facts) else None
        if fact is None or any(one["fact"] == fact["id"] for one in kept):
            continue
        if not 0 < len(text) <= _LONGEST or not _is_said(name, text, fact["content"]):
            continue
        cost = count(f"; {text} [{fact['id'][:SHORT_ID]}]")
        if used + cost > SUMMARY_TOKENS:
            break
        used += cost
        kept.append({"fact": fact["id"], "content": text})
    if not kept:
        raise LlmBadOutput(
            "No clause of the LLM says what its fact says: retry, or set TEXTRAWL_LLM_MODEL to a "
            "larger model"
        )
    return kept


def _is_said(name: str, clause: str, fact: str) -> bool:
    """Return whether a fact about an entity supports a clause about it."""
    named = re.compile(f"(?<!{_LETTER}){re.escape(name)}(?!{_LETTER})", re.IGNORECASE)
    begins = named.match(clause)
    claim = clause[begins.end() :] if begins else clause
    if named.search(claim):  # the entity is not the subject: "Ada knows Ben" about Ben
        return False
    sentence = fact if named.match(fact) else f"{name} {fact}"
    try:
        Grounding(sentence).support_fact(name, claim)
    except Unsupported:
        return False
    return True
