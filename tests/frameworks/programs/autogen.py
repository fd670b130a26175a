"""AutoGen's ListMemory as the oracle, and an assistant that is told what it once learned."""

import asyncio
import base64

from autogen_agentchat.agents import AssistantAgent
from autogen_core import Image
from autogen_core.memory import ListMemory, MemoryContent, MemoryMimeType
from autogen_core.model_context import UnboundedChatCompletionContext
from autogen_core.models import ModelInfo
from autogen_ext.models.openai import OpenAIChatCompletionClient

from textrawl_client import Client
from textrawl_client.adapters.autogen import TextrawlMemory

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="
)
CONTENTS = [
    MemoryContent(content="Ada drinks green tea", mime_type=MemoryMimeType.TEXT),
    MemoryContent(content="Ada drinks green tea", mime_type=MemoryMimeType.TEXT),
    MemoryContent(content="", mime_type="text/plain", metadata={"empty": True}),
    MemoryContent(content={"b": [1, "\u0000"], "a": None}, mime_type=MemoryMimeType.JSON),
    MemoryContent(content=b"\x00\xff", mime_type=MemoryMimeType.BINARY, metadata={"n": 1.5}),
    MemoryContent(content="# Tea\n\u200b" * 3000, mime_type="text/markdown"),
]


def _dump(contents):
    return [(one.content, one.mime_type, one.metadata) for one in contents]


async def compare(memory: Client) -> None:
    """All that was told comes back in the order of telling, twice if it was told twice."""
    ours, oracle = TextrawlMemory(memory, "ada"), ListMemory("ada")
    for content in CONTENTS:
        await ours.add(content)
        await oracle.add(MemoryContent.model_validate(content.model_dump()))
    found, wanted = (await ours.query("")).results, (await oracle.query("")).results
    assert _dump(found) == _dump(wanted), found
    await ours.add(MemoryContent(content=Image.from_pil(_open()), mime_type=MemoryMimeType.IMAGE))
    [*_, last] = (await ours.query("")).results
    assert last.content.image.getpixel((0, 0)) == _open().getpixel((0, 0))
    assert (await TextrawlMemory(memory, "ben").query("")).results == []
    await ours.clear()
    assert (await ours.query("")).results == []


def _open():
    return Image.from_base64(base64.b64encode(PIXEL).decode()).image


async def talk(memory: Client) -> str:
    """The prompt of the assistant has the memory that answers the question."""
    ours = TextrawlMemory(memory, "talk", limit=1)
    for text in ("Ada drinks green tea", "The office is in Bern"):
        await ours.add(MemoryContent(content=text, mime_type="text/plain", metadata={"by": "Ada"}))
    context = UnboundedChatCompletionContext()
    assert (await ours.update_context(context)).memories.results == []
    info = ModelInfo(
        vision=False,
        function_calling=True,
        json_output=False,
        family="unknown",
        structured_output=False,
        multiple_system_messages=True,
    )
    model = OpenAIChatCompletionClient(model="stand-in", model_info=info)
    agent = AssistantAgent("assistant", model, memory=[ours], model_context=context)
    result = await agent.run(task="Which city is the office in?")
    [told] = [each for each in result.messages if each.type == "MemoryQueryEvent"]
    [found] = told.content
    assert found.content == "The office is in Bern", found
    assert found.metadata["by"] == "Ada"
    assert 0 < found.metadata["score"] <= 1
    messages = await context.get_messages()
    assert any("The office is in Bern" in str(each.content) for each in messages)
    await model.close()
    return result.messages[-1].content


async def main() -> None:
    async with Client() as memory:
        await compare(memory)
        print(await talk(memory))


asyncio.run(main())
