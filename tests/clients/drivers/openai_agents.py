"""An agent on the OpenAI Agents SDK: its model is the stand-in, its tools are textrawl's."""

import asyncio
import json
import sys

from agents import Agent, Runner, set_default_openai_client, set_tracing_disabled
from agents.mcp import MCPServerStdio, MCPServerStreamableHttp
from openai import AsyncOpenAI


def connect(server):
    """Return the SDK's way to a server that is started, or at an address."""
    if server.get("url"):
        return MCPServerStreamableHttp(params={"url": server["url"]})
    words = {"command": server["command"], "args": server["args"], "env": server["env"]}
    return MCPServerStdio(params=words, client_session_timeout_seconds=60)


async def main():
    """Run the agent until its model is done."""
    work = json.load(sys.stdin)
    set_tracing_disabled(True)
    set_default_openai_client(AsyncOpenAI(base_url=f"{work['model']}/v1", api_key="none"))
    async with connect(work["server"]) as server:
        agent = Agent(name="agent", model="stand-in", mcp_servers=[server])
        done = await Runner.run(agent, "Play the script.", max_turns=len(work["steps"]) + 2)
    sys.stdout.write(str(done.final_output))


asyncio.run(main())
