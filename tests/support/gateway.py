"""A way to Postgres that can be cut, closed and frozen, as networks and servers do."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Literal

from psycopg.conninfo import conninfo_to_dict, make_conninfo

Moment = Literal["before", "after"]


class Gateway:
    """A Unix socket in `folder` that leads to the Postgres of `conninfo`."""

    def __init__(self, folder: Path, conninfo: str) -> None:
        given = conninfo_to_dict(conninfo)
        self._there = Path(str(given["host"])) / f".s.PGSQL.{given['port']}"
        self._here = folder / ".s.PGSQL.5432"
        self.conninfo = make_conninfo(conninfo, host=str(folder), port=5432)
        self.accepted = 0
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()
        self._thawed = asyncio.Event()
        self._thawed.set()
        self._doomed: tuple[bytes, Moment] | None = None

    async def open(self) -> None:
        """Take connections."""
        self._here.unlink(missing_ok=True)
        self._server = await asyncio.start_unix_server(self._connect, self._here)

    async def close(self) -> None:
        """End every connection and refuse new ones: Postgres is away."""
        if self._server is not None:
            self._server.close()
        self._here.unlink(missing_ok=True)
        await self.cut()

    async def cut(self) -> None:
        """End every connection and take new ones: Postgres was restarted."""
        ended = list(self._connections)
        for connection in ended:
            connection.cancel()
        await asyncio.gather(*ended, return_exceptions=True)

    def freeze(self) -> None:
        """Let nothing through and refuse nothing: the network swallows it all."""
        self._thawed.clear()

    def thaw(self) -> None:
        """Let everything through that was held back."""
        self._thawed.set()

    def break_at(self, words: bytes, moment: Moment) -> None:
        """End the connection of the next request that holds `words`.

        Before it arrived, or after it was carried out and before its answer is heard.
        """
        self._doomed = words, moment

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.accepted += 1
        back, forth = await asyncio.open_unix_connection(self._there)
        connection = asyncio.create_task(self._carry(reader, forth, back, writer))
        self._connections.add(connection)
        connection.add_done_callback(self._connections.discard)

    async def _carry(
        self,
        asked: asyncio.StreamReader,
        forth: asyncio.StreamWriter,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        lost = asyncio.Event()  # from now on no answer is heard
        try:
            await asyncio.gather(
                self._forward(asked, forth, lambda piece: self._doom(piece, lost)),
                self._forward(reader, writer, lambda _: lost.is_set()),
            )
        finally:
            for end in (forth, writer):
                end.close()

    def _doom(self, piece: bytes, lost: asyncio.Event) -> bool:
        """Whether the connection ends before this request; `lost` is set if it does after it."""
        if self._doomed is None or self._doomed[0] not in piece:
            return False
        moment, self._doomed = self._doomed[1], None
        if moment == "after":
            lost.set()
        return moment == "before"

    async def _forward(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        ends_at: Callable[[bytes], bool],
    ) -> None:
        with suppress(ConnectionError):  # either end may break off, which is what ends this
            while piece := await reader.read(65_536):
                await self._thawed.wait()
                if ends_at(piece):
                    break
                writer.write(piece)
        writer.close()


@asynccontextmanager
async def run_gateway(folder: Path, conninfo: str) -> AsyncGenerator[Gateway]:
    """A gateway that is open at first."""
    gateway = Gateway(folder, conninfo)
    await gateway.open()
    try:
        yield gateway
    finally:
        gateway.thaw()
        await gateway.close()
