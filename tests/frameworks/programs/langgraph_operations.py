"""Random operations: LangGraph's InMemoryStore and ours find the same, from both sides."""

import asyncio
import random

from langgraph.store.base import GetOp, ListNamespacesOp, MatchCondition, PutOp, SearchOp
from langgraph.store.memory import InMemoryStore

from textrawl_client import SyncClient
from textrawl_client.adapters.langgraph import TextrawlStore

SEQUENCES, MOST_BATCHES, ALL = 60, 10, 1000
LABELS = ("a", "b", "A", "*", "ü 日", "it's", "%", "langgraph")
KEYS = ("k", "K", "1", " ", "a.b", "日\n", "x" * 300)
VALUES = (None, True, False, 7, 2.5, -3, "1", "", "tea", "Tea", [], [7, "x"], {"x": 7})
"""Without 0 and 1, which Python compares as equal to False and True."""
FIELDS = ("n", "m", "a.b", "metadata", "value", "back\\slash", "$n")


def choose_namespace(chance, least=0):
    """Return a namespace of up to three labels; most have few different ones."""
    few = chance.choice((2, len(LABELS)))
    return tuple(chance.choice(LABELS[:few]) for _ in range(chance.randint(least, 3)))


def choose_filter(chance):
    """Return conditions on one or two fields of a value."""
    found = {}
    for _ in range(chance.randint(1, 2)):
        value, number = chance.choice(VALUES), chance.choice((0, 1, 2.0, 2.5))
        found[chance.choice(FIELDS[:-1])] = chance.choice((
            value, {"$eq": value}, {"$ne": value}, {"x": chance.choice(VALUES[1:])},
        ))  # fmt: skip
        found["number"] = chance.choice(({"$gt": number}, {"$gte": number, "$lt": 3}, number))
    return found


def choose_op(chance):
    """Return an operation."""
    kind = chance.choice(("put", "put", "put", "get", "search", "search", "namespaces", "delete"))
    if kind == "put":
        value = {field: chance.choice((*VALUES, "nul \0")) for field in chance.sample(FIELDS, 3)}
        value["number"] = chance.choice((0, 1, 1.0, 2.5, -3, 10**15))
        return PutOp(choose_namespace(chance, 1), chance.choice(KEYS), value)
    if kind == "delete":
        return PutOp(choose_namespace(chance, 1), chance.choice(KEYS), None)
    if kind == "get":
        return GetOp(choose_namespace(chance, 1), chance.choice(KEYS))
    if kind == "search":
        condition = choose_filter(chance) if chance.random() < 0.6 else None
        return SearchOp(choose_namespace(chance), condition, ALL)
    conditions = tuple(
        MatchCondition(chance.choice(("prefix", "suffix")), choose_namespace(chance))
        for _ in range(chance.randint(0, 3))
    )
    offset, limit = chance.choice(((0, ALL), (0, 2), (1, 3)))
    return ListNamespacesOp(conditions, chance.choice((None, None, 1, 2)), limit, offset)


def describe(op, result):
    """Return what two stores have to agree on: not the times, nor the order without a query."""
    if isinstance(op, SearchOp):
        return sorted(repr((item.namespace, item.key, item.value)) for item in result)
    if isinstance(op, GetOp) and result:
        return repr((result.namespace, result.key, result.value))
    return result


def drop_empty(store):
    """Forget namespaces without items, which InMemoryStore keeps."""
    for namespace in [one for one, items in store._data.items() if not items]:
        del store._data[namespace]


async def compare(seed, memory):
    """Give both stores the same random batches; return the number of operations."""
    chance, theirs = random.Random(seed), InMemoryStore()
    ours, asked = TextrawlStore(memory, namespace=("langgraph", f"{seed}")), 0
    for _ in range(chance.randint(1, MOST_BATCHES)):
        ops = [choose_op(chance) for _ in range(chance.randint(1, 8))]
        ops.sort(
            key=lambda op: not isinstance(op, ListNamespacesOp)
        )  # a get makes a namespace there
        expected = theirs.batch(ops)
        found = ours.batch(ops) if seed % 2 else await ours.abatch(ops)
        for op, one, other in zip(ops, expected, found, strict=True):
            assert describe(op, other) == describe(op, one), f"{seed} {op}\n{one}\n{other}"
        drop_empty(theirs)
        asked += len(ops)
    return asked


async def main():
    """Compare all sequences."""
    with SyncClient() as memory:
        asked = sum([await compare(seed, memory) for seed in range(SEQUENCES)])
    print(f"{asked} operations as InMemoryStore")


asyncio.run(main())
