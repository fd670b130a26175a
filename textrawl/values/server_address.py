"""The address of a textrawl server over HTTP."""

from urllib.parse import SplitResult, quote, urlsplit

_PATH = "/mcp"


def read_server_address(url: str) -> SplitResult:
    """Return the parts of the address of the MCP endpoint. A host alone stands for its path /mcp.

    Raises ValueError for an address that is not of HTTP or names no host.
    """
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("write an address such as https://memory.example.com/mcp")
    return parts if parts.path.strip("/") else parts._replace(path=_PATH)


def write_space_address(url: str, space: str) -> str:
    """Return the address of a space of the server at `url`.

    Raises ValueError if the address already names a space or a toolset.
    """
    parts = urlsplit(url)
    if parts.path.rstrip("/") not in ("", _PATH):
        raise ValueError("it already names a space or a toolset: end it with /mcp")
    return parts._replace(path=f"{_PATH}/{quote(space, safe='')}").geturl()
