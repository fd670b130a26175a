"""`SyncClient`: a memory for programs in Python without asyncio."""

from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from functools import partial, wraps
from types import TracebackType
from typing import Concatenate, ParamSpec, Self, TypeVar

from anyio.from_thread import BlockingPortal, start_blocking_portal

from textrawl.library.client import Client

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


def _wait_for(
    method: Callable[Concatenate[Client, Parameters], Awaitable[Result]],
) -> "Callable[Concatenate[SyncClient, Parameters], Result]":
    """Return the method that waits for the result of `method`."""

    @wraps(method)
    def wait(
        self: "SyncClient", *arguments: Parameters.args, **options: Parameters.kwargs
    ) -> Result:
        return self._portal.call(partial(method, self._client, *arguments, **options))  # pyright: ignore[reportPrivateUsage]

    return wait


class SyncClient:
    """A memory: `with SyncClient() as memory`, or `SyncClient(url)` for a server over HTTP.

    It has the methods of `Client`, and they wait for the result. An event loop runs in a thread of
    its own until the client is closed. Several threads can use one client.
    """

    def __init__(
        self, url: str | None = None, *, token: str | None = None, timeout: float = 30
    ) -> None:
        self._client = Client(url, token=token, timeout=timeout)
        self._stack = ExitStack()
        self._opened: BlockingPortal | None = None

    def __enter__(self) -> Self:
        """Open the memory."""
        with ExitStack() as stack:
            self._opened = stack.enter_context(start_blocking_portal())
            stack.enter_context(self._opened.wrap_async_context_manager(self._client))
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the memory."""
        self._opened = None
        self._stack.__exit__(kind, error, trace)

    @property
    def _portal(self) -> BlockingPortal:
        if self._opened is None:
            raise RuntimeError("Open the client first: with SyncClient() as memory")
        return self._opened

    recall = _wait_for(Client.recall)
    digest = _wait_for(Client.digest)
    remember = _wait_for(Client.remember)
    relate = _wait_for(Client.relate)
    forget = _wait_for(Client.forget)
