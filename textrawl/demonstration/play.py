"""Store, ask, look up: the demonstration itself."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from textrawl.demonstration.costs import Cost, count_costs, write_reply
from textrawl.demonstration.material import Material, read_material
from textrawl.demonstration.session import Answer, Session, open_session
from textrawl.errors import StartRefused
from textrawl.toolsets.memory.entity_reply import EntityReply
from textrawl.toolsets.memory.search_replies import SearchReply
from textrawl.wire.replies import Reply
from textrawl.wire.token_counter import ENCODING, Counter, choose_counter

FACTS_SHOWN = 3
_PAGE = 100
_MOST_TOKENS = 25_000


@dataclass(frozen=True)
class Stored:
    """What there is now, how much of it is new, and how long storing took, in seconds."""

    facts: int
    new_facts: int
    relations: int
    new_relations: int
    calls: int
    seconds: float


@dataclass(frozen=True)
class Scene:
    """One call: what was asked, the answer as compact text and as lines, its cost and time."""

    asked: str
    text: str
    lines: str
    cost: Cost
    milliseconds: float


@dataclass(frozen=True)
class Play:
    """A whole demonstration. `encoding` is what tokens were counted in."""

    stored: Stored
    scenes: list[Scene]
    encoding: str
    seconds: float


async def play(data_dir: Path, report: Callable[[str, int, int], None]) -> Play:
    """Plays the demonstration on the memory in `data_dir`, which is made if need be.

    `report` is told what goes on, how much of it is done and how much there is. Raises
    StartRefused when the folder cannot be used, or holds a memory that is not the demonstration's.
    """
    began = time.perf_counter()
    material, counter = read_material(), choose_counter()
    report("Starting Postgres and the server", 0, 0)
    async with open_session(data_dir) as session:
        await _refuse_strangers(session, material, data_dir)
        stored = await _store(session, material, report)
        scenes = [await _ask(session, question, counter) for question in material.questions]
        scenes.append(await _look_up(session, material.entity, counter))
    return Play(stored, scenes, ENCODING, time.perf_counter() - began)


async def _refuse_strangers(session: Session, material: Material, data_dir: Path) -> None:
    """Somebody's own memory must not end up with our facts in it."""
    ours, offset, total = material.entity_names(), 0, 1
    while offset < total:
        page = await session.call(
            "query_memory", mode="list", limit=_PAGE, offset=offset, maxTokens=_MOST_TOKENS
        )
        for entity in page.structured["entityList"]:
            if entity["name"].casefold() not in ours:
                raise StartRefused(
                    f"{data_dir} holds a memory that is not the demonstration's (it knows "
                    f"{entity['name']!r}); nothing was stored. Name another with --data-dir"
                )
        total, offset = page.structured["total"], offset + _PAGE


async def _store(
    session: Session, material: Material, report: Callable[[str, int, int], None]
) -> Stored:
    facts = relations = calls = done = 0
    all_items = len(material.facts) + len(material.relations)
    began = time.perf_counter()
    for batch in material.batches():
        report("Storing facts and relations", done, all_items)
        answer = await session.call("build_knowledge", **batch)
        facts += answer.structured["factsCreated"]
        relations += answer.structured["relationsCreated"]
        calls += 1
        done += sum(map(len, batch.values()))
    report("Asking", done, all_items)
    spent = time.perf_counter() - began
    return Stored(len(material.facts), facts, len(material.relations), relations, calls, spent)


async def _ask(session: Session, question: str, counter: Counter) -> Scene:
    began = time.perf_counter()
    answer = await session.call("query_memory", mode="search", query=question, limit=FACTS_SHOWN)
    spent = time.perf_counter() - began
    reply = SearchReply.model_validate(answer.structured).model_copy(update={"query": question})
    return _show(question, answer, reply, counter, spent)


async def _look_up(session: Session, entity: str, counter: Counter) -> Scene:
    began = time.perf_counter()
    answer = await session.call("query_memory", mode="entity", entityName=entity)
    spent = time.perf_counter() - began
    reply = EntityReply.model_validate(answer.structured)
    return _show(f"everything about {entity}", answer, reply, counter, spent)


def _show(asked: str, answer: Answer, reply: Reply, counter: Counter, spent: float) -> Scene:
    cost = count_costs(answer.text, answer.structured, reply, counter)
    return Scene(asked, answer.text, write_reply(reply, "lines", counter), cost, spent * 1000)
