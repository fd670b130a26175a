"""An agent on LangChain's MCP adapters: its model is the stand-in, its tools are textrawl's."""

import asyncio
import json
import sys

from langchain.agents import create_agent
from langchain_mcp_adapters.client import MultiServerMCPClient
from langchain_mcp_adapters.tools import load_mcp_tools
from langchain_openai import ChatOpenAI


async def main():
    """Run the agent until its model is done."""
    work = json.load(sys.stdin)
    server = work["server"]
    entry = {"transport": "stdio", **server}
    if server.get("url"):
        entry = {"transport": "streamable_http", "url": server["url"]}
    client = MultiServerMCPClient({"textrawl": entry})
    async with client.session("textrawl") as session:
        model = ChatOpenAI(model="stand-in", base_url=f"{work['model']}/v1", api_key="none")
        agent = create_agent(model, await load_mcp_tools(session))
        asked = {"messages": [{"role": "user", "content": "Play the script."}]}
        done = await agent.ainvoke(asked, {"recursion_limit": 60})
    sys.stdout.write(str(done["messages"][-1].content))


asyncio.run(main())
