"""A server with one tool that does nothing. It shows the smallest possible time of a call.

    python -m benchmarks.support.noop [--http --port 8765]

It uses the server and the transports of the MCP SDK. benchmarks.latency compares textrawl with it.
"""

import argparse

from mcp.server import MCPServer

server = MCPServer("noop", log_level="WARNING")


@server.tool()
def do_nothing() -> str:
    """Do nothing."""
    return "done"


def main() -> None:
    """Serve over stdio, or over HTTP on 127.0.0.1."""
    parser = argparse.ArgumentParser(description="A server that does nothing.")
    parser.add_argument("--http", action="store_true")
    parser.add_argument("--port", type=int, default=8765)
    given = parser.parse_args()
    if given.http:
        server.run("streamable-http", host="127.0.0.1", port=given.port)
    else:
        server.run("stdio")


if __name__ == "__main__":
    main()
