"""The page that a person sees who opens the address of a server in a browser."""

from html import escape

from starlette.datastructures import Headers
from starlette.responses import HTMLResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from textrawl.server.http.guards import PAGES, PROTECTING, is_open, is_page

_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>textrawl</title>
<h1>textrawl</h1>
<p>This is a memory for AI agents. It speaks MCP, which a browser does not.</p>
<p>To connect a client, run
<code>textrawl connect CLIENT --url {address}/mcp --token-file FILE</code>
with a token that the administrator made with <code>textrawl token create</code>.</p>
<p>In a terminal, the commands of every day use this memory with
<code>TEXTRAWL_SERVER_URL={address}/mcp</code> and <code>TEXTRAWL_ACCESS_TOKEN_FILE</code>.</p>
{explorer}
</html>
"""
_EXPLORER = f'<p>People look into the memory at <a href="{PAGES}">{PAGES}</a>.</p>'


class Welcome:
    """Answers a browser that has no token with a page in place of an error for programs."""

    def __init__(self, app: ASGIApp, *, public_url: str | None, explorer: bool) -> None:
        self._app = app
        self._public_url = public_url
        self._explorer = explorer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or answer with the page."""
        if not _is_from_browser(scope):
            await self._app(scope, receive, send)
            return
        host = Headers(scope=scope).get("host", "")
        page = _PAGE.format(
            address=escape(self._public_url or f"http://{host}"),
            explorer=_EXPLORER if self._explorer else "",
        )
        status = 200 if scope["path"] == "/" else 401
        await HTMLResponse(page, status, headers=dict(PROTECTING))(scope, receive, send)


def _is_from_browser(scope: Scope) -> bool:
    """Return whether a person's browser asks, for something else than the explorer."""
    if scope["type"] != "http" or scope["method"] != "GET":
        return False
    if is_open(scope["path"]) or is_page(scope["path"]):
        return False
    headers = Headers(scope=scope)
    return "text/html" in headers.get("accept", "") and "authorization" not in headers
