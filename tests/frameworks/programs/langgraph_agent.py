"""An agent with langmem's two tools, the tools alone from both sides, and a time to live."""

import asyncio
import re

from langchain.agents import create_agent
from langmem import create_manage_memory_tool, create_search_memory_tool

from textrawl_client import SyncClient
from textrawl_client.adapters.langgraph import TextrawlStore

NAMESPACE = ("memories", "{langgraph_user_id}")
ADA, BEN = [{"configurable": {"langgraph_user_id": name}} for name in ("ada", "*")]


def read_id(answer):
    """Return the id of a memory in the answer of a tool."""
    return re.search(r"[0-9a-f-]{36}", answer)[0]


async def use_tools(store):
    """Create, update, find and delete a memory, which another user does not see."""
    manage = create_manage_memory_tool(NAMESPACE, store=store)
    search = create_search_memory_tool(NAMESPACE, store=store)
    known = read_id(manage.invoke({"content": "prefers green tea"}, ADA))
    await manage.ainvoke({"action": "update", "id": known, "content": "prefers black tea"}, ADA)
    assert "black tea" in search.invoke({"query": "which tea?"}, ADA)
    assert "tea" not in await search.ainvoke({"query": "which tea?"}, BEN)
    versions = memory.items.history(("langgraph", "memories", "ada"), known)
    assert [one.value["content"] for one in versions] == ["prefers black tea", "prefers green tea"]
    manage.invoke({"action": "delete", "id": known}, ADA)
    assert "tea" not in await search.ainvoke({"query": "which tea?"}, ADA)


def ask_agent(store):
    """Let an agent, whose model is the stand-in, use both tools."""
    tools = [create_manage_memory_tool(NAMESPACE), create_search_memory_tool(NAMESPACE)]
    agent = create_agent("openai:stand-in", tools=tools, store=store)
    said = {"messages": [{"role": "user", "content": "I like jasmine tea"}]}
    answers = [message.content for message in agent.invoke(said, ADA)["messages"]]
    assert any("jasmine" in str(answer) for answer in answers[1:]), answers


def outlive(store):
    """Store an item that expires, and one whose time begins again with each read."""
    store.put(("short",), "gone", {"n": 1}, ttl=0.0005)
    store.put(("short",), "kept", {"n": 2}, ttl=60)
    while store.get(("short",), "gone"):  # 30 milliseconds, and each read begins them again
        store.search(("short",), refresh_ttl=False)
    place = ("langgraph", "short")
    first = memory.items.get(place, "kept").expires_at
    assert store.search(("short",), refresh_ttl=False)[0].key == "kept"
    assert memory.items.get(place, "kept").expires_at == first
    assert len(store.search(("short",))) == 1
    assert memory.items.get(place, "kept").expires_at > first


with SyncClient() as memory:
    store = TextrawlStore(memory, ttl={"default_ttl": None, "refresh_on_read": True})
    asyncio.run(use_tools(store))
    ask_agent(store)
    outlive(store)
    print("an agent with langmem's tools")
