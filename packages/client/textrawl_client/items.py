"""Items (JSON values under a namespace and a key) and logs, which grow at their end."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal

from textrawl_client.errors import ArgumentInvalid
from textrawl_client.schemas import Item
from textrawl_client.wire import Answer, keep

_MOST_CHARACTERS = 1000  # of a question

Namespace = Sequence[str]
Json = Any
"""A value of JSON: None, a bool, a number, a text, or a list or dict of values of JSON."""


CallTool = Callable[..., Awaitable[Answer]]
"""A function that calls a tool with the arguments that are not None. Raises TextrawlError.

A call that `reads`, or that a server does only once for each request id, can be repeated.
"""


@dataclass(frozen=True)
class Put:
    """An item for `put_many`, with the arguments of `put`."""

    namespace: Namespace
    key: str
    value: Json
    metadata: Mapping[str, Json] | None = None
    ttl: timedelta | float | None = None
    index: bool | Sequence[str] = True
    version: int | None = None

    def write(self) -> dict[str, Any]:
        """Return the arguments of the tool."""
        ttl, index = self.ttl, self.index
        given = {
            **_place(self.namespace, self.key),
            "value": self.value,
            "metadata": None if self.metadata is None else dict(self.metadata),
            "ttlSeconds": ttl.total_seconds() if isinstance(ttl, timedelta) else ttl,
            "index": index if isinstance(index, (bool, str)) else list(index),
            "version": self.version,
        }
        return keep(given)


class ItemStore:
    """The items of a memory. Keys and the labels of a namespace are compared exactly."""

    def __init__(self, call: CallTool) -> None:
        self._call = call

    async def put(  # noqa: PLR0913 - each argument is an option
        self,
        namespace: Namespace,
        key: str,
        value: Json,
        *,
        metadata: Mapping[str, Json] | None = None,
        ttl: timedelta | float | None = None,
        index: bool | Sequence[str] = True,
        version: int | None = None,
    ) -> Item:
        """Store a value, in place of the one that the key has.

        After `ttl`, a timedelta or seconds, the item is gone. `index` names the paths of `value`
        that searches read, such as ["title", "parts.text"]; False leaves the item out of searches.
        With `version` 0 the key must be free (raises ItemExists); another number must be the
        current version (raises ItemChanged).
        """
        given = Put(namespace, key, value, metadata, ttl, index, version)
        answer = await self._call("put_item", given.write(), reads=True)
        return Item.model_validate(answer.content)

    async def put_many(
        self, items: Iterable[Put], *, delete: Iterable[Item | tuple[Namespace, str]] = ()
    ) -> "list[Item]":
        """Store up to 100 items and delete up to 100: all of them, or none.

        `delete` has places (a namespace and a key), or items that must still have their versions. A
        request has at most a megabyte. Raises the errors of `put`.
        """
        gone = [
            {**_place(one.namespace, one.key), "version": one.version}
            if isinstance(one, Item)
            else _place(*one)
            for one in delete
        ]
        return await self._find(
            {"items": [one.write() for one in items], "delete": gone}, "put_items"
        )

    async def get(
        self, namespace: Namespace, key: str, *, refresh: bool = False, version: int | None = None
    ) -> Item | None:
        """Return the item of a key, or None. With `refresh`, its time to live begins again.

        `version` names an earlier version.
        """
        given = {**_place(namespace, key), "refresh": refresh or None, "version": version}
        answer = await self._call("get_item", given, reads=not refresh)
        return Item.model_validate(answer.content) if "key" in answer.content else None

    async def delete(self, namespace: Namespace, key: str | None = None) -> int:
        """Delete the item of a key, or else all items of a namespace and of those below it.

        Return the number of deleted items. Their versions stay in `history`.
        """
        given = {"namespace": _list_labels(namespace), "key": key}
        return (await self._call("delete_item", given)).content["deleted"]

    async def list(
        self,
        prefix: Namespace = (),
        *,
        filter: Mapping[str, Json] | None = None,
        limit: int = 100,
        offset: int = 0,
        order: Literal["key", "updated"] = "key",
    ) -> "list[Item]":
        """Return the items of the namespaces that begin with `prefix`, by key or newest first.

        `filter` compares paths of the value, such as {"user.age": {"$gte": 18}, "kind": "note"}, or
        of the metadata ("metadata.source"). A path with "$." before it is always one of the value.
        Operators are $eq, $ne, $gt, $gte, $lt, $lte and $in.
        """
        given = {"prefix": _list_labels(prefix), "filter": filter, "limit": limit, "offset": offset}
        return await self._find({**given, "order": order})

    async def search(
        self,
        query: str,
        prefix: Namespace = (),
        *,
        filter: Mapping[str, Json] | None = None,
        limit: int = 10,
        offset: int = 0,
    ) -> "list[Item]":
        """Return the items that answer a question by words or meaning, the best first.

        Of a long text the last 1,000 characters are the question. `filter` is that of `list`.
        """
        given = {"prefix": _list_labels(prefix), "filter": filter, "limit": limit, "offset": offset}
        return await self._find({**given, "query": query.strip()[-_MOST_CHARACTERS:]})

    async def namespaces(
        self,
        prefix: Namespace = (),
        *,
        suffix: Namespace = (),
        depth: int | None = None,
        limit: int = 100,
        offset: int = 0,
    ) -> "list[tuple[str, ...]]":
        """Return the namespaces with this beginning and end. "*" stands for any one label.

        With `depth`, cut them after so many labels, and return each once.
        """
        given = {"prefix": _list_labels(prefix), "suffix": _list_labels(suffix), "depth": depth}
        page = {**given, "limit": limit, "offset": offset}
        answer = await self._call("list_namespaces", page, reads=True)
        return [tuple(labels) for labels in answer.content["namespaces"]]

    async def history(self, namespace: Namespace, key: str) -> "list[Item]":
        """Return the versions of a key, the newest first, also if it was deleted."""
        return await self._find(_place(namespace, key), "item_history")

    async def _find(self, given: Mapping[str, Any], tool: str = "search_items") -> "list[Item]":
        answer = await self._call(tool, given, reads=True)
        return [Item.model_validate(members) for members in answer.content["items"]]


class Log:
    """A list of values that grows at its end. The same value twice is two entries."""

    def __init__(self, call: CallTool, namespace: Namespace) -> None:
        self._call = call
        self._namespace = list(namespace)

    async def append(self, values: Sequence[Json]) -> int:
        """Add values in this order, all or none, and return the number of entries then."""
        if isinstance(values, (str, Mapping)):
            raise ArgumentInvalid("values: write a list, such as [value]")
        given = {"namespace": self._namespace, "values": list(values)}
        return (await self._call("append_log", given, reads=True)).content["length"]

    async def read(self, last: int | None = None) -> list[Json]:
        """Return the values in their order, or only the `last` ones."""
        if last == 0:  # a server takes 0 for an argument that is not given
            return []
        given = {"namespace": self._namespace, "last": last}
        return (await self._call("read_log", given, reads=True)).content["entries"]

    async def pop(self) -> Json | None:
        """Remove the last value and return it, or None if there is none."""
        answer = await self._call("pop_log", {"namespace": self._namespace}, reads=True)
        entries = answer.content["entries"]
        return entries[0] if entries else None

    async def clear(self) -> int:
        """Remove all values, and return their number."""
        return (await self._call("clear_log", {"namespace": self._namespace})).content["deleted"]


def _place(namespace: Namespace, key: str) -> dict[str, Any]:
    return {"namespace": _list_labels(namespace), "key": key}


def _list_labels(namespace: Namespace) -> list[str]:
    if isinstance(namespace, str):
        raise ArgumentInvalid(f"namespace: write labels, such as ({namespace!r},)")
    return list(namespace)
