"""The search of documents for `textrawl search --documents`, which can decrypt them."""

from typing import Any

from textrawl.cli.console import show_wait, write_message
from textrawl.cli.memory_session import open_graph, watch
from textrawl.cli.questions import ask
from textrawl.errors import ArgumentInvalid
from textrawl.memory import commands
from textrawl.memory.command_results import Found
from textrawl.settings import read_settings


def search_documents(space: str | None, text: str, limit: int, as_of: Any) -> Found:
    """Search graphs. If the only graph that was named is encrypted, this process decrypts it."""
    if read_settings().server_url is not None:
        return ask("search", Found, space, query=text, limit=limit, as_of=as_of, documents=True)

    async def work(session: commands.Session) -> tuple[Found, list[str]]:
        principal = session.caller.principal
        reached = principal.restrict(session.graphs).spaces
        sensitive = [s.name for s in reached if s.tier == "sensitive" and "read" in s.scopes]
        if principal.pinned and sensitive:
            if as_of is not None:
                raise ArgumentInvalid(
                    "leave out --as-of", title="A sensitive graph does not keep former versions"
                )
            rows = await open_graph(session, sensitive[0]).search(text, limit)
            return Found(rows, None, several=False), []
        found = await commands.search.run(session, text, limit=limit, as_of=as_of, documents=True)
        return found, sensitive

    with show_wait("Reading"):
        found, left_out = watch(commands.search, space, work)
    if left_out:
        names = ", ".join(left_out)
        write_message(f"Sensitive graphs are searched only if --space names one: {names}.")
    return found
