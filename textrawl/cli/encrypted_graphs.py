"""Encrypted graphs for commands, with the keys that the settings name."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from textrawl import __version__
from textrawl.cli.administration import Administration, administer
from textrawl.cli.memory_session import change_memory, read_memory
from textrawl.memory.commands import Session
from textrawl.memory.encrypted_documents import EncryptedGraph
from textrawl.memory.key_files import KeyFiles
from textrawl.settings import read_settings

Result = TypeVar("Result")


def read_graph(
    command: str, graph: str, work: Callable[[EncryptedGraph], Awaitable[Result]]
) -> Result:
    """Run `work` on an encrypted graph that it only reads, and return its result.

    Raises the errors of `read_memory` and EncryptedGraph.
    """
    return read_memory(command, None, lambda session: work(open_graph(session, graph)))


def change_graph(
    command: str, graph: str, work: Callable[[EncryptedGraph], Awaitable[Result]]
) -> Result:
    """Run `work` on an encrypted graph, and return its result.

    Raises the errors of `change_memory` and EncryptedGraph.
    """
    return change_memory(
        command, None, lambda session: work(open_graph(session, graph)), homeless=True
    )


def open_graph(session: Session, graph: str) -> EncryptedGraph:
    """Return an encrypted graph with the keys of the settings."""
    return EncryptedGraph(session.store, session.caller.signing, graph, read_key_files())


def administer_graph(
    command: str, graph: str, work: Callable[[EncryptedGraph], Awaitable[Result]]
) -> Result:
    """Run `work` on an encrypted graph as the owner of the memory, or with the scope admin."""

    async def run(memory: Administration) -> Result:
        signing = {
            "credential": memory.credential,
            "client": f"textrawl {__version__}",
            "tool": command,
            "request": None,
        }
        return await work(EncryptedGraph(memory, signing, graph, read_key_files()))

    return administer(run, owned=False, wait=None)


def read_key_files() -> KeyFiles:
    """Return the keys that the settings name."""
    return KeyFiles(read_settings().encryption_key)
