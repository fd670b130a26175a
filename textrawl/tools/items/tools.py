"""The tools of the `items` toolset. Programs of textrawl can always call them."""

import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, Any, ClassVar, Literal, Self, cast

from mcp.types import CallToolResult
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, WithJsonSchema

from textrawl.memory.items import (
    FoundPart,
    ItemPart,
    PlacedRow,
    StoredRow,
    VersionPart,
    embed_stored,
    write_value,
)
from textrawl.tools.call import Call
from textrawl.tools.toolset import DELETES, READS, WRITES, Toolset
from textrawl.values.text import QUERY_LENGTH
from textrawl.wire.replies import Content, Key, Reply

items = Toolset(
    "items", "Keep JSON values under a namespace and a key, and logs of values in their order."
)

_ONCE = WRITES.model_copy(update={"idempotent_hint": False})
_TAKES = DELETES.model_copy(update={"idempotent_hint": False})
_LONGEST, _MOST_LABELS, _MOST_ITEMS = 500, 100, 100
_YEARS = 100 * 366 * 86_400.0  # seconds
_MOST = 2**31 - 1  # the largest integer of Postgres


def _check_text(text: str) -> str:
    if "\0" in text:
        raise ValueError("must be text without U+0000")
    return text


def _check_seconds(seconds: float) -> float:
    if not 0 < seconds <= _YEARS:
        raise ValueError("must be more than 0 and at most 100 years")
    return seconds


def _check_index(index: object) -> object:
    if isinstance(index, bool):
        return index
    paths = cast("list[object]", index) if isinstance(index, list) else []
    if not paths or not all(isinstance(path, str) and path and "\0" not in path for path in paths):
        raise ValueError("must be true, false, or a list of paths")
    return paths


def _check_filter(members: dict[str, Any]) -> dict[str, Any]:
    if "\\u0000" in write_value(members).replace("\\\\", ""):  # not the escape of a backslash
        raise ValueError("must be texts without U+0000")
    return members


_Exact = AfterValidator(_check_text)
Label = Annotated[str, _Exact, Field(min_length=1, max_length=_LONGEST)]
Labels = Annotated[list[Label], Field(max_length=_MOST_LABELS)]
Namespace = Annotated[list[Label], Field(min_length=1, max_length=_MOST_LABELS)]
Seconds = Annotated[float, AfterValidator(_check_seconds)]
Index = Annotated[
    Any,
    AfterValidator(_check_index),
    WithJsonSchema({"type": "boolean", "description": "false: not for search"}),
]
Json = Annotated[Any, WithJsonSchema({"type": "object", "description": "any JSON"})]
"""Any JSON value. The API of Gemini refuses a schema without a type."""
Version = Annotated[int, Field(ge=0, le=_MOST, description="the present one; 0: no such item")]
Limit = Annotated[int, Field(ge=1, le=1000)]
Offset = Annotated[int, Field(ge=0, le=1_000_000)]


class ItemToPut(BaseModel):
    """An item of put_items, with the arguments of put_item."""

    model_config = ConfigDict(extra="forbid")

    namespace: Namespace
    key: Label
    value: Json
    metadata: dict[str, Any] | None = None
    ttlSeconds: Seconds | None = None  # noqa: N815 - the wire's names, as for parameters
    index: Index = True
    version: Version | None = None

    def write(self) -> dict[str, Any]:
        """Return the item as the SQL function put_items takes it."""
        members = self.model_dump(exclude={"ttlSeconds"})
        return members | {"metadata": self.metadata or {}, "ttl": self.ttlSeconds}

    def describe(self, stored: StoredRow) -> dict[str, Any]:
        """Return the members of the item, which was stored now."""
        return {
            "space": stored.space_name,
            "namespace": self.namespace,
            "key": self.key,
            "value": self.value,
            "metadata": self.metadata or {},
            "version": stored.version,
            "created_at": stored.created_at,
            "updated_at": stored.updated_at,
            "expires_at": stored.expires_at,
            "author": stored.author,
        }


class ItemToDelete(BaseModel):
    """An item that put_items deletes, if it has this version."""

    model_config = ConfigDict(extra="forbid")

    namespace: Namespace
    key: Label
    version: Annotated[int, Field(ge=1, le=_MOST)] | None = None


@dataclass(frozen=True)
class _ValueRow:
    value: Any


class ItemReply(ItemPart, Reply):
    """An item. A value that exceeds the budget of an answer is left out."""

    spared: ClassVar[tuple[tuple[str, ...], ...]] = (("value",),)

    too_long: Annotated[bool | None, Key("cut"), Field(init=False)] = None

    def keep(self, count: int) -> Self:
        """Return a copy, without the value if `count` is negative."""
        return super().keep(count).model_copy(update={"too_long": True} if count < 0 else {})


