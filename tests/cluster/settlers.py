"""An actor with spaces in every cell, who reads and writes them as a server does."""

import hashlib
from typing import Any, LiteralString

import psycopg

from tests.support.cluster import ClusterMemory
from textrawl.cluster.layout import Cell
from textrawl.embedded.postmaster import APP, OWNER

_NAMES = [f"space-{number:02}" for number in range(16)]


class Settlers:
    """Ana, who has all scopes in all spaces, and Ben, who reads only the first space."""

    def __init__(self, memory: ClusterMemory) -> None:
        self.memory = memory
        self.ana = hashlib.sha256(b"ana").digest()
        self.ben = hashlib.sha256(b"ben").digest()
        with memory.open(OWNER) as owner:
            owner.execute("set search_path = textrawl, public")
            self.names = self.enrol(owner)
        self.find_cells()
        self.spaces = list(self.cells)
        memory.send_directory()

    def find_cells(self) -> None:
        """Look where the spaces are now."""
        self.cells: dict[int, Cell] = self.memory.find_cells(sorted(self.names))

    def read_events(self, space: int) -> list[tuple[int, int]]:
        """Transactions and numbers of the events of a space, in the order of followers."""
        query = "select transaction::text::bigint, id from event where space_id = %s order by 1, 2"
        return self.fetch(space, query, space, role=OWNER)

    def enrol(self, owner: psycopg.Connection[Any]) -> dict[int, str]:
        """Create the spaces, the actors and their tokens; the names of the spaces by id."""
        scopes = ["read", "write", "forget", "review"]
        owner.execute("select create_space(name) from unnest(%s::text[]) name", (_NAMES,))
        _create_token(owner, self.ana, "ana", scopes)
        _create_token(owner, self.ben, "ben", ["read"])
        for name in _NAMES[1:]:
            owner.execute("select grant_access('ana', %s, %s)", (name, scopes))
        rows = owner.execute("select id, name from space where name = any(%s)", (_NAMES,))
        return dict(rows.fetchall())

    def spaces_of(self, cell: Cell) -> list[int]:
        """The spaces in a cell."""
        return [space for space, place in self.cells.items() if place == cell]

    def pick(self, *, away_from: int | None = None) -> int:
        """A space whose node has no cell of another space."""
        far = None if away_from is None else self.cells[away_from].node
        return next(space for space, cell in self.cells.items() if cell.node != far)

    def fetch(
        self, space: int, query: LiteralString, *values: object, role: str = APP
    ) -> list[tuple[Any, ...]]:
        """Rows of a query in the cell of a space."""
        with self.memory.enter(self.cells[space], role) as session:
            if role == APP:
                entry = "select textrawl_content.enter_cell(%s)"
                session.execute(entry, (self.cells[space].shard,))
            cursor = session.execute(query, values)
            return cursor.fetchall() if cursor.description else []

    def remember(self, space: int, entity: str, text: str) -> object:
        """Store a fact as Ana, and return its id."""
        query = """
            select observation_id from remember_fact(%s, 'person', %s, space => %s,
                credential => %s)"""
        [(fact,)] = self.fetch(space, query, entity, text, space, self.ana)
        return fact

    def search(self, space: int, query: str, credential: bytes | None = None) -> set[str]:
        """The texts that a search without a space finds in the cell of `space`."""
        rows = self.fetch(
            space,
            "select content from search_memory(%s, credential => %s, max_rows => 100)",
            query,
            credential or self.ana,
        )
        return {text for (text,) in rows}


def _create_token(
    owner: psycopg.Connection[Any], credential: bytes, actor: str, scopes: list[str]
) -> None:
    query = "select create_token(%s, %s, actor => %s, space => %s, scopes => %s)"
    owner.execute(query, (credential, f"trl_{actor}", actor, _NAMES[0], scopes))
