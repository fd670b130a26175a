"""Extraction from a text: the prompt, the answer of the LLM, and the checks of the answer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import BaseModel, Field, ValidationError

from textrawl.errors import LlmBadOutput
from textrawl.memory.entities import find_aliases
from textrawl.memory.fact_rows import BatchRow
from textrawl.memory.facts import MemoryOperations, QuotedFact
from textrawl.memory.journal_extraction import ClaimedEntry, ExtractionOperations
from textrawl.memory.llm_calls import LlmCalls
from textrawl.memory.store import Store, StoreCall
from textrawl.models.llm import Material, Prompt
from textrawl.scheduling import let_later_writes_pass
from textrawl.tools.memory.tools import EntityType
from textrawl.tools.memory.writing import FactItem, RelationItem
from textrawl.tools.toolset import Name
from textrawl.values.grounding import Evidence, Grounding, Unsupported
from textrawl.values.names import ENTITY_TYPES
from textrawl.values.text import FACT_LENGTH, clean_fact, clean_name, split_text
from textrawl.wire.arguments import explain, slim

MOST_CHARACTERS = 30_000  # of a text in the prompt

_MOST_ITEMS = 100  # facts, and as many relations
_SHOWN = 60  # characters of an item that is left out
_ANSWER_TOKENS = 8_000
_TASK = (
    "Extract from the text what is worth remembering for years: facts about people, projects, "
    "organizations, places, preferences and decisions. Answer as JSON. An entity has a name, a "
    f"type ({', '.join(ENTITY_TYPES)}) and observations. An observation is one sentence with one "
    "fact about the entity, in the words of the text, and can be understood without the text. A "
    "relation connects the names of two entities with a verb such as works_at, knows, reports_to, "
    "manages, created, owns, contributes_to, prefers, expert_in, part_of, depends_on, located_in "
    "or related_to. Leave out greetings, guesses, and secrets such as passwords. Invent nothing. "
    "If there is nothing to remember, both lists are empty."
)


class ExtractedEntity(BaseModel):
    """An entity as the LLM describes it."""

    name: str
    type: str
    observations: list[str] = Field(max_length=1_000)


class ExtractedRelation(BaseModel):
    """A relation as the LLM describes it."""

    fromEntity: str  # noqa: N815 - the LLM gets the names of build_knowledge
    relation: str
    toEntity: str  # noqa: N815


class ExtractedMemories(BaseModel):
    """The answer of the LLM."""

    entities: list[ExtractedEntity] = Field(max_length=1_000)
    relations: list[ExtractedRelation] = Field(max_length=1_000)


class _EntityItem(BaseModel):
    entityName: Name  # noqa: N815
    entityType: EntityType  # noqa: N815


@dataclass(frozen=True)
class Dropped:
    """An item of the answer that is not stored, and the reason."""

    item: str
    reason: str


@dataclass
class Findings:
    """The usable items of an answer, and the others with the reasons.

    `types` holds the type of each entity, by its name without regard to case. `facts_said` has the
    sentence of each fact, and `relations_said` that of each relation. A fact in other words is its
    sentence itself.
    """

    facts: list[FactItem] = field(default_factory=list[FactItem])
    relations: list[RelationItem] = field(default_factory=list[RelationItem])
    facts_said: list[Evidence] = field(default_factory=list[Evidence])
    relations_said: list[Evidence] = field(default_factory=list[Evidence])
    dropped: list[Dropped] = field(default_factory=list[Dropped])
    types: dict[str, EntityType] = field(default_factory=dict[str, EntityType])
    _kept: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])

    def read_facts(self, start: int) -> list[QuotedFact]:
        """Return the facts to store, each with its sentence, in a text that begins at `start`."""
        return [
            QuotedFact(
                **vars(one.read()),
                evidence=clean_fact(said.text)[:FACT_LENGTH],
                evidence_start=start + said.start,
            )
            for one, said in zip(self.facts, self.facts_said, strict=True)
        ]

    @property
    def quoted(self) -> int:
        """The number of facts that are their sentences."""
        return sum(said.quoted for said in self.facts_said)

    def keep_fact(self, fact: FactItem, said: Evidence) -> None:
        """Add a fact, or its sentence if it is to be quoted. The same words are added once."""
        if said.quoted:
            fact = FactItem.model_validate({**fact.model_dump(), "observation": said.quotation})
        name, told = fact.entityName.casefold(), fact.observation.casefold()
        key = name, told.removeprefix(f"{name} ").rstrip(".")
        if key not in self._kept:
            self._kept.add(key)
            self.facts.append(fact)
            self.facts_said.append(said)

    def drop(self, item: str, reason: str) -> None:
        """Leave out an item."""
        plain = clean_name(item)
        shown = plain if len(plain) <= _SHOWN else f"{plain[:_SHOWN]}…"
        self.dropped.append(Dropped(shown, reason))


def build_prompt(text: str, source: str) -> Prompt:
    """Return the prompt for the first 30,000 characters of a text."""
    material = Material()
    passage = material.enclose("text", source, text[:MOST_CHARACTERS])
    return Prompt(f"{_TASK}\n\n{material.care}", passage, _ANSWER_TOKENS)


def check_answer(
    answer: ExtractedMemories, text: str, source: str, aliases: Mapping[str, Sequence[str]]
) -> Findings:
    """Return the items that the text says and a caller could store, and the others.

    Raises LlmBadOutput if the answer has items, and none of them can be used.
    """
    findings = sort_answer(answer, text, source, aliases)
    if findings.dropped and not findings.facts and not findings.relations:
        first = findings.dropped[0]
        raise LlmBadOutput(
            f"The LLM found nothing that can be stored ({first.item}: {first.reason}): retry, or "
            "set TEXTRAWL_LLM_MODEL to a larger model; nothing was stored"
        )
    return findings


def sort_answer(
    answer: ExtractedMemories, text: str, source: str, aliases: Mapping[str, Sequence[str]]
) -> Findings:
    """Return the items that the text says and a caller could store, and the others."""
    findings, grounding = Findings(), Grounding(text[:MOST_CHARACTERS], aliases)
    for entity in answer.entities:
        _add_entity(findings, entity, source, grounding)
    for relation in answer.relations:
        _add_relation(findings, relation, source, grounding)
    _limit(findings)
    return findings


def _add_entity(
    findings: Findings, entity: ExtractedEntity, source: str, grounding: Grounding
) -> None:
    try:
        item = _EntityItem.model_validate({"entityName": entity.name, "entityType": entity.type})
    except ValidationError as error:
        findings.drop(entity.name or "an entity", _explain(error, _EntityItem))
        return
    findings.types.setdefault(item.entityName.casefold(), item.entityType)
    for observation in entity.observations:
        given = {**item.model_dump(), "observation": observation, "source": source}
        label = f"{item.entityName}: {observation}"
        try:
            fact = FactItem.model_validate(given)
            said = grounding.cite_fact(fact.entityName, fact.observation)
            findings.keep_fact(fact, said)
        except ValidationError as error:
            findings.drop(label, _explain(error, FactItem))
        except Unsupported as reason:
            findings.drop(label, str(reason))


def _add_relation(
    findings: Findings, relation: ExtractedRelation, source: str, grounding: Grounding
) -> None:
    given: dict[str, Any] = relation.model_dump()
    for end in ("fromEntity", "toEntity"):
        given[f"{end}Type"] = findings.types.get(clean_name(given[end]).casefold())
    label = f"{relation.fromEntity} {relation.relation} {relation.toEntity}"
    try:
        item = RelationItem.model_validate(given)
        said = grounding.cite_relation(item.fromEntity, item.relation, item.toEntity)
        if said.quoted:
            fact = {"entityName": item.fromEntity, "entityType": item.fromEntityType}
            given = {**fact, "observation": said.quotation, "source": source}
            findings.keep_fact(FactItem.model_validate(given), said)
        else:
            findings.relations.append(item)
            findings.relations_said.append(said)
    except ValidationError as error:
        findings.drop(label, _explain(error, RelationItem))
    except Unsupported as reason:
        findings.drop(label, str(reason))


def _limit(findings: Findings) -> None:
    reason = f"the text has more than {_MOST_ITEMS}: call again with a shorter text"
    for kept, said in (
        (findings.facts, findings.facts_said),
        (findings.relations, findings.relations_said),
    ):
        surplus: Sequence[FactItem | RelationItem] = kept[_MOST_ITEMS:]
        del kept[_MOST_ITEMS:], said[_MOST_ITEMS:]
        if surplus:
            kind = "facts" if isinstance(surplus[0], FactItem) else "relations"
            findings.drop(f"{len(surplus)} {kind}", reason)


def _explain(error: ValidationError, item: type[BaseModel]) -> str:
    """Return the sentence that a caller gets for the same argument."""
    return explain(error, slim(item.model_json_schema())).fix


@dataclass(frozen=True)
class Extracted:
    """The findings in a text, and the counts of what was stored, or None."""

    findings: Findings
    stored: BatchRow | None


async def extract_text(call: StoreCall, text: str, source: str, *, storing: bool) -> Extracted:
    """Find facts and relations in a text, and store them if `storing` is true.

    Either all usable items are stored, or none. Raises LlmFailed.
    """
    let_later_writes_pass()  # the LLM can take a minute
    home = call.caller.reading_home
    llm = LlmCalls(call.store, "record_llm_use", purpose="extract_memories", **home)
    answer = await llm.complete_json(build_prompt(text, source), ExtractedMemories, whole=True)
    aliases = await find_aliases(call, text[:MOST_CHARACTERS])
    findings = check_answer(answer, text, source, aliases)
    if not storing or not (findings.facts or findings.relations):
        return Extracted(findings, None)
    relations = [relation.read() for relation in findings.relations]
    memory = MemoryOperations(call.store)
    row = await memory.build(findings.read_facts(0), relations, call.caller)
    return Extracted(findings, row)


async def propose_facts(store: Store, entry: ClaimedEntry, calls: LlmCalls) -> None:
    """Propose the facts and relations that a journal entry says, for its author.

    A long entry is read in parts, and an unusable answer to one does not keep the others from
    being read. An entry without anything to propose is no fault. Raises LlmFailed.
    """
    start, unusable = 0, None
    for text in split_text(entry.content or "", MOST_CHARACTERS):
        prompt, begin = build_prompt(text, "journal"), start
        start += len(text)
        try:
            answer = await calls.complete_json(prompt, ExtractedMemories, whole=True)
        except LlmBadOutput as failure:
            unusable = failure
            continue
        findings = sort_answer(answer, text, "conversation", entry.aliases)
        facts = findings.read_facts(begin)
        relations = [one.read() for one in findings.relations]
        said = [replace(one, start=begin + one.start) for one in findings.relations_said]
        await ExtractionOperations(store).propose(entry, facts, relations, said)
    if unusable is not None:
        raise unusable
