"""The connections to one worker of a distributed memory."""

from collections.abc import Mapping
from typing import Any

import psycopg
from psycopg_pool import PoolTimeout

from textrawl.distribution.map import Node
from textrawl.postgres.connection import is_broken
from textrawl.postgres.pool import ServerPool

_PATIENCE = 0.5  # seconds that a call waits for a worker that did not answer the call before


class NodeAway(Exception):
    """The error for a worker that cannot be reached. The call can have changed something there."""


class NodePool(ServerPool):
    """The connections to a worker, with the login and the options of `conninfo`."""

    def __init__(self, conninfo: str, node: Node, *, timeout: float, max_size: int) -> None:
        super().__init__(
            node.find(conninfo),
            timeout=timeout,
            connect_timeout=timeout,
            max_size=max_size,
        )
        self._away = False

    async def ask(
        self, query: bytes, values: Mapping[str, object], enter: bytes | None
    ) -> list[tuple[Any, ...]]:
        """Return the rows of `query`. The statement `enter` runs first, in the same transaction.

        Raises NodeAway, and psycopg.Error for a refusal of the worker.
        """
        try:
            rows = await self._ask(query, values, enter)
        except PoolTimeout as error:
            self._away = True
            raise NodeAway from error
        except psycopg.OperationalError as error:
            self._away = is_broken(error)
            if not self._away:
                raise
            raise NodeAway from error
        self._away = False
        return rows

    async def _ask(
        self, query: bytes, values: Mapping[str, object], enter: bytes | None
    ) -> list[tuple[Any, ...]]:
        async with self.lend(_PATIENCE if self._away else None) as connection:
            cursor = connection.cursor()
            if enter is None and not connection.pooled:
                await cursor.execute(query, values)
            else:
                # A pipeline is one round trip and one transaction.
                async with connection.pipeline():
                    if connection.pooled:
                        await connection.execute(self._set_limits)
                    if enter is not None:
                        await connection.execute(enter)
                    await cursor.execute(query, values)
            return await cursor.fetchall()
