"""The second space of the demo: what three authors wrote about one product in sixty days.

Facts were replaced and corrected, a document is in a graph, and a proposal waits. The tools store
everything as of now, so this history comes in by an import, as former memories do.
"""

import hashlib
import json
from collections.abc import AsyncGenerator, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from importlib import resources
from pathlib import Path
from typing import Any
from uuid import uuid5

from textrawl.access.access_token import hash_token, make_token, shorten_token
from textrawl.archive.imports import Import
from textrawl.archive.memory_import import NAMESPACE
from textrawl.cluster.opening import open_connection
from textrawl.cluster.owner_session import open_writing
from textrawl.embedded.cluster import run_embedded
from textrawl.embedded.postmaster import OWNER
from textrawl.errors import InternalError
from textrawl.memory.backlog import fill_batch, queue_facts
from textrawl.models.active_model import KnownModelRow, StoredModel
from textrawl.models.local import LocalEmbedder
from textrawl.postgres.connection import OwnerLogin
from textrawl.postgres.database import Database

_TIMEOUT = 30.0  # seconds
_CLIENTS = {"ada": "claude-code 2.1.0", "ben": "cursor 3.2.0", "codex": "codex 0.58.0"}
_PACE = timedelta(minutes=37)  # between two facts of a day

Fields = dict[str, Any]


async def tell_team(data_dir: Path) -> None:
    """Store the history in the demo's memory in `data_dir`, once. Raises DatabaseUnavailable."""
    story = _Story(_read(), datetime.now(UTC))
    async with run_embedded(data_dir) as cluster:
        login = OwnerLogin(cluster.dsn(OWNER), cluster.bin_path, _TIMEOUT)
        async with open_writing(login) as session:
            if story.space in await session.find_spaces():
                return
            await Import(session, _refuse).run(_number(story.write_lines()))
        async with open_connection(login.conninfo, timeout=_TIMEOUT) as database:
            await _store_document(database, story)
            await _propose(database, story)
            # The demo's server did not make all vectors yet.
            models = await database.call("embedding_models", KnownModelRow)
            [number] = [row.model_id for row in models if row.status == "active"]
            model = StoredModel(number, LocalEmbedder())
            while await queue_facts(database, model) or await fill_batch(database, model):
                pass


def _read() -> Fields:
    file = resources.files("textrawl.cli") / "team.json"
    return json.loads(file.read_text(encoding="utf-8"))


def _refuse(number: int, reason: str) -> None:
    raise InternalError(f"line {number} of the demo's history was refused: {reason}")


async def _number(lines: Iterator[Fields]) -> AsyncGenerator[tuple[int, bytes]]:
    for number, line in enumerate(lines, 1):
        yield number, json.dumps(line).encode()


@dataclass(frozen=True)
class _Story:
    """The history as lines of an export. Its days are counted back from `now`."""

    told: Fields
    now: datetime

    @property
    def space(self) -> str:
        return self.told["space"]

    def write_lines(self) -> Iterator[Fields]:
        """Yield the lines, those that others refer to first."""
        begin = self._find_time(61, 0)
        yield {"textrawl": "export", "version": 1}
        yield {"kind": "space", "name": self.space, "created_at": begin}
        graph = {"name": self.told["graph"], "tier": "personal"}
        yield {"kind": "space", **graph, "created_at": begin}
        for name, entity_type in self.told["entities"].items():
            yield {
                **self._begin("entity", name),
                "name": name,
                "entity_type": entity_type,
                "created_at": begin,
                "updated_at": begin,
            }
        yield from map(self._write_fact, self.told["facts"])
        for fact in self.told["facts"]:
            if "wrong" in fact:
                yield {
                    **self._begin("revision", ""),
                    **_sign("ben", "revise_fact"),
                    "id": self._find_id("fact", fact["key"]),
                    "reason": fact["wrong"],
                    "revised_at": self._find_time(fact["end"], 1),
                }
        yield from map(self._write_relation, self.told["relations"])

    def _find_time(self, day: int, number: int) -> str:
        """Return a time `day` days ago. Several facts of a day have different numbers."""
        return (self.now - timedelta(days=day) - _PACE * (number % 12 + 1)).isoformat()

    def _find_id(self, kind: str, key: str) -> str:
        return str(uuid5(NAMESPACE, f"demo {kind} {key}"))

    def _begin(self, kind: str, key: str) -> Fields:
        return {"kind": kind, "space": self.space, "id": self._find_id(kind, key)}

    def _write_fact(self, fact: Fields) -> Fields:
        at = self._find_fact_time(fact["key"])
        successor = fact.get("by")
        end = self._find_end(fact, at)
        return {
            **self._begin("fact", fact["key"]),
            **_sign(fact["author"]),
            "entity": self._find_id("entity", fact["entity"]),
            "text": fact["text"],
            "source": "conversation",
            "confidence": 1,
            "created_at": at,
            "valid_from": at,
            "valid_until": end,
            "closed_at": end,
            "replaced_by": self._find_id("fact", successor) if successor else None,
        }

    def _find_fact_time(self, key: str) -> str:
        numbers = {fact["key"]: number for number, fact in enumerate(self.told["facts"])}
        return self._find_time(self.told["facts"][numbers[key]]["day"], numbers[key])

    def _find_end(self, fact: Fields, begin: str) -> str | None:
        """Return the end of a fact. A wrong one was never valid, so it ends when it begins."""
        if "wrong" in fact:
            return begin
        if fact.get("by"):
            return self._find_fact_time(fact["by"])
        return self._find_time(fact["end"], 0) if "end" in fact else None

    def _write_relation(self, relation: Fields) -> Fields:
        ends = relation["from"], relation["to"]
        at = self._find_time(relation["day"], len(ends[0]))
        source, target = (self._find_id("entity", name) for name in ends)
        return {
            **self._begin("relation", f"{ends} {relation['relation']}"),
            **_sign(relation["author"], "relate_entities"),
            "from_entity": source,
            "relation": relation["relation"],
            "to_entity": target,
            "strength": 1,
            "valid_from": at,
            "created_at": at,
        }


def _sign(author: str, tool: str = "remember_fact") -> Fields:
    return {"author": author, "client": _CLIENTS[author], "tool": tool}


async def _store_document(database: Database, story: _Story) -> None:
    document = story.told["document"]
    text = document["text"]
    await database.call(
        "store_source",
        object,
        graph=story.told["graph"],
        path=document["path"],
        label=document["label"],
        content=text,
        chunks=json.dumps([[1, 0, len(text), len(text) // 4]]),
        sha256=hashlib.sha256(text.encode()).hexdigest(),
    )


async def _propose(database: Database, story: _Story) -> None:
    """Let an agent propose a fact, with a token that nobody knows and that then ends."""
    proposal, token = story.told["proposal"], make_token()
    given = {"hash": hash_token(token), "prefix": shorten_token(token), "actor": proposal["author"]}
    await database.call("create_token", int, **given, space=story.space, scopes=["read", "propose"])
    await database.call(
        "remember_fact",
        object,
        entity=proposal["entity"],
        type=story.told["entities"][proposal["entity"]],
        observation=proposal["text"],
        credential=hash_token(token),
        client=_CLIENTS[proposal["author"]],
        tool="remember_fact",
    )
    await database.call("revoke_token", int, name=shorten_token(token))
