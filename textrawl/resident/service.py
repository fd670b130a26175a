"""The listener of a process that has the memory open: a server, or `textrawl resident`."""

from functools import partial
from typing import TYPE_CHECKING

from pydantic import SecretStr

from textrawl.resident.address import Address, Memory, build_address
from textrawl.resident.answers import OpenMemory, answer
from textrawl.resident.listener import Listener
from textrawl.settings import Settings

if TYPE_CHECKING:  # `textrawl resident` does not load the MCP SDK
    from textrawl.toolsets.app import App


def locate(settings: Settings) -> Address:
    """Return the address of the memory of `settings`."""
    memory = Memory(
        database_url=_reveal(settings.database_url),
        access_token=_reveal(settings.access_token),
        space=settings.space,
        server_url=settings.server_url,
    )
    return build_address(settings.data_dir, memory)


def build_listener(settings: Settings, memory: OpenMemory) -> Listener:
    """Return the listener for the memory of `settings`."""
    return Listener(locate(settings), partial(answer, memory))


async def listen(settings: Settings, app: "App") -> None:
    """Answer requests through the socket with the memory of a server, until cancelled."""
    memory = OpenMemory(
        app.store,
        app.identity.directory,
        app.renderer,
        app.recalls,
        app.identity.space,
        read_only=settings.read_only,
        digest_tokens=settings.digest_tokens,
        digest_authors=settings.digest_authors,
    )
    await build_listener(settings, memory).run()


def _reveal(secret: SecretStr | None) -> str | None:
    return secret.get_secret_value() if secret is not None else None
