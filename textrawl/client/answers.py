"""Reading the answers of a server: structured content, or text in any of its three formats.

Many servers send only text, because their clients show a model only the structured half. Compact
text has short ids, days instead of times, and leaves out what the caller knows.
"""

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, cast

from textrawl.client.results import (
    Digest,
    End,
    Fact,
    Facts,
    Forgotten,
    Related,
    Remembered,
    Similar,
)
from textrawl.errors import ServerUnreachable
from textrawl.memory.facts import Edge
from textrawl.memory.facts import Fact as NewFact
from textrawl.values.text import PROPOSED, read_line, read_marked, read_statement, unframe

Members = Mapping[str, Any]

_HEADER = re.compile(r"(?P<name>.*) \((?P<type>[a-z]+)\)(?: @(?P<space>\S+))?")
_FACT = re.compile(
    r"(?P<score>\d+) (?P<id>[0-9a-f]{8}) (?P<on>\d{4}-\d\d-\d\d) "
    r"(?P<by>(?:[^\\:]|\\.|:(?!\s))*): (?P<content>.*)"
)


def read_facts(text: str, content: Members | None) -> Facts:
    """Return the facts of an answer of query_memory with ids. Raises ServerUnreachable."""
    members = content if content is not None else _try_json(text)
    found = _read_lines(text) if members is None else _read_members(members)
    return Facts(
        tuple(sorted(found.facts, key=lambda fact: -fact.score)), found.omitted, found.note
    )


def read_digest(text: str) -> Digest:
    """Return the digest of a prompt, without the sentences for a model around it."""
    return Digest(unframe(text))


def read_remembered(text: str, content: Members | None, fact: NewFact) -> Remembered:
    """Return the answer to `fact`. Raises ServerUnreachable."""
    members = _require_members(text, content)
    similar = _pick(members, "similar", "like")
    return Remembered(
        _find_proposal(members) or _pick(members, "observationId", "obs"),
        members.get("entityName", fact.entity),
        _pick(members, "entityType", "t") or fact.type,
        bool(_pick(members, "duplicate", "dup")),
        bool(members.get("updated")),
        Similar(similar["id"], _pick(similar, "content", "c")) if similar else None,
        _find_proposal(members) is not None,
    )


def read_related(text: str, content: Members | None, edge: Edge) -> Related:
    """Return the answer to `edge`. Raises ServerUnreachable."""
    members = _require_members(text, content)
    return Related(
        _find_proposal(members) or _pick(members, "relationId", "rel"),
        _read_end(_pick(members, "fromEntity", "from")),
        edge.relation,
        _read_end(_pick(members, "toEntity", "to")),
        tuple(members.get("ended") or ()),
        _find_proposal(members) is not None,
    )


def read_forgotten(text: str, content: Members | None) -> Forgotten:
    """Return the answer to a deletion. Raises ServerUnreachable."""
    members = _require_members(text, content)
    ids = [
        _pick(members, "deletedEntityId", "id"),
        _pick(members, "deletedObservationId", "obs"),
        _pick(members, "deletedRelationId", "relation"),
    ]
    return Forgotten(
        next((one for one in ids if one), None),
        members.get("facts"),
        _pick(members, "relations", "rel"),
        tuple(members.get("sample") or ()),
    )


def _read_members(members: Members) -> Facts:
    """Return the facts of JSON with long or short keys."""
    facts = [
        Fact(
            memory["id"],
            _pick(entity, "entityName", "n"),
            _pick(entity, "entityType", "t"),
            memory["content"] if "content" in memory else read_statement(memory["c"]),
            _pick(memory, "score", "s"),
            _pick(memory, "author", "by"),
            *_read_times(memory),
            space=_pick(entity, "space", "sp"),
            proposed=bool(memory.get("proposed")),
        )
        for entity in _pick(members, "entities", "e") or ()
        for memory in _pick(entity, "memories", "m")
    ]
    return Facts(tuple(facts), _pick(members, "dropped", "cut") or 0, members.get("note"))


def _read_times(memory: Members) -> tuple[datetime, datetime | None]:
    """Return when a fact was said and when it was stored, which compact text does not have."""
    if "on" in memory:
        return _read_day(memory["on"]), None
    created = datetime.fromisoformat(memory["createdAt"])
    said = memory.get("saidAt")
    return datetime.fromisoformat(said) if said else created, created


def _read_lines(text: str) -> Facts:
    """Return the facts of lines. Raises ServerUnreachable for a line of another kind."""
    facts, rest = list[Fact](), dict[str, str]()
    header: re.Match[str] | None = None
    for line in text.split("\n"):
        if line == "nothing found":
            continue
        word, _, value = line.partition(" ")
        if word in ("cut", "note"):
            rest[word] = value
        elif (fact := _FACT.fullmatch(line)) and header:
            facts.append(_build_fact(header, fact))
        elif not (header := _HEADER.fullmatch(line)):
            raise _misread(text)
    return Facts(tuple(facts), int(rest.get("cut", 0)), rest.get("note"))


def _build_fact(header: re.Match[str], fact: re.Match[str]) -> Fact:
    content, proposed = read_marked(fact["content"], PROPOSED)
    return Fact(
        fact["id"],
        read_line(header["name"]),
        header["type"],
        content,
        int(fact["score"]) / 100,
        read_line(fact["by"]),
        _read_day(fact["on"]),
        space=header["space"],
        proposed=proposed,
    )


def _read_day(day: str) -> datetime:
    return datetime.fromisoformat(day).replace(tzinfo=UTC)


def _read_end(end: Members) -> End:
    return End(_pick(end, "name", "n"), _pick(end, "type", "t"))


def _find_proposal(members: Members) -> str | None:
    """Return the id of a proposal, or None if the call stored something."""
    return _pick(members, "proposalId", "proposal")


def _pick(members: Members, long: str, short: str) -> Any:
    """Return the member with the long or the short key, or None."""
    return members[long] if long in members else members.get(short)


def _require_members(text: str, content: Members | None) -> Members:
    members = content if content is not None else _try_json(text)
    if members is None:
        raise _misread(text)
    return members


def _try_json(text: str) -> Members | None:
    """Return the JSON object, or None for lines. A line can begin like JSON, but is none."""
    if not text.startswith("{"):
        return None
    try:
        return cast("Members", json.loads(text))
    except ValueError:
        return None


def _misread(text: str) -> ServerUnreachable:
    return ServerUnreachable(
        f"The server may be another version of textrawl. Its answer begins: {text[:60]!r}",
        title="Answer not understood",
    )