class NoItemReply(Reply):
    """The reply if there is no such item."""

    found: Annotated[bool, Key("found")] = False


class ItemsReply(Reply):
    """Items of a list or a search."""

    items = ("found",)

    found: Annotated[list[FoundPart], Key("items"), Field(alias="items")]
    dropped: Annotated[int | None, Key("dropped")] = None

    def structured(self) -> dict[str, Any]:
        """Return the structured content. A value that is null stays in it."""
        return super().structured() | {"items": [item.structured() for item in self.found]}


class HistoryReply(Reply):
    """The stored values of a key, the newest first."""

    items = ("versions",)

    versions: Annotated[list[VersionPart], Key("items"), Field(alias="items")]
    dropped: Annotated[int | None, Key("dropped")] = None

    def structured(self) -> dict[str, Any]:
        """Return the structured content. A value that is null stays in it."""
        return super().structured() | {"items": [item.structured() for item in self.versions]}


class NamespacesReply(Reply):
    """Namespaces in the order of code points."""

    items = ("namespaces",)

    namespaces: Annotated[list[list[str]], Key("ns")]
    dropped: Annotated[int | None, Key("dropped")] = None


class DeletedReply(Reply):
    """The number of deleted items or entries."""

    deleted: Annotated[int, Key("n")]


class LengthReply(Reply):
    """The number of entries of a log."""

    length: Annotated[int, Key("n")]


class EntriesReply(Reply):
    """Entries of a log in their order. An answer that is too long has the last ones."""

    items = ("entries",)

    entries: Annotated[list[Any], Key("entries")]
    dropped: Annotated[int | None, Key("dropped")] = None

    def choose(self, count: int) -> Self:
        """Return a copy with the last `count` entries."""
        kept = self.entries[len(self.entries) - count :]
        return self.cut(len(self.entries) - count, entries=kept)


def _answer(call: Call, reply: Reply) -> CallToolResult:
    """Write the answer. A program gets values whole, and only as structured content."""
    if call.program is None:
        return call.app.renderer.render(reply.tell(0, call.caller.secrets))
    return Content("", reply.tell(0, call.caller.secrets).structured()).build_result()


@items.tool(_ONCE, ItemReply)
async def put_item(
    call: Call,
    namespace: Namespace,
    key: Label,
    value: Json,
    metadata: dict[str, Any] | None = None,
    ttlSeconds: Seconds | None = None,
    index: Index = True,
    version: Version | None = None,
) -> CallToolResult:
    """Store a JSON value under a namespace and a key, in place of the former value.

    Example: {"namespace":["users","ada"],"key":"tea","value":{"kind":"green"}}.
    """
    given = ItemToPut.model_construct(
        namespace=namespace,
        key=key,
        value=value,
        metadata=metadata,
        ttlSeconds=ttlSeconds,
        index=index,
        version=version,
    )
    stored = await call.write_one(
        "put_item",
        StoredRow,
        namespace=namespace,
        key=key,
        value=write_value(value),
        metadata=write_value(metadata or {}),
        ttl=ttlSeconds and timedelta(seconds=ttlSeconds),
        index=json.dumps(index),
        known=version,
    )
    await embed_stored(call.store, [stored])
    return _answer(call, ItemReply(**given.describe(stored)))


@items.tool(_TAKES, ItemsReply, scopes=("write",))
async def put_items(
    call: Call,
    items: Annotated[list[ItemToPut], Field(max_length=_MOST_ITEMS)],
    delete: Annotated[list[ItemToDelete], Field(max_length=_MOST_ITEMS)] | None = None,
) -> CallToolResult:
    """Store and delete several items, all of them or none.

    Example: {"items":[{"namespace":["users","ada"],"key":"tea","value":1}]}.
    """
    rows = await call.write(
        "put_items",
        PlacedRow,
        items=write_value([one.write() for one in items]),
        deletions=write_value([one.model_dump() for one in delete or ()]),
    )
    await embed_stored(call.store, rows)
    placed = sorted(rows, key=lambda row: row.place)
    stored = [FoundPart(**items[row.place - 1].describe(row)) for row in placed]
    return _answer(call, ItemsReply(found=stored))


