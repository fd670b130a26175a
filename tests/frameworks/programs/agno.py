"""Agno's SQLite database as the oracle, and an agent whose model stores a memory."""

import random
from pathlib import Path

from agno.agent import Agent
from agno.db.schemas import UserMemory
from agno.db.sqlite import SqliteDb
from agno.models.openai import OpenAIChat

from textrawl_client import SyncClient
from textrawl_client.adapters.agno import TextrawlDb, TextrawlMemories

USERS, AGENTS, TOPICS = ("ada", "ben"), ("clerk", "cook"), ("tea", "work", "sport")
WORDS = ("Ada likes green tea", "Ben runs", "100% of us_ sail", "ADA likes Tea", "Überlingen")


class Db(TextrawlMemories, SqliteDb):
    """Memories in textrawl, sessions in SQLite."""


def _show(memories: list[dict]) -> list[dict]:
    return sorted(
        (dict(one) for one in memories), key=lambda one: (one["created_at"], one["memory_id"])
    )


def _change(chance: random.Random, dbs: list[SqliteDb], number: int) -> None:
    known = f"memory {chance.randrange(8)}"
    user, agent = chance.choice(USERS), chance.choice(AGENTS)
    action = chance.choice(("put", "put", "put", "delete", "delete several"))
    topics, text = chance.sample(TOPICS, chance.randrange(3)), chance.choice(WORDS)
    for db in dbs:
        if action == "put":
            about = {"user_id": user, "agent_id": agent, "input": "said"}
            times = {"created_at": 1_000 + number, "updated_at": 2_000 + number}
            memory = UserMemory(text, known, list(topics), **about, **times)
            db.upsert_memories([memory], preserve_updated_at=True)
        elif action == "delete":
            db.delete_user_memory(known, user_id=user)
        else:
            db.delete_user_memories([known, "memory 0"], user_id=chance.choice(USERS[:1]))


def compare(ours: SqliteDb, oracle: SqliteDb) -> int:
    """Make the same changes in both databases, and return their number."""
    chance = random.Random(3)
    for number in range(80):
        _change(chance, [ours, oracle], number)
        asked = {
            "user_id": chance.choice((*USERS, None)),
            "agent_id": chance.choice((*AGENTS, None, None)),
            "topics": chance.choice((None, None, ["tea"], ["tea", "work"])),
            "search_content": chance.choice((None, None, "tea", "nobody")),
        }
        known = f"memory {chance.randrange(8)}"
        found, wanted = (_ask(db, asked, known) for db in (ours, oracle))
        assert found == wanted, (asked, found, wanted)
    ours.clear_memories()
    assert ours.get_user_memories() == []
    return 80


def _ask(db: SqliteDb, asked: dict, known: str) -> list:
    """Return the answers to all questions that a database can be asked about memories."""
    user, page = {"user_id": asked["user_id"]}, {"limit": 2, "page": 2}
    found, count = db.get_user_memories(**asked, deserialize=False)
    second = db.get_user_memories(**asked, **page, sort_by="created_at", sort_order="asc")
    topics, stats = db.get_all_memory_topics(**user), db.get_user_memory_stats(**user)
    return [_show(found), count, second, sorted(topics), stats, db.get_user_memory(known, **user)]


def talk(db: TextrawlDb) -> None:
    """The model stores a memory; in another session it is in the prompt of this user alone."""
    agent = Agent(
        model=OpenAIChat(id="stand-in"),
        db=db,
        enable_agentic_memory=True,
        add_memories_to_context=True,
    )
    agent.run("I am Ada, and I drink green tea.", user_id="ada", session_id="1")
    [memory] = db.get_user_memories(user_id="ada")
    assert memory.memory == "Drinks green tea", memory
    assert db.get_user_memories(user_id="ben") == []
    agent.run("What do I drink?", user_id="ada", session_id="2")


def main() -> None:
    with SyncClient() as memory:
        ours = Db(memory, db_file=str(Path("ours.db").absolute()))
        compared = compare(ours, SqliteDb(db_file=str(Path("oracle.db").absolute())))
        talk(TextrawlDb(memory, namespace=("agents",)))
    print(f"{compared} changes as in SQLite")


main()
