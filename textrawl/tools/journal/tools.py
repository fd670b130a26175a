"""The tools of the toolset `journal`."""

from dataclasses import asdict
from datetime import date, datetime
from typing import Annotated, Literal, Self

from mcp.types import CallToolResult
from pydantic import BeforeValidator, Field

from textrawl.memory.journal import (
    DeletedEntryRow,
    EntryKey,
    HitPart,
    JournalSearch,
    ListedEntryRow,
    Outcome,
    PeriodOperations,
    name_entry,
    search_journal,
    store_entry,
)
from textrawl.tools.call import Call, FailureReply, reply_failure
from textrawl.tools.toolset import CLEAN_NAME, DELETES, READS, WRITES, Toolset
from textrawl.values.text import clean_fact
from textrawl.values.times import read_day
from textrawl.wire.replies import OMIT_EMPTY, Key, Part, Reply, SuccessReply

journal = Toolset(
    "journal",
    "A journal of days, weeks, months, years and significant events, shared by several programs.",
)

CONTENT_LENGTH = 200_000
_MOST_ITEMS = 1000


def _clean_text(value: object) -> object:
    return clean_fact(value) if isinstance(value, str) and len(value) <= CONTENT_LENGTH else value


Granularity = Literal["daily", "weekly", "monthly", "yearly", "significant"]
EntryDate = Annotated[
    str, CLEAN_NAME, Field(pattern=r"^[0-9]{4}(-W[0-9]{2}|-[0-9]{2}(-[0-9]{2})?)?$")
]
Content = Annotated[
    str, BeforeValidator(_clean_text), Field(min_length=1, max_length=CONTENT_LENGTH)
]
InstanceId = Annotated[
    str,
    CLEAN_NAME,
    Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._:@-]{0,99}$"),
]
InstanceIds = Annotated[list[InstanceId], Field(max_length=_MOST_ITEMS)]
ChatIds = Annotated[
    list[Annotated[str, CLEAN_NAME, Field(min_length=1, max_length=200)]],
    Field(max_length=_MOST_ITEMS),
]
Slug = Annotated[str, CLEAN_NAME, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=100)]
Day = Annotated[
    date, BeforeValidator(lambda day: None if day is None else read_day(str(day).strip()))
]
Editor = Annotated[str, CLEAN_NAME, Field(min_length=1, max_length=200)]
Query = Annotated[str, CLEAN_NAME, Field(min_length=1, max_length=2048)]


class WrittenReply(SuccessReply):
    """The id and the version of an entry that was stored."""

    message: str
    memory_id: Annotated[str, Key("id")]
    path: Annotated[str, Key("at")]
    number: Annotated[int, Key("v"), Field(alias="version")]
    changed: Annotated[bool, Key("new")]


@journal.tool(WRITES, WrittenReply)
async def memory_create(
    call: Call,
    granularity: Granularity,
    date: EntryDate,
    content: Content,
    instanceId: InstanceId,
    chatIds: ChatIds | None = None,
    participatingInstances: Annotated[
        InstanceIds | None, Field(description="default: instanceId")
    ] = None,
    slug: Annotated[Slug | None, Field(description="of a significant entry")] = None,
) -> CallToolResult:
    """Record in my journal. A day's bullets, each with [chat:id], are added to that day.

    Example: {"granularity":"daily","date":"2026-05-12","content":"- Met Ben [chat:7]",
    "instanceId":"laptop"}; weekly 2026-W19, monthly 2026-05, yearly 2026.
    """
    key = EntryKey(granularity, date, instanceId, slug)
    sources = {"chat_ids": chatIds or [], "participants": participatingInstances}
    row = await store_entry(call, "write_entry", key, content, **sources)
    return call.reply(WrittenReply.model_validate(row))


