"""Values of mem0: ids, filters, messages, and memories as its answers show them."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from time import gmtime, strftime
from typing import Any

from textrawl_client.items import Item

Json = dict[str, Any]

IDS = ("user_id", "agent_id", "run_id")
_OWN = (*IDS, "actor_id", "role", "expiration_date")  # members of a memory itself, not metadata
_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "eq": lambda value, wanted: value == wanted,
    "ne": lambda value, wanted: value != wanted,
    "in": lambda value, wanted: value in wanted,
    "nin": lambda value, wanted: value not in wanted,
    "gt": lambda value, wanted: value is not None and value > wanted,
    "gte": lambda value, wanted: value is not None and value >= wanted,
    "lt": lambda value, wanted: value is not None and value < wanted,
    "lte": lambda value, wanted: value is not None and value <= wanted,
    "contains": lambda value, wanted: wanted in (value or ""),
    "icontains": lambda value, wanted: str(wanted).casefold() in str(value or "").casefold(),
}


def check_ids(given: Mapping[str, Any]) -> dict[str, str]:
    """Return the ids of a user, an agent and a run as texts.

    Raises ValueError for an id that is empty or has white space, and if there is no id at all.
    """
    ids = {name: str(given[name]).strip() for name in IDS if given.get(name) is not None}
    for name, value in ids.items():
        if not value or any(letter.isspace() for letter in value):
            raise ValueError(f"Invalid {name}: it must not be empty or have white space")
    if not ids:
        raise ValueError("Give at least one of user_id, agent_id, run_id (a search in `filters`)")
    return ids


def drop_ids(metadata: Json | None) -> Json:
    """Return metadata without ids, which only the arguments of `add` set."""
    return {k: v for k, v in (metadata or {}).items() if k not in (*IDS, "actor_id")}


def write_day(day: date | str | None) -> Json:
    """Return the last day of a memory as a member of it. Raises ValueError if it is no date."""
    if day is None:
        return {}
    day = date.fromisoformat(day) if isinstance(day, str) else day
    return {"expiration_date": (day.date() if isinstance(day, datetime) else day).isoformat()}


def read_messages(messages: str | Json | list[Json]) -> list[tuple[str, Json]]:
    """Return the texts of messages, each with its role and speaker. Instructions are left out."""
    if isinstance(messages, str):
        messages = [{"role": "user", "content": messages}]
    parts = list[tuple[str, Json]]()
    for message in [messages] if isinstance(messages, dict) else messages:
        content, role = message.get("content"), message.get("role")
        if isinstance(content, list):
            content = "\n".join(part["text"] for part in content if "text" in part)
        if content and role and role != "system":
            name = message.get("name")
            parts.append((content, {"role": role} | ({"actor_id": name} if name else {})))
    return parts


def matches(memory: Json, filters: Json) -> bool:
    """Say whether a memory passes all filters. Raises ValueError for an unknown comparison."""
    return all(_matches_one(memory, name, wanted) for name, wanted in filters.items())


def is_expired(memory: Json) -> bool:
    """Say whether the last day of a memory is over."""
    return (memory.get("expiration_date") or "9999") < strftime("%Y-%m-%d", gmtime())


def _matches_one(memory: Json, name: str, wanted: Any) -> bool:
    if name == "AND":
        return all(matches(memory, each) for each in wanted)
    if name == "OR":
        return any(matches(memory, each) for each in wanted)
    if name == "NOT":
        return not any(matches(memory, each) for each in wanted)
    value = memory.get(name)
    if isinstance(wanted, dict):
        return all(_compare(value, sign, operand) for sign, operand in wanted.items())
    if wanted == "*":
        return value is not None
    return value == wanted or (isinstance(value, list) and wanted in value)


def _compare(value: Any, sign: str, operand: Any) -> bool:
    if sign not in _COMPARISONS:
        raise ValueError(f"Unsupported filter operator: {sign}. Use one of {[*_COMPARISONS]}")
    try:
        return _COMPARISONS[sign](value, operand)
    except TypeError:  # values of different types have no order
        return False


def show(item: Item) -> Json:
    """Return a memory as mem0's answers show it."""
    value, text = item.value, item.value["data"]
    return {
        "id": item.key,
        "memory": text,
        "hash": hashlib.md5(text.encode(), usedforsecurity=False).hexdigest(),
        "metadata": {k: v for k, v in value.items() if k not in ("data", *_OWN)} or None,
        "created_at": item.created_at.isoformat(),
        "updated_at": item.updated_at.isoformat(),
    } | {name: value[name] for name in _OWN if name in value}


def show_changes(versions: Sequence[Item]) -> list[Json]:
    """Return the versions of a memory, the newest first, as a history, the oldest first."""
    changes, before = list[Json](), dict[str, Any]()
    for item in reversed(versions):
        now = item.value or {}  # a version that deletes has no value
        about = now or before
        changes.append(
            {
                "id": f"{item.key}:{item.version}",
                "memory_id": item.key,
                "old_memory": before.get("data"),
                "new_memory": now.get("data"),
                "event": "DELETE" if not now else "UPDATE" if before else "ADD",
                "created_at": item.created_at.isoformat(),
                "updated_at": item.updated_at.isoformat(),
                "is_deleted": not now,
                "actor_id": about.get("actor_id"),
                "role": about.get("role"),
            }
        )
        before = now
    return changes
