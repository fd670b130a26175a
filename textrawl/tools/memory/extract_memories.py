"""extract_memories: the tool that stores what a text says. It needs an LLM."""

from typing import Annotated, Any, Literal, Self

from mcp.types import CallToolResult
from pydantic import Field

from textrawl.errors import ExtractionNotEnabled, LlmNotConfigured, TextrawlError
from textrawl.settings import Settings
from textrawl.tools.call import Call
from textrawl.tools.memory.extraction import MOST_CHARACTERS, Extracted, Findings, extract_text
from textrawl.tools.memory.tools import memory
from textrawl.tools.toolset import WRITES
from textrawl.wire.arguments import apply
from textrawl.wire.replies import Key, Part, SuccessReply

_ASKS = WRITES.model_copy(update={"open_world_hint": True, "idempotent_hint": False})

TextToRead = Annotated[str, apply(str.strip), Field(min_length=10, max_length=100_000)]


class EntityPart(Part):
    """An entity of the text with its facts."""

    name: Annotated[str, Key("n")]
    type: Annotated[str, Key("t")]
    observations: Annotated[list[str], Key("o")]


class RelationPart(Part):
    """A relation of the text."""

    from_entity: Annotated[str, Key("f")]
    relation: Annotated[str, Key("r")]
    to_entity: Annotated[str, Key("t")]


class DroppedPart(Part):
    """A finding of the LLM that is not stored, and the reason."""

    item: Annotated[str, Key("c")]
    reason: Annotated[str, Key("err")]


class ExtractionPart(Part):
    """The findings in a text."""

    entities: Annotated[list[EntityPart], Key("entities")]
    relations: Annotated[list[RelationPart], Key("relations")]

    @classmethod
    def build(cls, findings: Findings) -> Self:
        """Return the part for `findings`, with the facts of an entity together."""
        entities = dict[str, EntityPart]()
        for fact in findings.facts:
            key = fact.entityName.casefold()
            kind = findings.types.get(key, "concept")
            new = EntityPart(name=fact.entityName, type=kind, observations=[])
            entities.setdefault(key, new).observations.append(fact.observation)
        relations = [
            RelationPart(from_entity=one.fromEntity, relation=one.relation, to_entity=one.toEntity)
            for one in findings.relations
        ]
        return cls(entities=list(entities.values()), relations=relations)


class StoragePart(Part):
    """The numbers of new facts, of facts that were known, and of new relations."""

    observations_created: Annotated[int, Key("obs")]
    observations_duplicate: Annotated[int, Key("dup")]
    relations_created: Annotated[int, Key("rel")]


class ExtractReply(SuccessReply):
    """The findings in a text, and what was stored.

    `quoted` is the number of facts that are a sentence of the text, because the LLM said it in
    other words. `note` says how much of the text was read, if it was not read to its end.
    `left_out` is the number of items that the answer does not show, because it would be too long.
    """

    spared = (("message",), ("extraction",), ("note",))

    preview: Annotated[bool | None, Key("preview")] = None
    message: str | None
    note: Annotated[str | None, Key("note")] = None
    extraction: ExtractionPart | None
    storage: Annotated[StoragePart | None, Key("stored")] = None
    quoted: Annotated[int | None, Key("quoted")] = None
    dropped: Annotated[list[DroppedPart] | None, Key("dropped")] = None
    left_out: Annotated[int | None, Key("more")] = None

    @classmethod
    def build(cls, extracted: Extracted, characters: int, *, preview: bool) -> Self:
        """Return the reply for a text of so many characters."""
        findings, row = extracted.findings, extracted.stored
        if preview:
            outcome = "nothing was stored"
        else:
            outcome = "all wait for a review" if row and row.proposals else "all are stored"
        storage = row and StoragePart(
            observations_created=row.facts_created,
            observations_duplicate=row.facts_duplicate,
            relations_created=row.relations_created,
        )
        return cls(
            preview=preview or None,
            message=_describe(findings, outcome),
            note=_write_note(characters),
            extraction=ExtractionPart.build(findings),
            storage=storage,
            quoted=findings.quoted or None,
            dropped=[DroppedPart(item=one.item, reason=one.reason) for one in findings.dropped]
            or None,
        )

    def compact(self) -> Any:
        """Return short keys. Entities and relations are members of the answer itself."""
        found: dict[str, Any] = self.extraction.compact() if self.extraction else {}
        return super().compact() | found

    def size(self) -> int:
        """Return the number of entities, relations and dropped items."""
        return sum(len(items) for items in self._list_items())

    def choose(self, count: int) -> Self:
        """Return a copy with the first dropped items, then entities, then relations."""
        entities, relations, dropped = self._list_items()
        rest = max(count - len(dropped), 0)
        shown = ExtractionPart(
            entities=entities[:rest], relations=relations[: max(rest - len(entities), 0)]
        )
        changes = {
            "extraction": shown,
            "dropped": dropped[:count] or None,
            "left_out": (self.size() - count) or None,
        }
        return self.model_copy(update=changes)

    def _list_items(self) -> tuple[list[EntityPart], list[RelationPart], list[DroppedPart]]:
        found = self.extraction or ExtractionPart(entities=[], relations=[])
        return found.entities, found.relations, self.dropped or []


def _describe(findings: Findings, outcome: str) -> str:
    if not findings.facts and not findings.relations:
        return "The text has nothing to remember"
    facts, relations = len(findings.facts), len(findings.relations)
    return f"Facts found: {facts}, relations found: {relations}; {outcome}"


def _write_note(characters: int) -> str | None:
    if characters <= MOST_CHARACTERS:
        return None
    read = f"Read only the first {MOST_CHARACTERS} of {characters} characters"
    return f"{read}: call again with the rest"


def _refuse(settings: Settings) -> type[TextrawlError] | None:
    if not settings.enable_memory_extraction:
        return ExtractionNotEnabled
    return LlmNotConfigured if settings.llm_provider == "none" else None


@memory.tool(_ASKS, ExtractReply, refuse=_refuse)
async def extract_memories(
    call: Call,
    text: Annotated[TextToRead, Field(description="the first 30,000 characters are read")],
    source: Literal["conversation", "note", "document", "manual"] = "manual",
    storeResults: Annotated[bool, Field(description="false: only show them")] = True,
) -> CallToolResult:
    """Remember what a long text says: an LLM finds facts and relations in it, and stores them.

    Takes up to a minute. For what you know yourself use build_knowledge. Example: {"text":"Ada
    joined Acme Corp in May and leads QA there.","source":"note"}.
    """
    extracted = await extract_text(call, text, source, storing=storeResults)
    return call.reply(ExtractReply.build(extracted, len(text), preview=not storeResults))
