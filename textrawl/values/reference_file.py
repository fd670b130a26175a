"""Files of the reference memory server, also in the other forms in which people keep them.

The reference writes one JSON object on each line: {"type": "entity", name, entityType,
observations} or {"type": "relation", from, to, relationType}. Other programs write all entities and
relations as one object or array, write keys differently, leave out `type`, or begin with a byte
order mark. A name that is too long is cut, and the whole name becomes an observation.
"""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import md5
from typing import Any, cast

from pydantic import TypeAdapter, ValidationError

from textrawl.values.text import (
    LONG_LENGTH,
    NAME_LENGTH,
    RELATION_LENGTH,
    clean_name,
    clean_text,
    count_cleaned,
    split_text,
)

# Keys in lower case and without _, - and spaces. Of several keys, the first one counts.
_ENTITIES = ("entities", "nodes")
_RELATIONS = ("relations", "relationships", "edges", "links")
_WRAPPERS = ("graph", "knowledgegraph", "memory", "data", "result", "structuredcontent")
_NAME = ("name", "entityname", "entity", "title", "label", "id")
_TYPE = ("entitytype", "nodetype", "type", "kind", "category")
_FROM = ("from", "fromentity", "fromname", "source", "sourceentity", "subject", "start")
_TO = ("to", "toentity", "toname", "target", "targetentity", "object", "end")
_LABEL = ("relationtype", "relation", "relationship", "relationname", "predicate", "label", "type",
          "name")  # fmt: skip
_TEXT = ("text", "content", "contents", "observation", "fact", "value")
_TIME = ("saidat", "timestamp", "createdat", "addedat", "observedat", "datetime", "date", "time")
_CREATED = ("createdat", "timestamp")
# All of these keys count.
_OBSERVATIONS = ("observations", "observation", "facts", "fact", "contents", "content", "notes",
                 "note", "text", "description", "summary")  # fmt: skip

_KINDS_OF_ENTITIES = ("entity", "node", "observation", "observations")
_KINDS_OF_RELATIONS = ("relation", "relationship", "edge")
_GAP = re.compile(r"[\s,\ufeff\x1e]*")  # also the comma after a line of an array
_NOT_UTF8 = re.compile("[\udc80-\udcff]")
_MOMENT = TypeAdapter(datetime)
_DIGITS = 8  # at the end of a cut name, so that names with the same beginning stay different

_Fields = dict[str, Any]


class LineRefused(Exception):
    """The reason why a line of a file cannot be used."""


@dataclass(frozen=True)
class ObservationRecord:
    """A text in its stored form. `said_at` is None if the file does not have the time.

    `inherited` is true if the time is that of its entity, which is no part of the fact's id.
    """

    text: str
    said_at: datetime | None = None
    inherited: bool = False


@dataclass(frozen=True)
class EntityRecord:
    """An entity. `type` is None if the file does not have its type."""

    number: int
    name: str
    type: str | None
    observations: tuple[ObservationRecord, ...]


@dataclass(frozen=True)
class RelationRecord:
    """A relation."""

    number: int
    source: str
    label: str
    target: str
    created_at: datetime | None = None


@dataclass(frozen=True)
class RecordFault:
    """A part of the file that cannot be used. `broken` is true if it is not a JSON object."""

    number: int
    reason: str
    broken: bool = False


Item = EntityRecord | RelationRecord | RecordFault


def read_reference_file(content: bytes, tell: Callable[[int], object]) -> Iterator[Item]:
    """Yield the entities of a file, then its relations, and its faults. Each has its line number.

    A relation can name entities that the file does not have. `tell` gets numbers of texts that are
    cleaned.
    """
    reader = _Reader()
    # Each byte that is not UTF-8 becomes a lone surrogate.
    text = content.decode(json.detect_encoding(content), "surrogateescape")
    for number, value in _scan(text):
        if isinstance(value, RecordFault):
            yield value
        else:
            tell(count_cleaned(value))
            yield from reader.read(number, value)
    yield from reader.finish()


