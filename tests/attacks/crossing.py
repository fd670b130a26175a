"""Members of one space trying to reach another: their guesses, and whether they got there."""

import random
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Any

import anyio
import httpx2
import psycopg

from tests.attacks.site import GRAPHS, SEALED, SECRETS, SPACES, Site

CLIENTS = 32
KILLS_EVERY = 40  # attempts of one client

Arguments = dict[str, Any]


@dataclass(frozen=True)
class Loot:
    """Everything an attacker may have heard of another space, without its secret."""

    space: str
    facts: list[str]  # with the statements of relations, which have the ids of the relations
    numbers: list[int]
    entities: list[str]
    sources: list[str]  # of its graphs, also of the sensitive one
    proposals: list[str]

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


_IDS = {
    "facts": "select o.id::text from observation o join space s on s.id = o.space_id"
    " where s.name = %s order by 1",
    "numbers": "select node_number(n.id) from (select space_id, id from entity union all"
    " select space_id, id from relation union all select space_id, id from reflection) n"
    " join space s on s.id = n.space_id where s.name = %s order by 1",
    "entities": "select e.id::text from entity e join space s on s.id = e.space_id"
    " where s.name = %s order by 1",
    "sources": "select c.document_id::text from source c join space s on s.id = c.space_id"
    " where s.name ^@ (%s || '-') order by 1",
    "proposals": "select p.id::text from proposal p join space s on s.id = p.space_id"
    " where s.name = %s order by 1",
}


def collect_loot(owner: psycopg.Connection, space: str) -> Loot:
    """Return the ids of facts and entities, and the numbers of all that the graph tools number."""
    found = {
        kind: [value for (value,) in owner.execute(query.encode(), (space,)).fetchall()]
        for kind, query in _IDS.items()
    }
    return Loot(space, **found)


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
            {"query": f"canary {loot.space}", "sources": ["documents"], "minScore": 0},
            {"query": "what hides", "sources": ["facts", "documents"], "limit": 50},
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


def _guess_decay(dice: random.Random, loot: Loot) -> dict[str, list[Arguments]]:
    known, name = dice.choice(loot.facts), f"canary {loot.space}"
    link = {"from_memory_id": known, "to_memory_id": dice.choice(loot.facts)}
    return {
        "save_memory": [{"content": f"note {dice.randrange(1_000)}", "entities": [loot.canary]}],
        "search_memory": [{"query": name, "top_k": 50}, {"query": name, "use_embeddings": True}],
        "touch_memory": [{"memory_id": known, "boost_strength": True}],
        "observe_memory_usage": [{"memory_ids": [known], "context_tags": ["secret"]}],
        "gc": [{}, {"dry_run": False}],
        "create_relation": [{**link, "relation_type": "related"}],
        "open_memories": [{"memory_ids": [known]}],
        "backfill_embeddings": [{"dry_run": True}],
        "search_unified": [{"query": text, "verbose": True} for text in ("", loot.canary, known)],
        "analyze_message": [{"message": f"remember {loot.canary}"}],
        "analyze_for_recall": [{"message": f"what did I say about {loot.canary}"}],
        "promote_memory": [{"memory_id": known, "dry_run": dry} for dry in (True, False)],
        "cluster_memories": [{"threshold": 0}, {"find_duplicates": True, "duplicate_threshold": 0}],
        "consolidate_memories": [
            {"cluster_id": known, "mode": mode} for mode in ("preview", "apply", "link")
        ],
    }


def _guess_journal(dice: random.Random, loot: Loot) -> dict[str, list[Arguments]]:
    day = {"granularity": "daily", "date": "2026-05-12"}
    event = {"granularity": "significant", "date": "2026-05-12", "slug": loot.space}
    own = {"content": f"- note {dice.randrange(1_000)} [chat:{dice.choice(loot.facts)}]"}
    return {
        "memory_create": [{**day, **own, "instanceId": loot.space}],
        "memory_read": [day, event, {**day, "instanceId": loot.space}],
        "memory_update": [{**event, **own}, {**day, **own, "instanceId": loot.space}],
        "memory_list": [{"limit": 100}, {"granularity": "daily"}],
        "memory_search": [
            {"query": text, "minScore": 0, "maxResults": 50, "instanceId": loot.space}
            for text in (f"the day of {loot.space}", loot.canary, "hides")
        ],
        "memory_delete": [event, {**day, "instanceId": loot.space}],
        "memory_consolidate": [{"granularity": "weekly", "targetDate": day["date"]}],
    }


