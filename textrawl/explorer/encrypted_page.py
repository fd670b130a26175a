"""Sensitive graphs on the own machine: this process decrypts and searches their documents."""

from starlette.responses import Response

from textrawl.errors import ItemNotFound
from textrawl.explorer.arguments import read_query
from textrawl.explorer.requests import PageRequest
from textrawl.memory.encrypted_documents import EncryptedGraph
from textrawl.memory.key_files import KeyFiles

_SHOWN, _LIMIT = 50, 10


async def show(visit: PageRequest) -> Response:
    """Show the documents of a sensitive graph. Raises ItemNotFound on a server for a team."""
    graph = _open_graph(visit)
    documents = sorted(await graph.list_documents(), key=lambda each: each.head.path)
    values = {"documents": documents[:_SHOWN], "total": len(documents), "hits": None}
    return visit.show("encrypted.html", {**values, "graph": graph.name, "query": ""})


async def search(visit: PageRequest) -> Response:
    """Show the chunks that match the words of a form, so that no address has these words."""
    graph, query = _open_graph(visit), read_query(visit.read("q"))
    hits = await graph.search(query, _LIMIT) if query else []
    return visit.show("encrypted.html", {"hits": hits, "graph": graph.name, "query": query})


def _open_graph(visit: PageRequest) -> EncryptedGraph:
    name = visit.require_space()
    if not visit.site.own_machine or (visit.graphs is not None and name not in visit.graphs):
        raise ItemNotFound
    files = KeyFiles(visit.site.settings.encryption_key)
    return EncryptedGraph(visit.site.store, visit.caller.signing, name, files)