def _scan(text: str) -> Iterator[tuple[int, Any]]:
    """Yield the JSON values of a text with their line numbers.

    A line can have several values, and a value can take several lines. After a fault, continue at
    the next line.
    """
    read = json.JSONDecoder().raw_decode
    number, counted, place, effort = 1, 0, _skip_gap(text, 0), 4 * len(text)
    while place < len(text):
        number, counted = number + text.count("\n", counted, place), place
        line = text.find("\n", place)
        end = line = len(text) if line < 0 else line
        try:
            # A file of open brackets must not be read to its end for each of them.
            value, end = read(text if effort > 0 else text[:line], place)
            if not isinstance(value, dict | list):
                value, end = RecordFault(number, "is not a JSON object", broken=True), line
            elif _NOT_UTF8.search(text, place, end):
                value = RecordFault(number, "is not UTF-8")
            yield number, value
        except (ValueError, RecursionError) as error:
            effort -= getattr(error, "pos", len(text)) - place
            yield number, RecordFault(number, "is not JSON", broken=True)
        place = _skip_gap(text, end)


def _skip_gap(text: str, place: int) -> int:
    gap = _GAP.match(text, place)
    return gap.end() if gap else place


class _Reader:
    """A reader of JSON values. It keeps relations until it knows the names of all ids."""

    def __init__(self) -> None:
        self._names = dict[str, str]()  # by id
        self._known = set[str]()
        self._relations = list[tuple[int, str, _Fields]]()

    def read(self, number: int, value: Any, path: str = "") -> Iterator[Item]:
        """Yield the entities and faults of a value. Keep its relations for `finish`."""
        if isinstance(value, list):
            for place, item in enumerate(cast("list[Any]", value)):
                yield from self.read(number, item, f"{path}[{place}]")
        elif not isinstance(value, dict):
            yield _write_fault(number, path, "is not a JSON object")
        else:
            fields = _fold_keys(cast("_Fields", value))
            has_ends = None not in (_find(fields, _FROM), _find(fields, _TO))
            if has_ends or str(fields.get("type")).lower() in _KINDS_OF_RELATIONS:
                self._relations.append((number, path, fields))
            elif parts := _find_parts(fields):
                for part, items in parts.items():
                    yield from self.read(number, items, f"{path}.{part}" if path else part)
            else:
                yield from self._read_entity(number, path, fields)

    def _read_entity(self, number: int, path: str, fields: _Fields) -> Iterator[Item]:
        try:
            name, *whole = cut_name(_read_name("name", _find(fields, _NAME)))
            given = _find_type(fields, _KINDS_OF_ENTITIES)
            kind, *whole_kind = cut_name(_read_name("entityType", given, "Generic"))
        except LineRefused as refused:
            yield _write_fault(number, path, str(refused))
            return
        self._known.add(name)
        if isinstance(fields.get("id"), str | int):
            self._names.setdefault(str(fields["id"]), name)
        observations = [
            ObservationRecord(part) for text in (*whole, *whole_kind) for part in _divide(text)
        ]
        for item in _read_observations(fields):
            if isinstance(item, ObservationRecord):
                observations.append(item)
            else:
                yield _write_fault(number, path, item)
        yield EntityRecord(number, name, kind if given else None, tuple(observations))
        for part in _RELATIONS:
            for relation in _list(fields.get(part)):
                if isinstance(relation, dict):
                    own = {"from": name, **_fold_keys(cast("_Fields", relation))}
                    self._relations.append((number, path, own))

    def finish(self) -> Iterator[Item]:
        """Yield the relations. Before them, yield what does not fit into them as entities."""
        relations = list[RelationRecord]()
        for number, path, fields in self._relations:
            try:
                source, *whole_source = cut_name(self._read_end("from", fields, _FROM))
                target, *whole_target = cut_name(self._read_end("to", fields, _TO))
                label = _find_type(fields, _KINDS_OF_RELATIONS, _LABEL)
                kind, *whole = cut_name(_read_name("relationType", label), RELATION_LENGTH)
            except LineRefused as refused:
                yield _write_fault(number, path, str(refused))
                continue
            created, _ = _read_moment(_find(fields, _CREATED))
            relations.append(RelationRecord(number, source, kind, target, created))
            sentences = [f"{text} → {target}" for text in whole]
            for name, texts in ((source, [*whole_source, *sentences]), (target, whole_target)):
                if texts:
                    parts = [ObservationRecord(part) for text in texts for part in _divide(text)]
                    yield EntityRecord(number, name, None, tuple(parts))
        yield from relations

    def _read_end(self, key: str, fields: _Fields, keys: tuple[str, ...]) -> str:
        name = _read_name(key, _find(fields, keys))
        return name if name in self._known else self._names.get(name, name)


def _write_fault(number: int, path: str, reason: str) -> RecordFault:
    return RecordFault(number, f"{path}: {reason}" if path else reason)