class EntryReply(Reply):
    """An entry with its whole text. `others` are the other entries that match the key."""

    large = True

    id: Annotated[str, Key("id"), BeforeValidator(name_entry), Field(validation_alias="path")]
    granularity: Annotated[
        str, BeforeValidator(lambda path: path.split("/")[0]), Field(validation_alias="path")
    ]
    date: Annotated[
        str, BeforeValidator(lambda path: path.split("/")[1]), Field(validation_alias="path")
    ]
    entry_slug: Annotated[str | None, Key("slug"), Field(alias="slug")]
    content: Annotated[str, Key("c")]
    chat_ids: Annotated[list[str], Key("chats")]
    source_instance: Annotated[str, Key("src")]
    participants: Annotated[list[str], Key("with"), Field(alias="participatingInstances")]
    number: Annotated[int, Key("v"), Field(alias="version")]
    created_at: datetime
    modified_at: Annotated[datetime, Key("upd"), Field(alias="updatedAt")]
    modified_by: Annotated[str | None, Key("by"), Field(alias="editedBy")]
    others: Annotated[list[str] | None, OMIT_EMPTY, Key("more")]


@journal.tool(READS, EntryReply, FailureReply)
async def memory_read(
    call: Call,
    granularity: Granularity,
    date: EntryDate,
    instanceId: InstanceId | None = None,
    slug: Slug | None = None,
) -> CallToolResult:
    """Read one entry. If the answer has `others`, give instanceId or slug to read them.

    Example: {"granularity":"daily","date":"2026-05-12"}.
    """
    key = EntryKey(granularity, date, instanceId, slug)
    rows = await call.read("read_entry", EntryReply, **asdict(key))
    if not rows:
        return reply_failure(call, f"No {granularity} entry of {date}; memory_list shows entries")
    return call.recall("entity", rows[0])


@journal.tool(WRITES, WrittenReply)
async def memory_update(
    call: Call,
    granularity: Granularity,
    date: EntryDate,
    content: Content,
    editedBy: Annotated[Editor | None, Field(description="instance or person")] = None,
    instanceId: Annotated[InstanceId | None, Field(description="of a daily entry")] = None,
    slug: Slug | None = None,
) -> CallToolResult:
    """Replace the whole text of an entry, to correct it; nothing is merged.

    Example: {"granularity":"weekly","date":"2026-W19","content":"- A quiet week","editedBy":"Ben"}.
    """
    key = EntryKey(granularity, date, instanceId, slug)
    row = await store_entry(call, "update_entry", key, content, editor=editedBy)
    return call.reply(WrittenReply.model_validate(row))


class DeletedReply(SuccessReply):
    """The path of an entry that was deleted."""

    message: Annotated[str, Key("msg")]


@journal.tool(DELETES, DeletedReply, FailureReply)
async def memory_delete(
    call: Call,
    granularity: Granularity,
    date: EntryDate,
    instanceId: InstanceId | None = None,
    slug: Slug | None = None,
) -> CallToolResult:
    """Delete an entry with all its versions, for good; memory_update corrects it instead.

    Example: {"granularity":"daily","date":"2026-05-12","instanceId":"laptop"}.
    """
    key = EntryKey(granularity, date, instanceId, slug)
    row = await call.write_one("delete_entry", DeletedEntryRow, **asdict(key))
    if not row.deleted:
        return reply_failure(call, f"There is no entry {row.path}; nothing was deleted")
    return call.reply(DeletedReply(message=f"Deleted {row.path}"))


class ListedPart(Part):
    """An entry of a list."""

    granularity: Annotated[str, Key("g")]
    date: Annotated[str, Key("d")]
    slug: Annotated[str | None, Key("slug")]
    excerpt: Annotated[str, Key("c"), Field(serialization_alias="preview")]
    instance: Annotated[str, Key("src"), Field(alias="sourceInstance")]


class EntriesReply(Reply):
    """A page of entries, and the number of entries on all pages."""

    items = ("memories",)

    memories: Annotated[list[ListedPart], Key("m")]
    total: Annotated[int, Key("total")]
    dropped: Annotated[int | None, Key("cut")] = None


