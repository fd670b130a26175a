"""A program on an old Python SDK: plays the steps that it reads, writes what it got.

It runs in an environment of its own, with the SDK that is tested.
"""

import asyncio
import inspect
import json
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

ASKED = []


async def answer_question(context, params):
    """Say no, and yes when asked again."""
    from mcp.types import ElicitResult

    ASKED.append(params.message)
    if len(ASKED) == 1:
        return ElicitResult(action="decline")
    return ElicitResult(action="accept", content={"confirm": True})


async def play(session, steps):
    """Call one tool after the other."""
    started = await session.initialize()
    tools = (await session.list_tools()).tools
    results = {}
    for step in steps:
        answer = await session.call_tool(step["tool"], step["arguments"])
        structured = getattr(answer, "structuredContent", None)
        results[step["name"]] = {"text": answer.content[0].text, "structured": structured}
    result = getattr(started, "instructions", None)
    return {"tools": [tool.name for tool in tools], "instructions": result, "results": results}


def connect(server):
    """Return the streams of a server that is started, or at an address."""
    if server.get("url"):
        from mcp.client.streamable_http import streamablehttp_client

        return streamablehttp_client(server["url"])
    words = {"command": server["command"], "args": server["args"], "env": server["env"]}
    return stdio_client(StdioServerParameters(**words))


async def main():
    """Play what stdin says."""
    work = json.load(sys.stdin)
    known = inspect.signature(ClientSession).parameters
    options = {"elicitation_callback": answer_question}
    options = {key: value for key, value in options.items() if key in known}
    async with (
        connect(work["server"]) as (read, write, *_),
        ClientSession(read, write, **options) as session,
    ):
        done = await play(session, work["steps"])
    sys.stdout.write(json.dumps(done))


asyncio.run(main())
