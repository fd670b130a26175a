"""Values of mem0: messages, the facts in them, and memories as its answers show them."""

import hashlib
from collections.abc import Sequence
from datetime import date, datetime
from typing import Any, cast

from textrawl_client.adapters.mem0_filters import IDS, Json
from textrawl_client.client import SyncClient
from textrawl_client.errors import TextrawlError
from textrawl_client.items import Item

Told = list[tuple[str, Json]]
"""Texts, each with the role and the name of who said it."""

_OWN = (*IDS, "actor_id", "role", "expiration_date")  # members of a memory itself, not metadata
_NO_MODEL = ("Memory extraction not enabled", "LLM_NOT_CONFIGURED")  # titles of errors


def drop_ids(metadata: Json | None) -> Json:
    """Return metadata without ids, which only the arguments of `add` set."""
    return {k: v for k, v in (metadata or {}).items() if k not in (*IDS, "actor_id")}


def write_day(day: date | str | None) -> Json:
    """Return the last day of a memory as a member of it. Raises ValueError if it is no date."""
    if day is None:
        return {}
    day = date.fromisoformat(day) if isinstance(day, str) else day
    return {"expiration_date": (day.date() if isinstance(day, datetime) else day).isoformat()}


def read_messages(messages: str | Json | list[Json]) -> Told:
    """Return the texts of messages, each with its role and speaker. Instructions are left out."""
    if isinstance(messages, str):
        messages = [{"role": "user", "content": messages}]
    parts = Told()
    for message in [messages] if isinstance(messages, dict) else messages:
        content, role = message.get("content"), message.get("role")
        if isinstance(content, list):  # parts, of which images are left out
            pieces = cast("list[Json]", content)
            content = "\n".join(piece["text"] for piece in pieces if "text" in piece)
        if content and role and role != "system":
            name = message.get("name")
            parts.append((content, {"role": role} | ({"actor_id": name} if name else {})))
    return parts


def find_facts(memory: SyncClient, told: Told) -> Told:
    """Return the facts that the LLM of the server finds in messages, or else the messages."""
    text = "\n".join(f"{who['role']}: {text}" for text, who in told)
    asked = {"text": text, "source": "conversation", "storeResults": False}
    try:
        found: Any = memory.call("extract_memories", asked)
    except TextrawlError as error:
        if error.title in _NO_MODEL:
            return told
        raise
    entities = found["extraction"]["entities"] if found.get("extraction") else ()
    return [(f"{one['name']}: {fact}", {}) for one in entities for fact in one["observations"]]


def show(item: Item) -> Json:
    """Return a memory as mem0's answers show it. A memory that was searched has a score."""
    value, text = item.value, item.value["data"]
    scored = {"score": item.score, "score_details": {"final_score": item.score}}
    return {
        "id": item.key,
        "memory": text,
        "hash": hashlib.md5(text.encode(), usedforsecurity=False).hexdigest(),
        "metadata": {k: v for k, v in value.items() if k not in ("data", *_OWN)} or None,
        "created_at": item.created_at.isoformat(),
        "updated_at": item.updated_at.isoformat(),
        **{name: value[name] for name in _OWN if name in value},
        **(scored if item.score is not None else {}),
    }


def show_changes(versions: Sequence[Item]) -> list[Json]:
    """Return the versions of a memory, the newest first, as a history, the oldest first."""
    changes = list[Json]()
    before: Json = {}
    for item in reversed(versions):
        now: Json = item.value or {}  # a version that deletes has no value
        change = "DELETE" if not now else "UPDATE" if before else "ADD"
        said = {name: (now or before).get(name) for name in ("actor_id", "role")}
        times = {"created_at": item.created_at, "updated_at": item.updated_at}
        changes.append(
            {
                "id": f"{item.key}:{item.version}",
                "memory_id": item.key,
                "old_memory": before.get("data"),
                "new_memory": now.get("data"),
                "event": change,
                "is_deleted": not now,
            }
            | said
            | {name: time.isoformat() for name, time in times.items()}
        )
        before = now
    return changes
