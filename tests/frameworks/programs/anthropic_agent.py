"""The SDK's tool runner, whose model is the stand-in, works on files that people can take back."""

import asyncio

from anthropic import Anthropic, AsyncAnthropic

from textrawl_client import Client, SyncClient
from textrawl_client.adapters.anthropic import TextrawlAsyncMemoryTool, TextrawlMemoryTool

ASKED = {
    "model": "stand-in",
    "max_tokens": 100,
    "messages": [{"role": "user", "content": "Remember that I like green tea."}],
}


async def run_async():
    """Run the asynchronous tool in a namespace of its own."""
    async with Client() as memory:
        tool = TextrawlAsyncMemoryTool(memory, namespace=("second",))
        runner = AsyncAnthropic().beta.messages.tool_runner(tools=[tool], **ASKED)
        return (await runner.until_done()).content[0].text


with SyncClient() as memory:
    tool = TextrawlMemoryTool(memory)
    done = Anthropic().beta.messages.tool_runner(tools=[tool], **ASKED).until_done()
    assert done.content[0].text == asyncio.run(run_async())

    written = memory.items.history(("anthropic",), "tea.md")
    assert [item.value for item in written] == ["black tea\n", "green tea\n"]
    assert memory.items.get(("second",), "tea.md").value == "black tea\n"
    assert memory.items.search("which tea?", ("second",))[0].key == "tea.md"
    tool.clear_all_memory()
    assert memory.items.list(("anthropic",)) == []
    kept = memory.items.history(("anthropic",), "tea.md")
    assert [item.value for item in kept] == [None, "black tea\n", "green tea\n"]
    print("the tool runner of both clients")
