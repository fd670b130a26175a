"""Members of one space trying to reach another: what they guess, and whether they got there."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import anyio
import httpx2
import psycopg

from tests.attacks.site import SECRETS, SPACES, Site

CLIENTS = 32
KILLS_EVERY = 40  # attempts of one client

Attempt = tuple[str, dict[str, Any], str]
"""A tool, its arguments, the path of the server."""


@dataclass
class Tally:
    """What came of all attempts; `leaks` are answers with another space's secret in them."""

    attempts: int = 0
    answered: int = 0
    cancelled: int = 0
    broken: int = 0
    leaks: list[str] = field(default_factory=list[str])


def guess(dice: random.Random, victim: str, ids: list[str]) -> Attempt:
    """One attempt of somebody who knows names and ids of what `victim` holds."""
    known, number = dice.choice(ids), dice.randrange(1_000)
    name = dice.choice(["Ada", f"Canary {victim}", f"canary {victim} ", f"Canar {victim}"])
    path = dice.choice(["/mcp", "/mcp", "/mcp", f"/mcp/{victim}", "/mcp/default", "/mcp/%2e%2e"])
    choices: list[tuple[str, dict[str, Any]]] = [
        ("query_memory", {"mode": "search", "query": f"canary {victim}"}),
        ("query_memory", {"mode": "search", "query": f"~s{number % 9} canary | {victim}"}),
        ("query_memory", {"mode": "search", "query": "what does the vault hold?", "limit": 50}),
        ("query_memory", {"mode": "search", "query": known, "includeIds": True}),
        ("query_memory", {"mode": "entity", "entityName": name, "includeIds": True}),
        ("query_memory", {"mode": "list", "limit": 100, "offset": number % 7}),
        ("remember_fact", {"entityName": name, "entityType": "person",
                           "observation": f"corrects {number}", "replaces": known}),
        ("forget_entity", {"entityName": name, "fact": known[:8], "confirm": True}),
        ("forget_entity", {"entityName": f"Canary {victim}", "confirm": True}),
        ("forget_entity", {"entityName": f"Canary {victim}", "dryRun": True}),
        ("relate_entities", {"fromEntity": known, "relation": "owns", "toEntity": "Nobody"}),
        ("build_knowledge", {"facts": [{"entityName": "Ada", "entityType": "person",
                                        "observation": f"n {number}", "replaces": known}]}),
    ]  # fmt: skip
    tool, arguments = dice.choice(choices)
    return tool, arguments, path


async def cross(
    site: Site,
    tokens: dict[str, str],
    ids: dict[str, list[str]],
    each: int,
    kill: Callable[[], None],
) -> Tally:
    """`each` attempts of every client; some hang up, and `kill` ends connections meanwhile."""
    tally = Tally()

    async def attack(number: int) -> None:
        dice = random.Random(number)  # noqa: S311 - the same attempts in every run
        home = SPACES[number % len(SPACES)]
        for step in range(each):
            victim = dice.choice([space for space in SPACES if space != home])
            attempt = guess(dice, victim, ids[victim])
            patience = dice.choice([0.002, 0.02, 30, 30, 30, 30])
            await _try(site, tokens[home], attempt, home, patience, tally)
            if number == 0 and step % KILLS_EVERY == 1:
                kill()

    async with anyio.create_task_group() as group:
        for number in range(CLIENTS):
            group.start_soon(attack, number)
    return tally


async def _try(
    site: Site, token: str, attempt: Attempt, home: str, patience: float, tally: Tally
) -> None:
    tool, arguments, path = attempt
    tally.attempts += 1
    try:
        with anyio.move_on_after(patience) as scope:
            answer = await site.call(token, tool, arguments, path)
            told = answer.text.lower()
            tally.answered += 1
            foreign = [space for space in SPACES if space != home and SECRETS[space] in told]
            tally.leaks += [f"{tool} {arguments}: {told}" for _ in foreign]
        tally.cancelled += scope.cancelled_caught
    except httpx2.TransportError:
        tally.broken += 1


def kill_backends(owner: psycopg.Connection) -> None:
    """Ends every connection of the server, in the middle of whatever they do."""
    owner.execute(
        "select pg_terminate_backend(pid) from pg_stat_activity"
        " where usename = 'textrawl_app' and datname = current_database()"
    )
