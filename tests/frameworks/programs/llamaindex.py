"""A chat whose short-term memory is short: the block brings back what left it."""

import asyncio
import os

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.llms import ChatMessage
from llama_index.core.memory import InsertMethod, Memory
from llama_index.llms.openai_like import OpenAILike

from textrawl_client import SyncClient
from textrawl_client.adapters.llamaindex import TextrawlMemoryBlock


def _tell(role: str, text: str) -> ChatMessage:
    return ChatMessage(role=role, content=text)


def _open(memory: SyncClient, user: str, session: str) -> Memory:
    block = TextrawlMemoryBlock(memory=memory, user=user, limit=2, priority=1)
    return Memory.from_defaults(
        session_id=session,
        token_limit=120,
        chat_history_token_ratio=0.5,
        token_flush_size=40,
        memory_blocks=[block],
        insert_method=InsertMethod.SYSTEM,
    )


async def remember(memory: SyncClient) -> None:
    """Messages that leave the chat are found in another session of this user, and only there."""
    chat = _open(memory, "ada", "1")
    await chat.aput(_tell("user", "My office is in Bern, near the river"))
    await chat.aput(_tell("assistant", "Noted."))
    for number in range(12):
        await chat.aput(_tell("user", f"Tell me a joke about the number {number}, please"))
        await chat.aput(_tell("assistant", f"Number {number} walks into a bar"))
    for user, expected in (("ada", True), ("ben", False)):
        later = _open(memory, user, "2")
        await later.aput(_tell("user", "Which city is my office in?"))
        [first, *_] = await later.aget()
        assert ("office is in Bern" in (first.content or "")) == expected, first


async def check_block(memory: SyncClient) -> None:
    """A message that is stored twice is shown once; truncation drops what answers least."""
    block = TextrawlMemoryBlock(memory=memory, user="eve")
    told = [_tell("user", "I sail"), _tell("user", "I sail"), _tell("system", "Be kind")]
    for _ in range(2):
        await block.aput([*told, _tell("user", " ")], session_id="1")
    assert await block.aget([_tell("user", "Who can sail?")]) == "user: I sail"
    assert await block.aget([_tell("user", " ")]) == await block.aget([]) == ""
    assert "memory" not in block.model_dump()


def use_without_await(memory: SyncClient) -> None:
    """The methods that wait work too."""
    chat = _open(memory, "ada", "3")
    chat.put(_tell("user", "Which city is my office in?"))
    assert "Bern" in chat.get()[0].content


async def talk(memory: SyncClient) -> str:
    """An agent answers with what its user said in another session."""
    model = OpenAILike(
        model="stand-in",
        api_base=os.environ["OPENAI_BASE_URL"],
        api_key="none",
        is_chat_model=True,
        is_function_calling_model=True,
    )
    agent = FunctionAgent(llm=model, tools=[])
    answer = await agent.run("Which city is my office in?", memory=_open(memory, "ada", "4"))
    return str(answer)


def main() -> None:
    with SyncClient() as memory:
        asyncio.run(remember(memory))
        asyncio.run(check_block(memory))
        use_without_await(memory)
        print(asyncio.run(talk(memory)))


main()
