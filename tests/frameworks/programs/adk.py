"""ADK's memory services in memory and in SQLite as oracles, and an agent that loads memories."""

import asyncio
import os
import random
from itertools import product

from google.adk.agents import Agent
from google.adk.events import Event
from google.adk.memory import BaseMemoryService, InMemoryMemoryService
from google.adk.memory._sqlite_memory_service import SqliteMemoryService
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService, Session
from google.adk.tools import load_memory
from google.genai.types import Content, Part

from textrawl_client import Client
from textrawl_client.adapters.adk import TextrawlMemoryService

WORDS = ["amber", "birch", "cedar", "daisy", "elder", "fennel", "ginger", "hazel"]
APPS, USERS = ("shop", "desk"), ("ada", "ben", "Ada")


def _write_session(chance: random.Random, name: str) -> Session:
    events = [
        Event(
            author=chance.choice(("user", "agent")),
            content=Content(role="user", parts=[Part(text=" ".join(chance.sample(WORDS, 2)))]),
        )
        for _ in range(3)
    ]
    silent = Event(author="agent", content=Content(role="model", parts=[Part(text=None)]))
    app, user = chance.choice(APPS), chance.choice(USERS)
    return Session(id=name, app_name=app, user_id=user, events=[*events, silent])


async def _search(service: BaseMemoryService, app: str, user: str, query: str) -> set:
    found = await service.search_memory(app_name=app, user_id=user, query=query)
    return {(one.content.parts[0].text, one.author, one.timestamp) for one in found.memories}


async def compare(ours: BaseMemoryService) -> int:
    """Add and delete the same sessions, and return the number of searches that are compared."""
    oracle, sqlite = InMemoryMemoryService(), SqliteMemoryService(":memory:")
    sessions, chance = [], random.Random(7)
    for number in range(12):
        sessions.append(_write_session(chance, f"session {number}"))
        again = chance.choice(sessions)
        for service in (ours, oracle, sqlite):
            await service.add_session_to_memory(sessions[-1])
            await service.add_session_to_memory(again)
    for session in sessions[::4]:
        place = {"app_name": session.app_name, "user_id": session.user_id}
        for service in (ours, oracle):
            await service.delete_memory(**place, memory_id=session.events[0].id)
            await service.add_session_to_memory(session)  # the deleted event stays deleted
    for place in product(APPS, USERS):
        own = [one for one in sessions if (one.app_name, one.user_id) == place]
        said = {event.content.parts[0].text for one in own for event in one.events}
        for word in WORDS:
            wanted, found = await _search(oracle, *place, word), await _search(ours, *place, word)
            assert wanted <= found, (place, word, wanted, found)
            assert {text for text, *_ in found} <= said, (place, word, found)
            assert wanted <= await _search(sqlite, *place, word)
    assert await _search(ours, "shop", "nobody", "amber") == set()
    await sqlite.close()
    return len(APPS) * len(USERS) * len(WORDS)


async def add_directly(ours: BaseMemoryService) -> None:
    """Events and entries without a session come back with their content and metadata."""
    place = {"app_name": "notes", "user_id": "ada"}
    event = Event(
        author="user", content=Content(role="user", parts=[Part(text="She sails on Sundays")])
    )
    for _ in range(2):
        await ours.add_events_to_memory(**place, events=[event], custom_metadata={"from": "chat"})
    entry = MemoryEntry(content=Content(parts=[Part(text="Ada sails a dinghy")]), author="note")
    await ours.add_memory(**place, memories=[entry], custom_metadata={"kind": "fact"})
    found = (await ours.search_memory(**place, query="sails")).memories
    assert len(found) == 2, found
    assert {one.author: one.custom_metadata for one in found} == {
        "user": {"from": "chat"},
        "note": {"kind": "fact"},
    }
    assert (await ours.search_memory(**place, query=" ")).memories == []


async def talk(ours: BaseMemoryService) -> str:
    """An agent loads what its user said in another session."""
    os.environ |= {
        "GOOGLE_GEMINI_BASE_URL": os.environ["ANTHROPIC_BASE_URL"],
        "GOOGLE_API_KEY": "-",
    }
    agent = Agent(name="clerk", model="gemini-stand-in", tools=[load_memory])
    sessions, place = InMemorySessionService(), {"app_name": "talk", "user_id": "ada"}
    runner = Runner(app_name="talk", agent=agent, session_service=sessions, memory_service=ours)
    for text in ("The office is in Bern", "Which city is the office in?"):
        session = await sessions.create_session(**place)
        message = Content(role="user", parts=[Part(text=text)])
        heard = [
            event.content
            async for event in runner.run_async(
                user_id="ada", session_id=session.id, new_message=message
            )
        ]
        whole = await sessions.get_session(**place, session_id=session.id)
        await ours.add_session_to_memory(whole)
    answers = [part.function_response for one in heard for part in one.parts]
    [loaded] = [one.response for one in answers if one]
    assert "The office is in Bern" in str(loaded), loaded
    return heard[-1].parts[0].text


async def main(ours: BaseMemoryService) -> int:
    compared = await compare(ours)
    await add_directly(ours)
    return compared


# As in a program that calls asyncio.run for each request: the memory is one object.
memory = Client()
service = TextrawlMemoryService(memory, limit=50)
compared = asyncio.run(main(service))
print(asyncio.run(talk(service)))
asyncio.run(memory.close())
print(f"{compared} searches as in memory and SQLite")
