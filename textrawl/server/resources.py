"""The MCP resources of some toolsets. Callers need the scope `read`."""

import re
from collections.abc import Iterable, Mapping, Sequence

from mcp import MCPError
from mcp.server.lowlevel.helper_types import ReadResourceContents
from mcp.server.mcpserver.exceptions import ResourceNotFoundError
from mcp.types import (
    INVALID_PARAMS,
    ListResourcesResult,
    Resource,
    ResourceTemplate,
)

from textrawl.store.watches import Watch
from textrawl.toolsets.call import Call
from textrawl.toolsets.toolset import Complete, Toolset

_JSON = "application/json"
_PAGE = 100  # resources of one page of the list
_VARIABLE = re.compile(r"\{(\w+)\}")


class Resources:
    """The resources of some toolsets, which a client loads without a tool call."""

    def __init__(self, toolsets: Iterable[Toolset]) -> None:
        chosen = list(toolsets)
        self._documents = {one.uri: one for toolset in chosen for one in toolset.documents}
        self.collections = [one for toolset in chosen for one in toolset.collections]

    def __bool__(self) -> bool:
        """Return whether there are resources."""
        return bool(self._documents or self.collections)

    def find_name(self, uri: str) -> str:
        """Return the name of the resource or of its collection. Raises ResourceNotFoundError."""
        if uri in self._documents:
            return self._documents[uri].name
        for one in self.collections:
            if uri.startswith(one.template.split("{", 1)[0]):
                return one.name
        raise ResourceNotFoundError(f"Unknown resource: {uri[:64]}")

    async def list(self, call: Call | None, cursor: str | None) -> ListResourcesResult:
        """Return a page of the resources. `call` is None if there are no collections.

        Raises MCPError for a cursor that is not of an earlier page.
        """
        found = [
            Resource(
                uri=document.uri,
                name=document.name,
                title=document.title,
                description=document.description,
                mime_type=_JSON,
            )
            for document in self._documents.values()
        ]
        for one in self.collections if call is not None else ():
            assert call is not None  # noqa: S101 - for the type checker
            found += await one.list(call)
        return _choose_page(found, cursor)

    def list_templates(self) -> Sequence[ResourceTemplate]:
        """Return the forms of the addresses of collections."""
        return [
            ResourceTemplate(
                uri_template=one.template,
                name=one.name,
                title=one.title,
                description=one.description,
                mime_type=one.mime_type,
            )
            for one in self.collections
        ]

    async def read(self, call: Call, uri: str) -> ReadResourceContents:
        """Return the content of a resource. Raises ResourceNotFoundError."""
        if uri in self._documents:
            content = await self._documents[uri].read(call)
            return ReadResourceContents(content=content, mime_type=_JSON)
        for one in self.collections:
            text = await one.read(call, uri)
            if text is not None:
                return ReadResourceContents(content=text, mime_type=one.mime_type)
        raise ResourceNotFoundError(f"Unknown resource: {uri[:64]}")

    def find_watch(self, call: Call, uri: str) -> Watch:
        """Return what to watch for changes of a resource. Raises MCPError (-32602)."""
        watch = self.seek_watch(call, uri)
        if watch is None:
            known = ", ".join(one.template for one in self.collections if one.watch is not None)
            raise MCPError(INVALID_PARAMS, f"No subscriptions to {uri[:64]}. Possible: {known}")
        return watch

    def seek_watch(self, call: Call, uri: str) -> Watch | None:
        """Return what to watch for changes of a resource, or None."""
        watches = (one.watch(call, uri) for one in self.collections if one.watch is not None)
        return next((watch for watch in watches if watch is not None), None)

    def find_completions(self, template: str) -> Mapping[str, Complete | None]:
        """Return the variables of a template, each with its function. Raises MCPError (-32602)."""
        for one in self.collections:
            if one.template == template:
                names = _VARIABLE.findall(template)
                return {name: one.complete.get(name) for name in names}
        known = ", ".join(one.template for one in self.collections) or "none"
        raise MCPError(INVALID_PARAMS, f"Unknown template: {template[:64]}. Known: {known}")


def _choose_page(found: Sequence[Resource], cursor: str | None) -> ListResourcesResult:
    if cursor is not None and not (cursor.isascii() and cursor.isdecimal() and len(cursor) < 10):  # noqa: PLR2004 - digits
        raise MCPError(INVALID_PARAMS, "Unknown cursor: list the resources again without a cursor")
    begin = int(cursor or 0)
    end = begin + _PAGE
    return ListResourcesResult(
        resources=list(found[begin:end]), next_cursor=str(end) if end < len(found) else None
    )
