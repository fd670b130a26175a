"""Members of one space trying to reach another: their guesses, and whether they got there."""

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

Arguments = dict[str, Any]


@dataclass(frozen=True)
class Loot:
    """Everything an attacker may have heard of another space, without its secret."""

    space: str
    facts: list[str]
    numbers: list[int]

    @property
    def canary(self) -> str:
        """Name of an entity of the space."""
        return f"Canary {self.space}"


@dataclass
class Tally:
    """Outcome of all attempts; `leaks` are answers that hold the secret of another space."""

    attempts: int = 0
    answered: int = 0
    cancelled: int = 0
    broken: int = 0
    leaks: list[str] = field(default_factory=list[str])


def collect_loot(owner: psycopg.Connection, space: str) -> Loot:
    """Return the ids of all facts, and the numbers of all entities, relations and reflections."""
    facts = owner.execute(
        "select o.id::text from observation o join space s on s.id = o.space_id"
        " where s.name = %s order by 1",
        (space,),
    ).fetchall()
    numbers = owner.execute(
        "select node_number(n.id) from (select space_id, id from entity union all"
        " select space_id, id from relation union all select space_id, id from reflection) n"
        " join space s on s.id = n.space_id where s.name = %s order by 1",
        (space,),
    ).fetchall()
    return Loot(space, [fact for (fact,) in facts], [number for (number,) in numbers])


def _guess_memory(dice: random.Random, loot: Loot) -> dict[str, list[Arguments]]:
    known, number = dice.choice(loot.facts), dice.randrange(1_000)
    name = dice.choice(["Ada", loot.canary, f"{loot.canary.lower()} ", loot.canary[:-1]])
    correction = {
        "entityName": name, "entityType": "person", "observation": f"n {number}", "replaces": known
    }  # fmt: skip
    return {
        "query_memory": [
            {"mode": "search", "query": f"canary {loot.space}"},
            {"mode": "search", "query": f"~s{number % 9} canary | {loot.space}"},
            {"mode": "search", "query": "what does the vault hold?", "limit": 50},
            {"mode": "search", "query": known, "includeIds": True},
            {"mode": "entity", "entityName": name, "includeIds": True},
            {"mode": "list", "limit": 100, "offset": number % 7},
        ],
        "remember_fact": [correction],
        "forget_entity": [
            {"entityName": name, "fact": known[:8], "confirm": True},
            {"entityName": loot.canary, "confirm": True},
            {"entityName": loot.canary, "dryRun": True},
        ],
        "relate_entities": [
            {"fromEntity": name, "relation": "owns", "toEntity": dice.choice(["Nobody", known])}
        ],
        "build_knowledge": [{"facts": [correction]}],
    }


def _guess_graph_reads(dice: random.Random, loot: Loot) -> dict[str, list[Arguments]]:
    known = dice.choice(loot.facts)
    name = dice.choice(["Ada", loot.canary])
    return {
        "read_graph": [{}, {"cursor": known}],
        "search_nodes": [{"query": text} for text in (loot.canary, known, "vault", "%", "")],
        "open_nodes": [{"names": ["Ada", loot.canary, known], "includeIds": True}],
        "search_semantic": [{"query": text, "limit": 50} for text in (loot.canary, "the vault")],
        "search_reflections": [
            {"query": "secret", "limit": 50}, {"query": loot.space, "target_type": "global"},
        ],
        "analyze_entity_split": [{"entity_name": name}],
        "propose_entity_split": [{"entity_name": name}],
        "find_split_candidates": [{}],
        "find_duplicate_observations": [
            {"entity_name": name, "threshold": 0.0, "containment_threshold": 0.0}
        ],
        "consolidation_report": [{}, {"stale_days": 0}],
    }  # fmt: skip


def _guess_graph_writes(dice: random.Random, loot: Loot) -> dict[str, list[Arguments]]:
    number, own = dice.choice(loot.numbers), f"note {dice.randrange(1_000)}"
    edge = {"from": "Ada", "to": loot.canary, "relationType": "knows"}
    return {
        "create_entities": [
            {"entities": [{"name": loot.canary, "entityType": "person", "observations": [own]}]}
        ],
        "create_relations": [{"relations": [edge | {"relationType": "envies"}]}],
        "add_observations": [{"observations": [{"entityName": loot.canary, "contents": [own]}]}],
        "delete_entities": [{"entityNames": [loot.canary]}],
        "delete_observations": [
            {"deletions": [{"entityName": loot.canary, "observations": ["hides"]}]}
        ],
        "delete_relations": [{"relations": [edge]}],
        "end_relation": [{"relation_id": number}],
        "add_reflection": [
            {"target_type": kind, "content": own, "target_id": number}
            for kind in ("entity", "relation")
        ],
        "delete_reflections": [{"reflection_ids": [number]}],
        "execute_entity_split": [
            {
                "entity_name": loot.canary, "parent_entity_name": loot.canary,
                "approved_splits": [{"name": own, "entity_type": "x", "observations": ["hides"]}],
            }
        ],
        "migrate": [{}, {"source_path": "../../etc/passwd"}],
    }  # fmt: skip


def list_guesses(dice: random.Random, loot: Loot) -> dict[str, list[Arguments]]:
    """Return the arguments to try, by tool: each tool of each toolset has some."""
    return (
        _guess_memory(dice, loot) | _guess_graph_reads(dice, loot) | _guess_graph_writes(dice, loot)
    )


def _choose(dice: random.Random, loot: Loot) -> tuple[str, Arguments, str]:
    """One tool, its arguments, and the path of the server."""
    tool, guesses = dice.choice(list(list_guesses(dice, loot).items()))
    paths = ["/mcp", "/mcp", "/mcp", f"/mcp/{loot.space}", "/mcp/default", "/mcp/%2e%2e"]
    return tool, dice.choice(guesses), dice.choice(paths)


async def cross(
    site: Site,
    tokens: dict[str, str],
    loots: dict[str, Loot],
    each: int,
    kill: Callable[[], None],
) -> Tally:
    """Make `each` attempts for every client; some hang up, and `kill` ends connections."""
    tally = Tally()

    async def attack(number: int) -> None:
        dice = random.Random(number)  # noqa: S311 - the same attempts in every run
        home = SPACES[number % len(SPACES)]
        for step in range(each):
            victim = dice.choice([space for space in SPACES if space != home])
            attempt = _choose(dice, loots[victim])
            patience = dice.choice([0.002, 0.02, 30, 30, 30, 30])
            await _try(site, tokens[home], attempt, home, patience, tally)
            if number == 0 and step % KILLS_EVERY == 1:
                kill()

    async with anyio.create_task_group() as group:
        for number in range(CLIENTS):
            group.start_soon(attack, number)
    return tally


async def _try(
    site: Site, token: str, attempt: tuple[str, Arguments, str], home: str, patience: float,
    tally: Tally,
) -> None:  # fmt: skip
    tool, arguments, path = attempt
    tally.attempts += 1
    try:
        with anyio.move_on_after(patience) as scope:
            answer = await site.call(token, tool, arguments, path)
            text = answer.text.lower()
            tally.answered += 1
            foreign = [space for space in SPACES if space != home and SECRETS[space] in text]
            tally.leaks += [f"{tool} {arguments}: {text}" for _ in foreign]
        tally.cancelled += scope.cancelled_caught
    except httpx2.TransportError:
        tally.broken += 1


def kill_backends(owner: psycopg.Connection) -> None:
    """End every connection of the server, in the middle of its work."""
    owner.execute(
        "select pg_terminate_backend(pid) from pg_stat_activity"
        " where usename = 'textrawl_app' and datname = current_database()"
    )