def _guess_identity(dice: random.Random, loot: Loot) -> dict[str, list[Arguments]]:
    file = {"category": "custom", "filename": f"{loot.space}.md"}
    own = {**file, "content": f"note {dice.randrange(1_000)}", "instanceId": loot.space}
    snapshot = {"snapshotId": f"custom/{loot.space}_2026-05-12T09-30-00-000Z"}
    return {
        "identity_get_all": [{}, file],
        "identity_write": [own],
        "identity_append": [own],
        "identity_prepend": [own],
        "identity_update_section": [{**own, "section": loot.canary}],
        "identity_rewrite_section": [{**own, "section": loot.canary}],
        "identity_delete_custom": [{"filename": file["filename"]}],
        "identity_get_meta": [{}, {"category": "custom"}],
        "identity_set_meta": [{**file, "promptLabel": loot.space}],
        "snapshot_create": [{}, {"pinned": True}],
        "snapshot_list": [{}, file],
        "snapshot_get": [snapshot],
        "snapshot_restore": [snapshot],
    }


def _guess_sync(dice: random.Random, loot: Loot) -> dict[str, list[Arguments]]:
    own, since = f"note {dice.randrange(1_000)}", {"lastSyncVersion": dice.randrange(3)}
    file = {"category": "self", "filename": "my_wants.md"}
    day = {"granularity": "daily", "date": "2026-05-12", "sourceInstance": loot.space}
    laptop = {"instance": {"id": loot.space, "type": "sby"}}
    return {
        "sync_pull": [{"instanceId": loot.space}, {"instanceId": loot.space, **since}],
        "sync_push": [
            {**laptop, **since, "identityChanges": [{**file, "content": own}]},
            {**laptop, "identityChanges": [{**file, "deleted": True}]},
            {**laptop, **since, "memoryChanges": [{**day, "content": f"- {own}"}]},
            {**laptop, "memoryChanges": [{**day, "deleted": True}]},
        ],
        "sync_status": [{}],
    }


def _guess_curation(dice: random.Random, loot: Loot) -> dict[str, list[Arguments]]:
    known, name = dice.choice(loot.facts), dice.choice(["Ada", loot.canary])
    wrong = {"entityName": name, "fact": known, "reason": "mine"}
    shared = {"entityName": name, "facts": [known], "dryRun": dice.random() < 0.5}
    spaces = [loot.space, "default", *(f"{loot.space}-{kind}" for kind in GRAPHS)]
    return {
        "share_memories": [
            {**shared, "toSpace": one, "fromSpace": other, "move": move}
            for one in spaces
            for other in (*spaces, "")
            for move in (False, True)
        ]
        + [{"entityName": name, "toSpace": loot.space, "includeEnded": True}],
        "revise_fact": [wrong, {**wrong, "fact": known[:8], "instead": "hides nothing"}],
    }


def _guess_entities(dice: random.Random, loot: Loot) -> dict[str, list[Arguments]]:
    name = dice.choice(["Ada", loot.canary])
    return {
        "find_same_entities": [{}, {"entityName": name}],
        "merge_entities": [
            {"entityName": "Ada", "other": loot.canary, "dryRun": True},
            # Not into the attacker's own Ada, whom a merge would change.
            {"entityName": loot.canary, "other": loot.canary[:-1]},
        ],
        "split_entity": [{"name": name}, {"name": loot.canary, "dryRun": True}],
        "name_entity": [
            {"entityName": name, "alias": "mine"},
            {"entityName": "Ada", "alias": loot.canary, "remove": True},
        ],
    }


