"""The schemas of a distributed memory, and the kinds of its tables."""

import re
from typing import LiteralString, cast

MEMORY = "textrawl"
CONTENT = "textrawl_content"
CELLS = "textrawl_cell_"

# Every node has these tables. The coordinator changes them, and the workers follow.
DIRECTORY = ("actor", "embedding_model", "space", "space_grant", "token")
# Each cell has these tables for itself: they are made from its content, or lock a part of it.
OF_CELLS = ("removal_lock", "search_statistics", "vector_index_claim", "word_form")
# These tables have no row-level security, because their rows belong to no space.
OPEN = ("actor", "code", "embedding_model", "migration")
# Each node has these tables for itself.
OF_NODES = ("code", "migration")


def name_cell(shard: int) -> str:
    """Return the name of the schema of a cell. `shard` is the id of its shard of `entity`."""
    return f"{CELLS}{shard}"


# A move gives the shards of a cell new placements. Each placement has room for as many transactions
# as a node makes in decades.
_TRANSACTIONS = 2**40
_NUMBER = re.compile(r"pg_current_xact_id\(\)|pg_snapshot_(?:xmin|xmax)\(pg_current_snapshot\(\)\)")


def number_transactions(text: LiteralString, placement: int) -> LiteralString:
    """Return code of a cell whose numbers of transactions belong to one placement.

    Each node counts its own transactions. With the placement before the number, the transactions
    after a move come after those before it, so followers of the trail keep their place.
    """
    number = rf"((\g<0>)::text::bigint + {placement * _TRANSACTIONS})::text::xid8"
    return cast("LiteralString", _NUMBER.sub(number, text))


def move_into(schema: str, text: LiteralString) -> LiteralString:
    """Return a statement for the schema textrawl, changed for `schema`."""
    changed = re.sub(r"\btextrawl\.", f"{schema}.", text)
    changed = re.sub(r"'textrawl'(?=::regnamespace)", f"'{schema}'", changed)
    changed = re.sub(r"(?<=nspname = )'textrawl'", f"'{schema}'", changed)
    # The text comes from files of the package or from the catalogue, so it is as safe as before.
    return cast("LiteralString", changed)
