"""The tools of the `connector` toolset. Their names, arguments and answers are those of ChatGPT.

Source: platform.openai.com/docs/mcp, as of June 2026.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Annotated, ClassVar, Self
from uuid import UUID

from mcp.types import CallToolResult
from pydantic import Field, PrivateAttr

from textrawl.errors import QueryMissing
from textrawl.memory.connector import (
    FetchedChunk,
    FetchedFact,
    ItemId,
    describe_item,
    find_fact,
    read_document,
    read_item_id,
)
from textrawl.memory.fact_rows import EntityRow, HitRow
from textrawl.memory.facts import MemoryOperations
from textrawl.memory.questions import Question, Sources
from textrawl.tools.call import Call
from textrawl.tools.memory.entity_reply import EntityReply
from textrawl.tools.memory.search_replies import FactLayout, SearchReply
from textrawl.tools.memory.tools import Query
from textrawl.tools.toolset import CLEAN_NAME, READS, Toolset
from textrawl.values.times import write_day, write_lifetime
from textrawl.wire.replies import NOTHING, Finding, Part, Reply

connector = Toolset(
    "connector",
    "The two tools that ChatGPT's connectors and deep research need, with addresses to cite.",
)

_LAYOUT = FactLayout(with_dates=True)
_MOST_FOUND = 20  # facts and chunks
_TITLE_LENGTH = 160  # characters
_ID_LENGTH = 100

Address = Callable[[ItemId], str]
"""A function that returns the address of an item for people, or an empty text."""


def _find_address(call: Call) -> Address:
    pages = call.settings.explorer_url
    return lambda item: f"{pages}/open?id={item}" if pages else ""


def _write_title(*parts: str) -> str:
    """Return a title of at most 160 characters on one line."""
    title = " ".join(": ".join(parts).split())
    return title if len(title) <= _TITLE_LENGTH else f"{title[: _TITLE_LENGTH - 1].rstrip()}…"


class ResultPart(Part):
    """An item that a search found."""

    id: str
    title: str
    url: str


class ResultsReply(Reply):
    """Items that match a query, the best first."""

    items = ("results",)
    mirrored: ClassVar[bool] = True
    one_channel: ClassVar[bool] = True

    results: list[ResultPart]

    @classmethod
    def build(cls, rows: Sequence[HitRow], find_address: Address) -> Self:
        """Return a result for each row, and one for each entity before the first of its facts.

        An entity with only one fact among the rows has no result of its own.
        """
        facts = Counter(row.entity_id for row in rows if not row.document_id)
        found = dict[ItemId, str]()
        for row in rows:
            if row.document_id:
                title = _write_title(f"{row.entity_name}, line {row.line}")
                found[ItemId("document", row.document_id, row.part)] = title
                continue
            if facts[row.entity_id] > 1:
                entity = f"{row.entity_name} ({row.entity_type})"
                found.setdefault(ItemId("entity", row.entity_id), _write_title(entity))
            period = _LAYOUT.find_period(row.valid_from, row.valid_until, asked=row.dated)
            title = _write_title(row.entity_name, row.content or "") + _write_end(period)
            found[ItemId("fact", row.observation_id)] = title
        return cls(
            results=[
                ResultPart(id=str(item), title=title, url=find_address(item))
                for item, title in found.items()
            ]
        )


def _write_end(period: str | None, wrong: str | None = None) -> str:
    """Return when a fact was valid, or that it was wrong, for a model that reads nothing else."""
    if wrong:
        return f" (wrong: {wrong})"
    return write_lifetime(period) if period else ""


class FetchReply(Reply):
    """The text of an item. If not all of it fits, `metadata.next` is the id of the rest.

    There is no such id if not even one fact or chunk fits, because nobody could go on with it.
    """

    large: ClassVar[bool] = True
    mirrored: ClassVar[bool] = True
    one_channel: ClassVar[bool] = True

    id: str
    title: str
    text: str
    url: str
    metadata: dict[str, str]
    _finding: Finding = PrivateAttr(default=NOTHING)

    @property
    def finding(self) -> Finding:
        """The facts of the item for the recall log."""
        return self._finding


class FactItem(FetchReply):
    """A fact."""

    @classmethod
    def build(cls, fact: FetchedFact, url: str) -> Self:
        """Return the reply with the fact."""
        metadata = {
            "type": "relation" if fact.is_relation else "fact",
            "entity": fact.entity_name,
            "entityId": str(ItemId("entity", fact.entity_id)),
            "entityType": fact.entity_type,
            "author": fact.author,
            "source": "external" if fact.origin == "external" else fact.source,
            "space": fact.space,
            "saidAt": fact.said_at.isoformat(),
            "validFrom": fact.valid_from.isoformat(),
            "valid": "true" if fact.valid else "false",
        }
        if fact.valid_until:
            metadata["validUntil"] = fact.valid_until.isoformat()
        if fact.replaced_by:
            metadata["replacedBy"] = str(ItemId("fact", fact.replaced_by))
        if fact.wrong:
            metadata["wrong"] = fact.wrong
        period = _LAYOUT.find_period(fact.valid_from, fact.valid_until, asked=not fact.valid)
        end = _write_end(period, fact.wrong)
        reply = cls(
            id=str(ItemId("fact", fact.id)),
            title=_write_title(fact.entity_name, fact.content) + end,
            text=f"{fact.entity_name}: {fact.content}{end}",
            url=url,
            metadata=metadata,
        )
        reply._finding = Finding(None, [(fact.space, str(fact.id))])
        return reply


class EntityItem(FetchReply):
    """An entity with its facts and relations as lines, the newest first."""

    _id: UUID = PrivateAttr()
    _place: int = PrivateAttr()
    _entity: EntityReply = PrivateAttr()

    @classmethod
    def build(cls, item: ItemId, row: EntityRow, url: str) -> Self:
        """Return the reply with all facts and relations of `row`."""
        place = item.place or 0
        metadata = {"type": "entity", "entityType": row.entity_type, "space": row.space}
        reply = cls(
            id=str(item),
            title=_write_title(f"{row.name} ({row.entity_type})"),
            text="",
            url=url,
            metadata={**metadata, "facts": str(row.total_observations)},
        )
        related = item.place is None
        reply._entity = EntityReply.build(row, _LAYOUT, with_relations=related, skipped=place)
        reply._id, reply._place = item.id, place
        reply._finding = reply._entity.read_finding(row.name)
        return reply.choose(reply.size())

    def size(self) -> int:
        """Return the number of facts and relations."""
        return self._entity.size()

    def choose(self, count: int) -> Self:
        """Return a copy with the `count` newest facts and relations, and the id of the rest."""
        kept = self._entity.choose(count)
        metadata = {name: value for name, value in self.metadata.items() if name != "next"}
        shown = self._place + len(kept.observations or [])
        if count and shown < int(metadata["facts"]):
            metadata["next"] = str(ItemId("entity", self._id, shown))
        return self.model_copy(update={"text": "\n".join(kept.lines()), "metadata": metadata})


class DocumentItem(FetchReply):
    """A document from one of its chunks on."""

    _chunks: Sequence[FetchedChunk] = PrivateAttr(default=())

    @classmethod
    def build(cls, item: ItemId, chunks: Sequence[FetchedChunk], url: str) -> Self:
        """Return the reply with all of `chunks`."""
        first = chunks[0]
        metadata = {
            "type": "document",
            "graph": first.graph,
            "path": first.path,
            "updated": write_day(first.updated_at),
            "line": str(first.line),
        }
        place = f", line {first.line}" if item.place is not None else ""
        title = _write_title(first.label + place)
        reply = cls(id=str(item), title=title, text="", url=url, metadata=metadata)
        reply._chunks = chunks
        return reply.choose(len(chunks))

    def size(self) -> int:
        """Return the number of chunks."""
        return len(self._chunks)

    def choose(self, count: int) -> Self:
        """Return a copy with the first `count` chunks, and the id of the rest."""
        kept, left = self._chunks[:count], self._chunks[count:]
        metadata = {name: value for name, value in self.metadata.items() if name != "next"}
        following = left[0].part if left else self._chunks[-1].next_part
        if kept and following is not None:
            metadata["next"] = str(ItemId("document", self._chunks[0].id, following))
        text = "".join(chunk.content for chunk in kept)
        return self.model_copy(update={"text": text, "metadata": metadata})


@connector.tool(READS, ResultsReply)
async def search(
    call: Call, query: Annotated[Query, Field(description="question or keywords")]
) -> CallToolResult:
    """Search the user's long-term memory: facts, people, projects, preferences and documents.

    Returns ids for fetch. Example: {"query":"what does Jeff prefer"}.
    """
    if not query:
        raise QueryMissing
    memory = MemoryOperations(call.store)
    sources = Sources.find_all(call.caller.principal, call.settings)
    question = Question(query, limit=_MOST_FOUND, sources=sources)
    question = await memory.condense(question, call.caller)
    rows, reason = await memory.search(question, call.caller)
    shown = [row for row in rows if row.content is not None and not row.proposed]
    finding = SearchReply.build(shown, reason, question.query).read_finding(query)
    reply = ResultsReply.build(shown, _find_address(call))
    return call.recall("search", reply, finding=finding)


@connector.tool(READS, FetchReply)
async def fetch(
    call: Call,
    id: Annotated[str, CLEAN_NAME, Field(max_length=_ID_LENGTH, description="of search")],
) -> CallToolResult:
    """Return the text of an item that search found, with the address to cite.

    If metadata has next, fetch that id for the rest.
    """
    item = read_item_id(id)
    url = _find_address(call)(item)
    reply: FetchReply
    match item.kind:
        case "fact":
            reply = FactItem.build(await find_fact(call, item), url)
        case "entity":
            reply = EntityItem.build(item, await describe_item(call, item), url)
        case "document":
            ceiling = call.settings.max_recall_tokens
            chunks = await read_document(call, item, call.graphs, ceiling)
            reply = DocumentItem.build(item, chunks, url)
    return call.recall("entity", reply, finding=reply.finding)
