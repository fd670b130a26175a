"""Random sequences: the SDK's SQLite session and ours hold the same items, and so does a run."""

import asyncio
import random

from agents import Agent, Runner, SessionSettings, SQLiteSession, set_tracing_disabled

from textrawl_client import Client
from textrawl_client.adapters.openai_agents import TextrawlSession

SEQUENCES, MOST_STEPS = 100, 12
TEXTS = (
    "",
    "hi",
    "hi",
    "  spaces\n",
    "\u200b",
    "日本 🙂",
    'quote " and \\u0000',
    "nul \0",
    "long " * 600,
)


def choose_item(chance):
    """Return an item of a conversation: a message, a call or its result."""
    text = chance.choice(TEXTS)
    return chance.choice([
        {"role": "user", "content": text},
        {"content": text, "role": "assistant"},
        {"type": "function_call", "call_id": "1", "name": "add", "arguments": '{"a": 1.0}'},
        {"type": "function_call_output", "call_id": "1", "output": text},
        {"role": "user", "content": [{"type": "input_text", "text": text}, None, 10**18, 0.1]},
        {"type": "reasoning", "id": "r", "summary": [], "z": {"y": [], "x": {}}},
    ])  # fmt: skip


async def step(chance, sessions):
    """Take one step with both sessions."""
    kind = chance.choice(("add", "add", "add", "read", "read", "pop", "pop", "clear"))
    items = [choose_item(chance) for _ in range(chance.randint(0, 4))]
    limit = chance.choice((None, None, 0, 1, 2, 3, 50, -1))
    calls = {
        "add": lambda one: one.add_items(items),
        "read": lambda one: one.get_items(limit),
        "pop": lambda one: one.pop_item(),
        "clear": lambda one: one.clear_session(),
    }
    theirs, ours = [await calls[kind](one) for one in sessions]
    assert repr(ours) == repr(theirs), f"{kind} {limit}\n{theirs}\n{ours}"  # the order of keys, too


async def compare(memory):
    """Compare random sequences of steps."""
    for seed in range(SEQUENCES):
        chance = random.Random(seed)
        settings = SessionSettings(limit=chance.choice((None, None, 2)))
        name = f"session {seed} / ü"
        sessions = (
            SQLiteSession(name, session_settings=settings),
            TextrawlSession(memory, name, session_settings=settings),
        )
        for _ in range(chance.randint(1, MOST_STEPS)):
            await step(chance, sessions)
        theirs, ours = [await one.get_items(-1) for one in sessions]
        assert repr(ours) == repr(theirs)
        sessions[0].close()


async def add_much(memory):
    """Add more at once than a request can have."""
    items = [{"role": "user", "content": letter * 400_000} for letter in "abcde"]
    session = TextrawlSession(memory, "long")
    await session.add_items(items)
    assert await session.get_items() == items
    assert await session.get_items(1) == items[-1:]


async def talk(memory):
    """Let two runs, each with a session of its own, take part in one conversation."""
    agent = Agent(name="agent", model="stand-in")
    for words in ("My name is Ada.", "What is my name?"):
        session = TextrawlSession(memory, "conversation")
        await Runner.run(agent, words, session=session)
    return len(await session.get_items())


set_tracing_disabled(True)
# As in a program that calls asyncio.run for each request: the memory is one object.
memory = Client()
asyncio.run(compare(memory))
asyncio.run(add_much(memory))
length = asyncio.run(talk(memory))
asyncio.run(memory.close())
print(f"{SEQUENCES} sequences as SQLiteSession; a run of {length} items")
