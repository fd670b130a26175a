"""LangGraph's store on items, for graphs and for langmem's tools.

An item of the store is an item of the memory: other programs read it, and people see its versions.
The memory's own model makes the vectors, so only the `fields` of an `index` count.
"""

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from functools import partial
from itertools import zip_longest
from typing import Any, cast

from langgraph.store import base

from textrawl_client import items
from textrawl_client.adapters.pages import put_all, read_pages
from textrawl_client.client import SyncClient

_HIDDEN = "hidden from searches"  # in the metadata of an item that was put with index=False


class TextrawlStore(base.BaseStore):
    """A store for `invoke` and `ainvoke`, in several threads, below `namespace` in the memory.

    `index` names the `fields` that searches read; default: the whole value. `ttl` has the time to
    live of an item that is stored without one.
    """

    supports_ttl = True

    def __init__(
        self,
        memory: SyncClient,
        *,
        namespace: Sequence[str] = ("langgraph",),
        index: base.IndexConfig | None = None,
        ttl: base.TTLConfig | None = None,
    ) -> None:
        super().__init__()
        self.index_config, self.ttl_config = index, ttl
        self._items, self._root = memory.items, tuple(namespace)

    def batch(self, ops: Iterable[base.Op]) -> list[base.Result]:
        """Return a result for each operation. All read what was there before any writes."""
        operations = list(ops)
        results = [None if isinstance(op, base.PutOp) else self._read(op) for op in operations]
        # A batch is stored as a whole, if it fits into one request.
        puts = {(op.namespace, op.key): op for op in operations if isinstance(op, base.PutOp)}
        gone = [self._place(op) for op in puts.values() if op.value is None]
        stored = [self._write(op, op.value) for op in puts.values() if op.value is not None]
        put_all(self._items, stored, gone)
        return results

    async def abatch(self, ops: Iterable[base.Op]) -> list[base.Result]:
        """Return the same as `batch`, which works in a thread."""
        return await asyncio.to_thread(self.batch, list(ops))

    def _read(self, op: base.Op) -> base.Result:
        if isinstance(op, base.GetOp):
            item = self._items.get((*self._root, *op.namespace), op.key)
            return None if item is None else base.Item(**self._show(item, op.refresh_ttl))
        if isinstance(op, base.SearchOp):
            found = self._search(op)
            return [
                base.SearchItem(**self._show(one, op.refresh_ttl), score=one.score) for one in found
            ]
        if isinstance(op, base.ListNamespacesOp):
            return self._list_namespaces(op)
        raise ValueError(f"Unknown operation type: {type(op)}")

    def _place(self, op: base.PutOp) -> tuple[tuple[str, ...], str]:
        return (*self._root, *op.namespace), op.key

    def _write(self, op: base.PutOp, value: Mapping[str, Any]) -> items.Put:
        fields = op.index if op.index is not None else (self.index_config or {}).get("fields")
        ttl = None if op.ttl is None else timedelta(minutes=op.ttl)
        index = True if fields is None else fields
        hidden = {_HIDDEN: True} if index is False else None
        return items.Put(*self._place(op), dict(value), hidden, ttl, index)

    def _search(self, op: base.SearchOp) -> list[items.Item]:
        """Return a page of the items with a score, the best first, and then of all others."""
        place, end = (*self._root, *op.namespace_prefix), op.offset + op.limit
        given: dict[str, Any] = {"prefix": place, "filter": dict(_flatten(op.filter or {})) or None}
        newest = partial(self._items.list, **given, order="updated")
        if not op.query:
            return list(read_pages(newest, op.limit, op.offset))
        found = list(read_pages(partial(self._items.search, op.query, **given), end))
        if len(found) < end:
            known = {(item.namespace, item.key) for item in found}
            pages = read_pages(newest, end)
            others = [item for item in pages if (item.namespace, item.key) not in known]
            for other in others:
                score = None if other.metadata.get(_HIDDEN) else 0.0
                found.append(other.model_copy(update={"score": score}))
        return found[op.offset : end]

    def _list_namespaces(self, op: base.ListNamespacesOp) -> list[tuple[str, ...]]:
        conditions = op.match_conditions or ()
        prefix = _merge([one.path for one in conditions if one.match_type == "prefix"])
        suffix = _merge([one.path[::-1] for one in conditions if one.match_type == "suffix"])
        if prefix is None or suffix is None:
            return []
        prefix += ("*",) * (len(suffix) - len(prefix))  # so that no suffix matches the root
        given: dict[str, Any] = {"prefix": (*self._root, *prefix), "suffix": suffix[::-1]}
        if op.max_depth is not None:
            given["depth"] = op.max_depth + len(self._root)
        found = read_pages(partial(self._items.namespaces, **given), op.limit, op.offset)
        return [labels[len(self._root) :] for labels in found]

    def _show(self, item: items.Item, refresh: bool) -> dict[str, Any]:
        if refresh and item.expires_at:
            self._items.get(item.namespace, item.key, refresh=True)
        shown = {name: getattr(item, name) for name in ("key", "value", "created_at", "updated_at")}
        return {**shown, "namespace": item.namespace[len(self._root) :]}


def _merge(paths: Iterable[tuple[str, ...]]) -> tuple[str, ...] | None:
    """Return the path that matches where all of these do, or None if there is none."""
    merged = list[str]()
    for labels in zip_longest(*paths, fillvalue="*"):
        named = {*labels} - {"*"}
        if len(named) > 1:
            return None
        merged += named or "*"
    return tuple(merged)


def _flatten(conditions: Mapping[str, Any], above: str = "$") -> Iterator[tuple[str, Any]]:
    """Yield the conditions on single fields, with their paths from the top of a value."""
    for name, condition in conditions.items():
        path = f"{above}.{name}"
        nested = cast("dict[str, Any]", condition if isinstance(condition, dict) else {})
        if nested and not any(key.startswith("$") for key in nested):
            yield from _flatten(nested, path)
        else:
            yield path, condition
