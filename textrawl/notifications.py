"""Listening to Postgres: the one connection that is not of the pool.

A pool hands a connection out for a call and takes it back; who listens keeps theirs for hours and
waits on its socket. Beside `database`, which calls functions, this is all that opens one.
"""

import logging
from collections.abc import AsyncGenerator

import anyio
import psycopg
from psycopg import AsyncConnection, sql

logger = logging.getLogger("textrawl")

_CONNECT = 10  # seconds that one attempt may take
_PAUSES = (0.1, 10.0)  # seconds between attempts: the first, and what doubling it ends at


async def listen(conninfo: str, channel: str, *, patience: float) -> AsyncGenerator[None]:
    """Yields whenever it may be worth looking, for as long as it is asked.

    That is: as soon as it listens to `channel`, when something was told there, and at the latest
    every `patience` seconds. A connection that breaks is made anew; since nobody knows what was
    told meanwhile, that is worth a look as well.
    """
    pause, longest = _PAUSES
    while True:
        try:
            async with await _connect(conninfo) as connection:
                await connection.execute(sql.SQL("listen {}").format(sql.Identifier(channel)))
                pause = _PAUSES[0]
                while True:
                    yield
                    async for _ in connection.notifies(timeout=patience, stop_after=1):
                        pass
        except psycopg.OperationalError as error:
            logger.info("Listening broke off (%s): connecting again", type(error).__name__)
        yield
        await anyio.sleep(pause)
        pause = min(2 * pause, longest)


async def _connect(conninfo: str) -> AsyncConnection:
    return await AsyncConnection.connect(
        conninfo, autocommit=True, connect_timeout=_CONNECT, application_name="textrawl watch"
    )