def _guess_review(dice: random.Random, loot: Loot) -> dict[str, list[Arguments]]:
    known = dice.choice([*loot.facts, *loot.proposals])
    return {
        "list_proposals": [{}, {"state": "any", "entityName": loot.canary}, {"author": "ada"}],
        "decide_proposals": [
            {"ids": [known], "decision": "accept"},
            {"ids": [known[:8]], "decision": "reject", "reason": "mine"},
            {"ids": [known[:8]], "decision": "accept", "dryRun": True},
        ],
    }


def _guess_others(dice: random.Random, loot: Loot) -> dict[str, list[Arguments]]:
    known = [dice.choice([*loot.facts, *loot.sources]), dice.choice(loot.entities)]
    return {
        "search": [{"query": text} for text in (f"canary {loot.space}", known[0], "what hides?")],
        "fetch": [
            {"id": f"{kind}:{each}"} for kind in ("fact", "entity", "document") for each in known
        ],
        "extract_memories": [{"text": f"{loot.canary} owns the vault", "source": "note"}],
        "memory_stats": [{}],
        "get_stats": [{}, {"scope": loot.space}, {"scope": "knowledge"}],
    }


def _guess_items(dice: random.Random, loot: Loot) -> dict[str, list[Arguments]]:
    place = {"namespace": dice.choice([["vault", loot.space], ["vault"], ["*"]])}
    item = {**place, "key": dice.choice([loot.canary, "secret"])}
    return {
        "put_item": [{**item, "value": f"note {dice.randrange(1_000)}"}],
        "put_items": [
            {"items": [{**item, "value": 1}], "delete": [item]},
            {"items": [], "delete": [item]},
        ],
        "get_item": [item, {**item, "version": 1}, {**item, "refresh": True}],
        "delete_item": [item, place],
        "search_items": [{}, {"query": "hides"}, {"prefix": ["*"], "filter": {"of": loot.space}}],
        "list_namespaces": [{}, {"suffix": ["*"]}],
        "item_history": [item],
        "append_log": [{**place, "values": [dice.randrange(1_000)]}],
        "read_log": [place],
        "pop_log": [place],
        "clear_log": [place],
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


def _guess_mind(dice: random.Random, loot: Loot) -> dict[str, list[Arguments]]:
    node, edge = dice.choice(loot.entities), dice.choice(loot.facts)
    own = {"type": "person", "label": dice.choice([loot.canary, "Ada"]), "confidence": 1}
    ends = {"fromId": node, "toId": dice.choice(loot.entities), "type": "knows"}
    return {
        "graph_node_create": [own, {**own, "sourceMemoryId": node, "instanceId": loot.space}],
        "graph_node_get": [{"id": node}, {"id": edge}],
        "graph_node_update": [{"id": node, **own}, {"id": node, "description": "mine"}],
        "graph_node_delete": [{"id": node}, {"id": node, "permanent": True}],
        "graph_node_search": [
            {"query": text, "minScore": 0, "limit": 100} for text in (loot.canary, "vault", node)
        ],
        "graph_node_list": [{"includeDeleted": True, "limit": 500}, {"type": "person"}],
        "graph_edge_create": [{**ends, "evidence": loot.canary}],
        "graph_edge_get": [{"id": edge, "includeDeleted": True}, ends, {"includeDeleted": True}],
        "graph_edge_update": [{"id": edge, "weight": 0, "validUntil": "2020-01-01"}],
        "graph_edge_delete": [{"id": edge}],
        "graph_traverse": [{"startNodeId": node, "direction": "both", "maxDepth": 5}],
        "graph_subgraph": [{"nodeId": node, "depth": 3}],
        "graph_insights": [{}],
        "graph_stats": [{}],
        "graph_write_transaction": [
            {
                "nodes": [own],
                "edges": [{"fromLabel": "Ada", "toLabel": loot.canary, "type": "envies"}],
            }
        ],
    }


def _guess_corpus(dice: random.Random, loot: Loot) -> dict[str, list[Arguments]]:
    known = dice.choice([*loot.facts, *loot.sources])
    text = f"note {dice.randrange(1_000)}"
    graph = f"{loot.space}-{dice.choice([*GRAPHS])}"
    return {
        "recall": [
            {"query": "canary hides", "graphs": [graph], "minScore": 0},
            {"query": f"canary {loot.space}", "minScore": 0, "topK": 32},
            {"query": loot.canary, "graphs": [loot.space, f"{loot.space} graph"]},
        ],
        "remember": [
            {"text": text},
            {"text": text, "graphId": loot.space},
            {"text": text, "graphId": graph},
            {"text": text, "target_engram": f"{loot.space} graph"},
        ],
        "forget": [{"sourceId": known}, {"chunkId": f"{known}:1"}],
        "stats": [{}],
        "correct": [{"chunkId": f"{known}:1", "proposal": text}],
        "apply": [{"correctionId": known}],
    }


def list_guesses(dice: random.Random, loot: Loot) -> dict[str, list[Arguments]]:
    """Return the arguments to try, by tool: each tool of each toolset has some."""
    return (
        _guess_memory(dice, loot)
        | _guess_graph_reads(dice, loot)
        | _guess_graph_writes(dice, loot)
        | _guess_curation(dice, loot)
        | _guess_entities(dice, loot)
        | _guess_review(dice, loot)
        | _guess_decay(dice, loot)
        | _guess_journal(dice, loot)
        | _guess_identity(dice, loot)
        | _guess_sync(dice, loot)
        | _guess_mind(dice, loot)
        | _guess_corpus(dice, loot)
        | _guess_others(dice, loot)
        | _guess_items(dice, loot)
    )


def _choose(dice: random.Random, loot: Loot, tools: Collection[str]) -> tuple[str, Arguments, str]:
    """One tool, its arguments, and the path of the server."""
    guessed = list_guesses(dice, loot)
    tool, guesses = dice.choice([item for item in guessed.items() if not tools or item[0] in tools])
    paths = ["/mcp", "/mcp", "/mcp", f"/mcp/{loot.space}", "/mcp/default", "/mcp/%2e%2e"]
    graphs = [f"/mcp/{space}-{kind}" for space in SPACES for kind in GRAPHS]
    return tool, dice.choice(guesses), dice.choice([*paths, dice.choice(graphs)])


async def cross(
    site: Site,
    tokens: dict[str, str],
    loots: dict[str, Loot],
    each: int,
    kill: Callable[[], None],
    tools: Collection[str] = (),
) -> Tally:
    """Make `each` attempts for every client; some hang up, and `kill` ends connections.

    The attempts are at these tools, or else at all.
    """
    tally = Tally()

    async def attack(number: int) -> None:
        dice = random.Random(number)  # noqa: S311 - the same attempts in every run
        home = SPACES[number % len(SPACES)]
        for step in range(each):
            victim = dice.choice([space for space in SPACES if space != home])
            attempt = _choose(dice, loots[victim], tools)
            patience = dice.choice([0.002, 0.02, 30, 30, 30, 30])
            await _try(site, tokens[home], attempt, home, patience, tally)
            if number == 0 and step % KILLS_EVERY == 1:
                kill()

    async with anyio.create_task_group() as group:
        for number in range(CLIENTS):
            group.start_soon(attack, number)
    return tally


async def _try(
    site: Site,
    token: str,
    attempt: tuple[str, Arguments, str],
    home: str,
    patience: float,
    tally: Tally,
) -> None:
    tool, arguments, path = attempt
    tally.attempts += 1
    try:
        with anyio.move_on_after(patience) as scope:
            answer = await site.call(token, tool, arguments, path)
            text = answer.text.lower()
            tally.answered += 1
            foreign = [space for space in SPACES if space != home and SECRETS[space] in text]
            sealed = [SEALED] if SEALED in text else []
            tally.leaks += [f"{tool} {arguments}: {text}" for _ in [*foreign, *sealed]]
        tally.cancelled += scope.cancelled_caught
    except httpx2.TransportError:
        tally.broken += 1


def kill_backends(owner: psycopg.Connection) -> None:
    """End every connection of the server, in the middle of its work."""
    owner.execute(
        "select pg_terminate_backend(pid) from pg_stat_activity"
        " where usename = 'textrawl_app' and datname = current_database()"
    )
