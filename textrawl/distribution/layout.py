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


def move_into(schema: str, text: LiteralString) -> LiteralString:
    """Return a statement for the schema textrawl, changed for `schema`."""
    changed = re.sub(r"\btextrawl\.", f"{schema}.", text)
    changed = re.sub(r"'textrawl'(?=::regnamespace)", f"'{schema}'", changed)
    changed = re.sub(r"(?<=nspname = )'textrawl'", f"'{schema}'", changed)
    # The text comes from files of the package or from the catalogue, so it is as safe as before.
    return cast("LiteralString", changed)
