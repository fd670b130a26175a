"""Sessions of the memory's owner on a distributed memory, for exports and imports.

An export reads each worker in one snapshot. Workers have no common snapshot. So the lines of one
space are from one instant, but two spaces can be from two instants.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import Any, LiteralString

import anyio
from psycopg import sql

from textrawl.cluster.layout import (
    CellMap,
    CitusNode,
    find_shards,
    mark_directory,
    read_map,
    read_mark,
)
from textrawl.errors import StartRefused
from textrawl.postgres.connection import Connection, OwnerLogin, compose_names, is_distributed
from textrawl.postgres.owner_session import Session, as_json
from textrawl.postgres.owner_session import open_snapshot as open_one_snapshot
from textrawl.postgres.owner_session import open_writing as open_one_writing

_COUNTED = ("entity", "observation", "relation")
_LONGEST_COPY = 30.0  # seconds that a worker may need to copy a change of the directory
_PAUSE = 0.02
# The tables of vectors have their index from the beginning, and keep it.
_NO_INDEX: dict[str, list[tuple[Any, ...]]] = {
    "missing_vector_indexes": [],
    "suspend_vector_index": [(False,)],
}
Rows = list[tuple[Any, ...]]


class CellSession(Session):
    """A session in one cell. Until a call is committed, the cell stays on its worker."""

    def __init__(self, connection: Connection, shard: int, schema: str) -> None:
        super().__init__(connection, schema=schema)
        self._shard = shard

    async def is_empty(self, space: int) -> bool:
        """Return whether `space` has no entities."""
        query = "select from {}.entity where space_id = {} limit 1"
        return not await self._fetch(compose_names(query, self._schema, sql.Literal(space)))

    async def _prepare_call(self) -> None:
        await self.connection.execute("select textrawl_content.enter_cell(%s)", (self._shard,))


class DistributedSession(Session):
    """A session on the coordinator. It reads and writes content in the cells of the spaces."""

    def __init__(
        self, connection: Connection, cells: CellMap, workers: dict[CitusNode, Connection]
    ) -> None:
        super().__init__(connection)
        self._cells = [
            CellSession(workers[cell.node], cell.shard, cell.schema) for cell in cells.cells
        ]
        self._of_shards = dict(zip((cell.shard for cell in cells.cells), self._cells, strict=True))
        self._workers = workers
        self._of_spaces: dict[int, CellSession] = {}
        self._ways: dict[str, Callable[..., Awaitable[Rows]]] = {
            "fill_pending_embeddings": self._fill_embeddings,
            "find_names": self._find_names,
            "import_replacements": self._import_replacements,
            "import_spaces": self._import_spaces,
            "nearest_type": partial(super().call, "nearest_type"),
            "refresh_search_statistics": self._refresh_statistics,
            "register_embedding_model": self._register_model,
        }

    async def count_rows(self) -> dict[str, int]:
        """Return the numbers of entities, facts with statements, and relations, of all cells."""
        return {
            name: sum([await cell.count_table(name) for cell in self._cells]) for name in _COUNTED
        }

    async def count_parts(self) -> int:
        """Return the number of facts that are parts of a journal entry or a source."""
        return sum([await cell.count_parts() for cell in self._cells])

    async def read_lines(
        self, function: LiteralString, *arguments: int | str, model: int | None = None
    ) -> AsyncGenerator[list[tuple[str, Any]]]:
        """Yield pages of JSON lines from the cell of a space, or spaces from the coordinator."""
        session = await self._find_cell(int(arguments[0])) if arguments else super()
        async for page in session.read_lines(function, *arguments, model=model):
            yield page

    async def call(self, function: LiteralString, *arguments: Any) -> Rows:
        """Call a function in the cells of the spaces of its arguments, and return all rows.

        Raises BatchRefused if a cell refuses the arguments. Other cells can have stored theirs.
        """
        if function in _NO_INDEX:
            return _NO_INDEX[function]
        if function in self._ways:
            return await self._ways[function](*arguments)
        lines, *others = arguments
        rows: Rows = []
        for cell, batch in await self._divide(lines.obj, lambda line: line["space"]):
            rows += await cell.call(function, as_json(batch), *others)
        return rows

    async def _find_cell(self, space: int) -> CellSession:
        if space not in self._of_spaces:
            shard = (await find_shards(self.connection, [space]))[space]
            self._of_spaces[space] = self._of_shards[shard]
        return self._of_spaces[space]

    async def _divide(
        self, items: Sequence[Any], find_space: Callable[[Any], int]
    ) -> list[tuple[CellSession, list[Any]]]:
        """Return the cells of the spaces of `items`, each with its items in their order."""
        batches = dict[CellSession, list[Any]]()
        for item in items:
            batches.setdefault(await self._find_cell(find_space(item)), []).append(item)
        return [(cell, batches[cell]) for cell in self._cells if cell in batches]

    async def _import_spaces(self, lines: Any) -> Rows:
        """Create spaces on the coordinator, and wait until the workers know them."""
        known = await self.find_spaces()
        for line in lines.obj:
            space = known.get(line["name"])
            # The coordinator takes each space for empty, and would give it the language of the
            # file. But facts were stored in the language of the space.
            if space is not None and not await (await self._find_cell(space)).is_empty(space):
                line["language"] = line["created_at"] = None
        rows = await super().call("import_spaces", lines)
        await self._wait_for_copies()
        return rows

    async def _register_model(self, *arguments: object) -> Rows:
        rows = await super().call("register_embedding_model", *arguments)
        await self._wait_for_copies()
        await self.connection.execute("select textrawl_content.distribute_models()")
        for worker in self._workers.values():
            await worker.execute("select textrawl_content.match_models()")
        return rows

    async def _fill_embeddings(
        self, model: int, spaces: list[int], facts: list[Any], vectors: list[Any]
    ) -> Rows:
        items = list(zip(spaces, facts, vectors, strict=True))
        for cell, batch in await self._divide(items, lambda item: item[0]):
            columns = map(list, zip(*batch, strict=True))
            await cell.call("fill_pending_embeddings", model, *columns)
        return []

    async def _find_names(self, space: int, *arguments: object) -> Rows:
        return await (await self._find_cell(space)).call("find_names", space, *arguments)

    async def _import_replacements(self, spaces: list[int], *columns: list[Any]) -> Rows:
        items = list(enumerate(zip(spaces, *columns, strict=True)))
        loose: Rows = []
        for cell, batch in await self._divide(items, lambda item: item[1][0]):
            arguments = map(list, zip(*(values for _, values in batch), strict=True))
            for (number,) in await cell.call("import_replacements", *arguments):
                loose.append((batch[number - 1][0] + 1,))
        return loose

    async def _refresh_statistics(self) -> Rows:
        for cell in self._cells:
            await cell.call("refresh_search_statistics")
        return []

    async def _wait_for_copies(self) -> None:
        """Wait until each worker has the present directory. Raises StartRefused."""
        mark = await mark_directory(self.connection)
        for node, worker in self._workers.items():
            with anyio.move_on_after(_LONGEST_COPY) as scope:
                while await read_mark(worker) < mark:  # noqa: ASYNC110 - another server counts
                    await anyio.sleep(_PAUSE)
            if scope.cancelled_caught:
                raise StartRefused(
                    f"The worker {node.address} does not copy the directory: look for "
                    "errors of its subscription textrawl_directory in its log, then repeat this"
                )


@asynccontextmanager
async def open_snapshot(login: OwnerLogin) -> AsyncGenerator[Session]:
    """Open a read-only session that sees one state of the memory, or one of each worker.

    Raises StartRefused, DatabaseUnavailable.
    """
    async with open_one_snapshot(login) as session, AsyncExitStack() as stack:
        yield await _distribute(session, login, stack, open_one_snapshot)


@asynccontextmanager
async def open_writing(login: OwnerLogin, *, dry_run: bool = False) -> AsyncGenerator[Session]:
    """Open a session that can write. With `dry_run`, roll everything back at the end.

    Raises StartRefused, also for a dry run on a distributed memory, and DatabaseUnavailable.
    """
    async with open_one_writing(login, dry_run=dry_run) as session, AsyncExitStack() as stack:
        if dry_run and await is_distributed(session.connection):
            raise StartRefused(
                "A distributed memory has no dry run: first import into a memory on one server"
            )
        yield await _distribute(session, login, stack, open_one_writing)


async def _distribute(
    session: Session,
    login: OwnerLogin,
    stack: AsyncExitStack,
    open_one: Callable[[OwnerLogin], AbstractAsyncContextManager[Session]],
) -> Session:
    """Return a session of all nodes if the memory is distributed, otherwise `session`."""
    if not await is_distributed(session.connection):
        return session
    cells = await read_map(session.connection)
    workers: dict[CitusNode, Connection] = {}
    for node in cells.nodes:
        of_node = replace(login, conninfo=node.find(login.conninfo))
        workers[node] = (await stack.enter_async_context(open_one(of_node))).connection
    return DistributedSession(session.connection, cells, workers)