@journal.tool(READS, EntriesReply)
async def memory_list(
    call: Call,
    granularity: Granularity | None = None,
    limit: Annotated[int, Field(ge=1, le=100)] = 20,
    offset: Annotated[int, Field(ge=0, le=1_000_000)] = 0,
    beforeDate: Annotated[Day | None, Field(description="begins on this day or before")] = None,
    afterDate: Annotated[Day | None, Field(description="ends on this day or later")] = None,
) -> CallToolResult:
    """List entries, newest first. Example: {"granularity":"weekly","afterDate":"2026-05-01"}."""
    rows = await call.read(
        "list_entries",
        ListedEntryRow,
        of_granularity=granularity,
        before_date=beforeDate,
        after_date=afterDate,
        max_rows=limit,
        skip=offset,
    )
    reply = EntriesReply(
        memories=[ListedPart.model_validate(row) for row in rows if row.path is not None],
        total=rows[0].total,
    )
    return call.recall("list", reply)


Method = Literal["vector", "text"]


class HitsReply(Reply):
    """Entries, best first. Their excerpts are short if the answer exceeds its budget."""

    items = ("results",)

    results: Annotated[list[HitPart], Key("m")]
    search_method: Annotated[Method, Key("by")]
    vector_available: bool
    dropped: Annotated[int | None, Key("cut")] = None

    def choose(self, count: int) -> Self:
        """Return a copy with the best entries and short excerpts."""
        results = [
            part.model_copy(update={"excerpt": part.short_excerpt}) for part in self.results[:count]
        ]
        return self.cut(len(self.results) - len(results), results=results)


@journal.tool(READS, HitsReply)
async def memory_search(
    call: Call,
    query: Query,
    instanceId: Annotated[InstanceId | None, Field(description="prefer its entries")] = None,
    queryEmbedding: Annotated[
        list[float] | None, Field(max_length=4000, description="default: made from query")
    ] = None,
    minScore: Annotated[float, Field(ge=0, le=1)] = 0.3,
    maxResults: Annotated[int, Field(ge=1, le=50)] = 10,
) -> CallToolResult:
    """Search my journal by meaning and words. Example: {"query":"tea with Ben"}."""
    search = JournalSearch(query, instanceId, queryEmbedding, minScore, maxResults)
    found, vectors = await search_journal(call, search)
    reply = HitsReply(
        results=found,
        search_method="vector" if vectors else "text",
        vector_available=vectors,
    )
    return call.recall("search", reply)


_ASKS = WRITES.model_copy(update={"open_world_hint": True})  # the tool calls the LLM


class ConsolidationPart(Part):
    """The outcome of one period."""

    granularity: str
    date_str: Annotated[str, Key("date")]
    success: Annotated[bool, Key("ok")]
    error: Annotated[str | None, Key("err")] = None


class ConsolidatedReply(Reply):
    """The outcomes of all periods. `success` is false if a period failed."""

    items = ("consolidations",)

    success: Annotated[bool, Key("ok")]
    message: Annotated[str, Key("msg")]
    consolidations: Annotated[list[ConsolidationPart], Key("periods")]

    @classmethod
    def build(cls, granularity: str, outcomes: list[Outcome]) -> Self:
        """Return the reply for `outcomes`."""
        parts = [
            ConsolidationPart(
                granularity=granularity,
                date_str=outcome.period.name,
                success=outcome.error is None,
                error=outcome.error,
            )
            for outcome in outcomes
        ]
        stored = sum(part.success for part in parts)
        message = f"I consolidated {stored} of {len(parts)} {granularity} periods"
        return cls(
            success=stored == len(parts),
            message=message if parts else f"There is no {granularity} period to consolidate",
            consolidations=parts,
        )


@journal.tool(_ASKS, ConsolidatedReply)
async def memory_consolidate(
    call: Call,
    granularity: Literal["weekly", "monthly", "yearly"],
    targetDate: Annotated[
        EntryDate | None, Field(description="a period, or a day in it; default: the last one over")
    ] = None,
    all: Annotated[bool, Field(description="every period that is due")] = False,
) -> CallToolResult:
    """Sum up periods that are over: days into a week, weeks into a month, months into a year.

    Needs an LLM; takes minutes. Example: {"granularity":"weekly","targetDate":"2026-W19"}.
    """
    outcomes = await PeriodOperations(call).consolidate(granularity, targetDate, every=all)
    reply = ConsolidatedReply.build(granularity, outcomes)
    return call.reply(reply).model_copy(update={"is_error": not reply.success})