def _fold_keys(value: _Fields) -> _Fields:
    return {re.sub("[-_ ]", "", key).lower(): item for key, item in value.items()}


def _find(fields: _Fields, keys: tuple[str, ...]) -> Any:
    return next((fields[key] for key in keys if fields.get(key) is not None), None)


def _find_type(
    fields: _Fields, kinds: tuple[str, ...], keys: tuple[str, ...] = _TYPE
) -> object | None:
    """Return the type of an entity or relation, unless `type` says only which of the two it is."""
    if str(fields.get("type")).lower() in kinds:
        fields = {key: value for key, value in fields.items() if key != "type"}
    return _find(fields, keys)


def _find_parts(fields: _Fields) -> _Fields:
    """Return the lists of entities and relations in an object that is neither of them."""
    named = _find(fields, _NAME) is not None
    parts = {
        key: fields[key]
        for key in (*_ENTITIES, *_RELATIONS, *_WRAPPERS)
        if isinstance(fields.get(key), list | dict)
    }
    if named and not parts.keys() & {*_ENTITIES}:
        return {}
    for key in parts.keys() & {*_ENTITIES}:
        if isinstance(parts[key], dict):  # {"Ada": {"entityType": …}}
            parts[key] = [
                {"name": name, **(value if isinstance(value, dict) else {"text": value})}
                for name, value in cast("_Fields", parts[key]).items()
            ]
    return parts


def _list(value: Any) -> list[Any]:
    if isinstance(value, list):
        return cast("list[Any]", value)
    return [] if value is None else [value]


def _read_name(key: str, value: Any, empty: str = "") -> str:
    if isinstance(value, dict):
        value = _find(_fold_keys(cast("_Fields", value)), _NAME)
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = str(value)
    name = clean_name(value) if isinstance(value, str) else ""
    if not name and (value is not None or not empty):
        raise LineRefused(f"{key} must be text")
    return name or empty


def cut_name(name: str, most: int = NAME_LENGTH) -> list[str]:
    """Return a name that fits, and the whole name if the name was cut."""
    if len(name) <= most:
        return [name]
    head = split_text(name, most - _DIGITS - 1)[0].rstrip()
    digits = md5(name.casefold().encode(), usedforsecurity=False).hexdigest()[:_DIGITS]
    return [f"{head}…{digits}", name]


def _divide(text: str) -> list[str]:
    """Return a text in its stored form. If it is too long, return parts that end at sentences."""
    parts = split_text(clean_text(text).strip(), LONG_LENGTH)
    return [part.strip() for part in parts if part.strip()]


def _read_observations(fields: _Fields) -> Iterator[ObservationRecord | str]:
    """Yield the observations of an entity, and the reason for each one that cannot be read."""
    given = [item for key in _OBSERVATIONS for item in _list(fields.get(key))]
    # An export of textrawl has the times of the observations in a list of their own.
    times = _list(fields.get("saidat"))
    created, _ = _read_moment(_find(fields, _CREATED))  # other programs date the entity only
    for place, item in enumerate(given, 1):
        text, moment = _read_observation(item)
        if len(times) == len(given):
            moment = moment or times[place - 1]
        said_at, fault = _read_moment(moment)
        parts = _divide(text)
        if fault or not parts:
            yield f"observation {place} {'is empty' if not parts else fault}"
        for part in parts:
            yield ObservationRecord(part, said_at or created, inherited=said_at is None)


def _read_observation(item: Any) -> tuple[str, Any]:
    """Return the text and the time of an observation. An object without a text stays as JSON."""
    if isinstance(item, str):
        return item, None
    if isinstance(item, dict):
        fields = _fold_keys(cast("_Fields", item))
        moment = _find(fields, _TIME)
        if isinstance(text := _find(fields, _TEXT), str):
            return text, moment
        return json.dumps(item, ensure_ascii=False), moment
    return "" if item is None else json.dumps(item, ensure_ascii=False), None


def _read_moment(value: Any) -> tuple[datetime | None, str | None]:
    """Return the instant, or the reason why it cannot be read."""
    if value is None:
        return None, None
    try:
        given = f"{value}-01-01" if re.fullmatch(r"\d{4}", str(value)) else value  # a year
        moment = _MOMENT.validate_python(None if isinstance(value, bool) else given)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC), None
    except (ValidationError, OverflowError):
        return None, f"has the time {str(value)[:40]!r}, which is not ISO 8601: stored without it"
