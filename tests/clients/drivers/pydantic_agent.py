"""An agent on Pydantic AI: its model is the stand-in, its tools are textrawl's."""

import asyncio
import json
import sys

from fastmcp.client import Client
from fastmcp.client.transports import StdioTransport, StreamableHttpTransport
from pydantic_ai import Agent
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider


def connect(server):
    """Return the way to a server that is started, or at an address."""
    if server.get("url"):
        return StreamableHttpTransport(server["url"])
    return StdioTransport(server["command"], server["args"], env=server["env"])


async def main():
    """Run the agent until its model is done."""
    work = json.load(sys.stdin)
    provider = OpenAIProvider(base_url=f"{work['model']}/v1", api_key="none")
    tools = MCPToolset(Client(connect(work["server"])), max_retries=9)
    agent = Agent(OpenAIChatModel("stand-in", provider=provider), toolsets=[tools])
    async with agent:
        done = await agent.run("Play the script.")
    sys.stdout.write(str(done.output))


asyncio.run(main())
