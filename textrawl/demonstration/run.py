"""The run of the demonstration: store facts, search them, look up an entity."""

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
from textrawl.values.limits import MOST_TOKENS
from textrawl.wire.replies import Reply
from textrawl.wire.token_counter import ENCODING, Counter, choose_counter

FACTS_SHOWN = 3
_PAGE = 100


@dataclass(frozen=True)
class Stored:
    """The numbers of stored facts and relations, how many are new, and the time for storing."""

    facts: int
    new_facts: int
    relations: int
    new_relations: int
    calls: int
    seconds: float


@dataclass(frozen=True)
class DemoAnswer:
    """The answer to one question as compact text and as lines, with its cost and its time."""

    question: str
    text: str
    lines: str
    cost: Cost
    milliseconds: float


@dataclass(frozen=True)
class DemoResult:
    """The result of a demonstration. `encoding` names the encoding of its token counts."""

    stored: Stored
    answers: list[DemoAnswer]
    encoding: str
    seconds: float


async def run_demo(data_dir: Path, report: Callable[[str, int, int], None]) -> DemoResult:
    """Run the demonstration on the memory in `data_dir`, which is created if needed.

    `report` gets the current step, the number of finished items, and the number of all items.
    Raises StartRefused if the folder cannot be used or has a memory with other entities.
    """
    start = time.perf_counter()
    material, counter = read_material(), choose_counter()
    report("Starting Postgres and the server", 0, 0)
    async with open_session(data_dir) as session:
        await _require_demo_memory(session, material, data_dir)
        stored = await _store(session, material, report)
        answers = [await _ask(session, question, counter) for question in material.questions]
        answers.append(await _look_up(session, material.entity, counter))
    return DemoResult(stored, answers, ENCODING, time.perf_counter() - start)


async def _require_demo_memory(session: Session, material: Material, data_dir: Path) -> None:
    """Refuse a memory with other entities, because the demonstration must not change it."""
    expected, offset, total = material.entity_names(), 0, 1
    while offset < total:
        page = await session.call(
            "query_memory", mode="list", limit=_PAGE, offset=offset, maxTokens=MOST_TOKENS
        )
        for entity in page.structured["entityList"]:
            if entity["name"].casefold() not in expected:
                raise StartRefused(
                    f"{data_dir} holds a memory that is not the demonstration's (it has "
                    f"{entity['name']!r}); nothing was stored. Choose another folder with "
                    "--data-dir"
                )
        total, offset = page.structured["total"], offset + _PAGE


async def _store(
    session: Session, material: Material, report: Callable[[str, int, int], None]
) -> Stored:
    facts = relations = calls = done = 0
    total_items = len(material.facts) + len(material.relations)
    start = time.perf_counter()
    for batch in material.batches():
        report("Storing facts and relations", done, total_items)
        answer = await session.call("build_knowledge", **batch)
        facts += answer.structured["factsCreated"]
        relations += answer.structured["relationsCreated"]
        calls += 1
        done += sum(map(len, batch.values()))
    report("Asking", done, total_items)
    seconds = time.perf_counter() - start
    return Stored(len(material.facts), facts, len(material.relations), relations, calls, seconds)


async def _ask(session: Session, question: str, counter: Counter) -> DemoAnswer:
    start = time.perf_counter()
    answer = await session.call("query_memory", mode="search", query=question, limit=FACTS_SHOWN)
    seconds = time.perf_counter() - start
    reply = SearchReply.model_validate(answer.structured).model_copy(update={"query": question})
    return _describe(question, answer, reply, counter, seconds)


async def _look_up(session: Session, entity: str, counter: Counter) -> DemoAnswer:
    start = time.perf_counter()
    answer = await session.call("query_memory", mode="entity", entityName=entity)
    seconds = time.perf_counter() - start
    reply = EntityReply.model_validate(answer.structured)
    return _describe(f"everything about {entity}", answer, reply, counter, seconds)


def _describe(
    question: str, answer: Answer, reply: Reply, counter: Counter, seconds: float
) -> DemoAnswer:
    lines = write_reply(reply, "lines", counter)
    cost = count_costs(answer.text, answer.structured, reply, counter)
    return DemoAnswer(question, answer.text, lines, cost, seconds * 1000)