@items.tool(READS, ItemReply, NoItemReply)
async def get_item(
    call: Call,
    namespace: Namespace,
    key: Label,
    refresh: Annotated[bool, Field(description="its time to live begins again")] = False,
    version: Annotated[int, Field(ge=1, le=_MOST, description="a former one")] | None = None,
) -> CallToolResult:
    """Return the value of a key. Example: {"namespace":["users","ada"],"key":"tea"}."""
    rows = await call.read("get_item", ItemReply, namespace=namespace, key=key, version=version)
    if not rows:
        return _answer(call, NoItemReply())
    [item] = rows
    if refresh and not call.settings.read_only and item.expires_at is not None:
        ends = await call.read("renew_item", datetime, namespace=namespace, key=key)
        item.expires_at = ends[0] or item.expires_at
    return _answer(call, item)


@items.tool(DELETES, DeletedReply, exact=("key",))
async def delete_item(
    call: Call,
    namespace: Namespace,
    key: Annotated[Label | None, Field(description="else all in and below the namespace")] = None,
) -> CallToolResult:
    """Delete an item, or a whole namespace. Example: {"namespace":["users","ada"],"key":"tea"}."""
    deleted = await call.write_one("delete_items", int, namespace=namespace, key=key)
    return _answer(call, DeletedReply(deleted=deleted))


@items.tool(READS, ItemsReply)
async def search_items(
    call: Call,
    query: Annotated[str, _Exact, Field(max_length=QUERY_LENGTH)] = "",
    prefix: Labels | None = None,
    filter: Annotated[
        dict[str, Any],
        AfterValidator(_check_filter),
        Field(description='such as {"kind":"green","age":{"$gt":3},"metadata.by":"ada"}'),
    ]
    | None = None,
    limit: Limit = 10,
    offset: Offset = 0,
    order: Annotated[Literal["key", "updated"], Field(description="without a query")] = "key",
) -> CallToolResult:
    """Find items by words or meaning, or list them. Example: {"query":"tea","prefix":["users"]}."""
    found = await call.search(
        "search_items",
        FoundPart,
        query or None,
        prefix=prefix or [],
        filter=None if filter is None else write_value(filter),
        max_rows=limit,
        skip=offset,
        ordering=order,
    )
    return _answer(call, ItemsReply(found=found))


@items.tool(READS, NamespacesReply)
async def list_namespaces(
    call: Call,
    prefix: Annotated[Labels | None, Field(description="* stands for any label")] = None,
    suffix: Labels | None = None,
    depth: Annotated[int, Field(ge=1, le=_MOST_LABELS, description="labels to return")]
    | None = None,
    limit: Limit = 100,
    offset: Offset = 0,
) -> CallToolResult:
    """List the namespaces that have items or logs. Example: {"prefix":["users"],"depth":2}."""
    found = await call.read(
        "list_namespaces",
        list[str],
        prefix=prefix or [],
        suffix=suffix or [],
        depth=depth,
        max_rows=limit,
        skip=offset,
    )
    return _answer(call, NamespacesReply(namespaces=found))


@items.tool(READS, HistoryReply)
async def item_history(call: Call, namespace: Namespace, key: Label) -> CallToolResult:
    """List all values of a key, the newest first. Example: {"namespace":["users"],"key":"tea"}."""
    versions = await call.read("item_history", VersionPart, namespace=namespace, key=key)
    return _answer(call, HistoryReply(versions=versions))


@items.tool(_ONCE, LengthReply)
async def append_log(call: Call, namespace: Namespace, values: list[Json]) -> CallToolResult:
    """Append JSON values to a log. Example: {"namespace":["s","7"],"values":[{"said":"hello"}]}."""
    length = await call.write_one(
        "append_log", int, namespace=namespace, entries=write_value(values)
    )
    return _answer(call, LengthReply(length=length))


@items.tool(READS, EntriesReply)
async def read_log(
    call: Call,
    namespace: Namespace,
    last: Annotated[int, Field(ge=1, le=_MOST, description="only so many")] | None = None,
) -> CallToolResult:
    """Return the values of a log in their order. Example: {"namespace":["sessions"],"last":10}."""
    rows = await call.read("read_log", _ValueRow, namespace=namespace, last_rows=last)
    return _answer(call, EntriesReply(entries=[row.value for row in rows]))


@items.tool(_TAKES, EntriesReply)
async def pop_log(call: Call, namespace: Namespace) -> CallToolResult:
    """Delete the last value of a log, and return it. Example: {"namespace":["sessions","7"]}."""
    rows = await call.write("pop_log", _ValueRow, namespace=namespace)
    return _answer(call, EntriesReply(entries=[row.value for row in rows]))


@items.tool(DELETES, DeletedReply)
async def clear_log(call: Call, namespace: Namespace) -> CallToolResult:
    """Delete all values of a log. Example: {"namespace":["sessions","7"]}."""
    deleted = await call.write_one("clear_log", int, namespace=namespace)
    return _answer(call, DeletedReply(deleted=deleted))
