"""CrewAI's LanceDB storage as the oracle, and a crew whose memory is in textrawl."""

import os
import random
from datetime import datetime, timedelta

os.environ["CREWAI_DISABLE_TELEMETRY"] = os.environ["OTEL_SDK_DISABLED"] = "true"

from crewai import LLM, Agent, Crew, Memory, Task
from crewai.memory.storage.backend import StorageBackend
from crewai.memory.storage.lancedb_storage import LanceDBStorage
from crewai.memory.types import MemoryRecord

from textrawl_client import SyncClient
from textrawl_client.adapters.crewai import TextrawlStorage

SCOPES = ("/", "/shop", "/shop/ada", "/shop/ada/tea", "/desk", "/other")
CATEGORIES = ("tea", "work")


def _write_record(chance: random.Random, number: int, storage: TextrawlStorage) -> MemoryRecord:
    text = f"amber note {number} about {chance.choice(('tea', 'ships'))}"
    return MemoryRecord(
        id=f"00000000-0000-4000-8000-{number:012d}",
        content=text,
        scope=chance.choice(SCOPES),
        categories=chance.sample(CATEGORIES, chance.randrange(3)),
        metadata={"rank": number % 3},
        created_at=datetime(2026, 1, 1) + timedelta(days=number),
        embedding=storage.embed([text])[0],
    )


def compare(ours: TextrawlStorage, oracle: StorageBackend) -> int:
    """The same records are changed; every question about scopes has the same answer."""
    assert isinstance(ours, StorageBackend)
    chance, compared = random.Random(11), 0
    for number in range(30):
        record = _write_record(chance, number, ours)
        again = _write_record(chance, chance.randrange(number + 1), ours)
        wanted = {
            "scope_prefix": chance.choice(SCOPES[1:]),
            "categories": ["tea"],  # without them LanceDB deletes more than it is told
            "metadata_filter": chance.choice((None, {"rank": 1})),
            "older_than": datetime(2026, 1, 1) + timedelta(days=number - 3),
        }
        for storage in (ours, oracle):
            storage.save([record])
            if storage.get_record(again.id) is not None:
                storage.update(again)
        if number % 5 == 4:
            assert ours.delete(**wanted) == oracle.delete(**wanted), wanted
        if number == 20:
            ours.reset("/shop/ada"), oracle.reset("/shop/ada")
        compared += _compare_scopes(ours, oracle)
        assert _show(ours.get_record(record.id)) == _show(oracle.get_record(record.id))
    return compared


def _compare_scopes(ours: TextrawlStorage, oracle: StorageBackend) -> int:
    for scope in SCOPES:
        assert ours.count(scope) == oracle.count(scope), scope
        assert ours.list_categories(scope) == oracle.list_categories(scope), scope
        assert sorted(ours.list_scopes(scope)) == sorted(oracle.list_scopes(scope)), scope
        found, wanted = (
            {one.id: _show(one) for one in storage.list_records(scope, limit=100)}
            for storage in (ours, oracle)
        )
        assert found == wanted, scope
        one, other = (storage.get_scope_info(scope) for storage in (ours, oracle))
        assert (one.record_count, one.oldest_record, one.newest_record) == (
            other.record_count, other.oldest_record, other.newest_record,
        )  # fmt: skip
    return len(SCOPES)


def _show(record: MemoryRecord | None) -> dict | None:
    return record and record.model_dump(exclude={"last_accessed", "embedding"})


def search(ours: TextrawlStorage) -> None:
    """A search finds by the words of a text, in a scope, with scores."""
    ours.reset()
    for number, text in enumerate(("Ada drinks green tea", "The office is in Bern", "Ben sails")):
        ours.save([MemoryRecord(content=text, scope=f"/crew/{number}", categories=["a"])])
    [question] = ours.embed(["Which city is the office in?"])
    [(best, score), *_] = ours.search(question, scope_prefix="/crew", categories=["a"])
    assert best.content == "The office is in Bern", best
    assert 0 < score <= 1
    assert ours.search(question, scope_prefix="/crew/0", min_score=0.9) == []
    assert ours.search(question, categories=["b"]) == []
    try:
        ours.search([0.1] * 1536)
    except LookupError:
        pass
    else:
        raise AssertionError("a vector of another embedder found something")


def talk(memory: SyncClient) -> str:
    """An agent of a crew recalls what another crew remembered."""
    storage = TextrawlStorage(memory, namespace=("crews",))
    model = LLM(model="openai/stand-in", base_url=os.environ["OPENAI_BASE_URL"], api_key="none")
    kept = Memory(storage=storage, embedder=storage.embed, llm=model)
    kept.remember("The office is in Bern", scope="/facts", categories=["place"], importance=0.9)
    [match] = kept.recall("Which city is the office in?", limit=1)
    assert match.record.content == "The office is in Bern"
    agent = Agent(role="clerk", goal="answer", backstory="You know the office.", llm=model)
    task = Task(description="Which city is the office in?", expected_output="a city", agent=agent)
    answer = Crew(agents=[agent], tasks=[task], memory=kept).kickoff()
    kept.close()
    return answer.raw


def main() -> None:
    with SyncClient() as memory:
        compared = compare(TextrawlStorage(memory), LanceDBStorage(path="lancedb"))
        search(TextrawlStorage(memory, namespace=("crews", "found")))
        print(talk(memory))
    print(f"{compared} scopes as in LanceDB")


main()
