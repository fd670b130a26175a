"""What the contract calls a malformed call, told without looking at the code that refuses it.

A value is sound, bad, or open: the contract does not say, or leaves it to what is stored.
"""

import json
import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, Literal, cast

from tests.fuzzing.hostile import JOINED

Verdict = Literal["sound", "bad", "open"]
Rule = Callable[[Any], Verdict]

TYPES = ("person", "concept", "project", "preference", "fact", "location", "organization")
_FILLERS = "\u115f\u1160\u3164\uffa0\u17b4\u17b5"
_JOINERS = "\u200c\u200d"
_MARKS = "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd"


@dataclass
class Judgement:
    """Names of what is bad, and of what is left open."""

    bad: set[str] = field(default_factory=set[str])
    doubtful: set[str] = field(default_factory=set[str])

    @property
    def open(self) -> bool:
        """Whether it may be refused or not."""
        return bool(self.doubtful)

    def add(self, name: str, verdict: Verdict) -> None:
        """Notes the verdict on one argument."""
        if verdict != "sound":
            (self.bad if verdict == "bad" else self.doubtful).add(name)


def hides(character: str) -> bool:
    """Whether it may stand nowhere: controls, surrogates, bidi, zero width, tags, noncharacters."""
    if character in "\t\n":
        return False
    code = ord(character)
    if 0xFDD0 <= code <= 0xFDEF or code & 0xFFFE == 0xFFFE:
        return code < 0x10000 or 0xE0000 <= code < 0xE1000
    if unicodedata.category(character) in ("Cc", "Cs"):
        return True
    formats = unicodedata.category(character) == "Cf" and character not in _JOINERS + _MARKS
    return formats and not 0x13430 <= code <= 0x1343F  # hieroglyphs' own, which show


def _weigh(text: str) -> int:
    """The least that is left of a text when whatever might be taken away was."""
    kept = [c for c in text if unicodedata.category(c)[0] in "LNPS" and c not in _FILLERS]
    return len(unicodedata.normalize("NFC", "".join(kept)))


def _stretch(text: str) -> int:
    """The most that composing and folding may make of it."""
    folded = unicodedata.normalize("NFC", text.casefold())
    return max(len(text), len(unicodedata.normalize("NFC", text)), len(folded))


def _is_plain(text: str) -> bool:
    return any(c.isascii() and c.isalnum() for c in text)


def name(most: int, *, required: bool = True) -> Rule:
    """Text that is cleaned: too long or nothing at all is bad."""

    def judge(value: Any) -> Verdict:
        if not isinstance(value, str):
            return "bad"
        if _weigh(value) > most:
            return "bad"
        if all(hides(c) or c.isspace() for c in value):
            return "bad" if required else "open"
        return "sound" if _is_plain(value) and _stretch(value) <= most else "open"

    return judge


def fact(value: Any) -> Verdict:
    """Text that is stored as it is, so what hides in it is bad."""
    if not isinstance(value, str):
        return "bad"
    text = value.replace("\r\n", "\n").strip()
    for joined in JOINED:
        text = text.replace(joined, "_")
    if not text or any(map(hides, text)) or re.search(r"[0-9A-Za-z][\u200c\u200d]", text):
        return "bad"
    if _weigh(text) > 2000:
        return "bad"
    sound = _is_plain(value) and _stretch(value) <= 2000
    return "sound" if sound and not re.search("[\u200c\u200d\ufe00-\ufe0f]", text) else "open"


def word(*known: str) -> Rule:
    """One of a few words, in whatever case."""

    def judge(value: Any) -> Verdict:
        if not isinstance(value, str):
            return "bad"
        plain = value.strip().lower()
        return "sound" if plain in known else "bad"

    return judge


def words(*known: str) -> Rule:
    """A list of a few words, however it is written."""

    def judge(value: Any) -> Verdict:
        each = {word(*known)(item) for item in _list_items(value)}
        return "bad" if "bad" in each else "sound"

    return judge


def _list_items(value: Any) -> list[Any]:
    """The items of a list, however it is written; of what is no list, itself."""
    if isinstance(value, str):
        try:
            value = json.loads(value) if value.lstrip().startswith(("[", "{")) else value.split(",")
        except (ValueError, RecursionError):
            return [None]
    return cast("list[Any]", value) if isinstance(value, list) else [None]


def number(least: float, most: float, *, whole: bool) -> Rule:
    """A number, or one that is written as text; whatever is beyond its limits is bad."""

    def judge(value: Any) -> Verdict:
        written = isinstance(value, str)
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            return "bad"
        try:
            read = float(value)
        except (ValueError, OverflowError):
            read = math.inf if not written else math.nan
        if read == 0 < least:
            return "open"  # a filler, which may mean that the parameter was left out
        if math.isnan(read) or not least <= read <= most:
            return "bad"
        if whole and math.isfinite(read) and read != math.floor(read):
            return "bad"
        plain = not written or re.fullmatch(r"-?\d{1,15}" + ("" if whole else r"(\.\d+)?"), value)
        return "sound" if plain and (not whole or not isinstance(value, float)) else "open"

    return judge


def limit(value: Any) -> Verdict:
    """A whole number that is clamped: no size is too large."""
    if isinstance(value, int) and not isinstance(value, bool):
        return "sound"
    verdict = number(-math.inf, math.inf, whole=True)(value) if value not in (
        math.inf, -math.inf) else "bad"  # fmt: skip
    return "open" if verdict == "sound" and not isinstance(value, str) else verdict


def truth(value: Any) -> Verdict:
    """true or false; other words for them are open."""
    if isinstance(value, bool) or (isinstance(value, str) and value in ("true", "false")):
        return "sound"
    loose = {"0", "1", "t", "f", "y", "n", "on", "off", "yes", "no", "true", "false"}
    return "open" if str(value).strip().lower() in loose or value in (0, 1) else "bad"


def instant() -> Rule:
    """An ISO 8601 date or instant."""

    def judge(value: Any) -> Verdict:
        if not isinstance(value, str):
            return "bad"
        text = value.strip()
        if text.lower() in ("none", "never", "ever"):
            return "open"
        if not re.match(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?![0-9])", text):
            return "bad"
        try:
            day = date.fromisoformat(text[:10])
            read = datetime.fromisoformat(text) if len(text) > 10 else None
        except ValueError:
            return "bad" if len(text) == 10 else "open"
        return "sound" if day.year > 2000 and (read is None or "T" in text) else "open"

    return judge


def kind(value: Any) -> Verdict:
    """A type: one of the seven, or a word of the caller's own."""
    if value in TYPES:
        return "sound"
    return "open" if value is None or isinstance(value, str) else "bad"


def free(value: Any) -> Verdict:
    """Text that has to name something stored."""
    return "open" if isinstance(value, str) and _weigh(value) <= 2000 else "bad"


def items(rules: Mapping[str, Rule], required: Iterable[str]) -> Rule:
    """A list of at most fifty objects, however it is written."""
    needed = tuple(required)

    def judge(value: Any) -> Verdict:
        if isinstance(value, str):
            try:
                value = json.loads(value)
            except (ValueError, RecursionError):
                return "bad"
        if isinstance(value, dict):
            value = [value]
        if not isinstance(value, list) or len(cast("list[Any]", value)) > 50:
            return "bad"
        entries = [judge_object(rules, needed, item) for item in cast("list[Any]", value)]
        if any(one.bad for one in entries):
            return "bad"
        return "open" if any(one.open for one in entries) or len(entries) > 1 else "sound"

    return judge


def judge_object(rules: Mapping[str, Rule], required: Iterable[str], given: Any) -> Judgement:
    """The object's own fields, those it lacks, and those that nobody knows."""
    judgement = Judgement()
    if not isinstance(given, dict):
        judgement.bad.add("arguments")
        return judgement
    fields = cast("dict[str, Any]", given)
    camel = {re.sub(r"_([a-z])", lambda m: m[1].upper(), key.lower()) for key in fields}
    for key, value in fields.items():
        if key not in rules:
            near = camel & rules.keys() and "_" in key.strip("_")
            judgement.add(key, "open" if near else "bad")
        elif key in required or not is_absent(value):
            judgement.add(key, rules[key](value))
    for key in set(required) - fields.keys():
        # An entity that is known has a type.
        judgement.add(key, "open" if key in camel or key == "entityType" else "bad")
    return judgement


def is_absent(value: object) -> bool:
    """What means that an optional parameter was left out."""
    return value is None or (isinstance(value, str) and value.strip() in ("", "null"))


def undecided(rule: Rule) -> Rule:
    """What is bad by the rule; other values may be refused together with other arguments."""
    return lambda value: "bad" if rule(value) == "bad" else "open"


_PAST = undecided(instant())
_FACT: dict[str, Rule] = {
    "entityName": name(200), "entityType": kind, "observation": fact,
    "source": word("conversation", "note", "document", "manual"),
    "validFrom": _PAST, "validUntil": _PAST, "confidence": number(0, 1, whole=False),
    "replaces": free, "saidAt": _PAST,
}  # fmt: skip
_EDGE: dict[str, Rule] = {
    "fromEntity": name(200), "relation": name(100), "toEntity": name(200),
    "fromEntityType": kind, "toEntityType": kind,
    "validFrom": _PAST, "validUntil": _PAST,
    "ended": undecided(truth), "replaces": undecided(truth),
}  # fmt: skip
_QUERY: dict[str, Rule] = {
    "mode": word("search", "entity", "list"), "query": name(100_000, required=False),
    "entityTypes": words(*TYPES), "sources": words("facts", "documents"),
    "searchMode": word("hybrid", "semantic"),
    "entityName": name(200, required=False), "includeRelated": truth,
    "maxObs": number(1, 100, whole=True), "limit": limit, "offset": number(0, math.inf, whole=True),
    "maxTokens": number(50, 25_000, whole=True), "asOf": instant(), "includeIds": truth,
    "dates": truth, "since": _PAST, "until": undecided(instant()),
    "minScore": number(0, 1, whole=False),
}  # fmt: skip
_FORGET: dict[str, Rule] = {
    "entityName": name(200), "confirm": truth, "fact": free, "dryRun": truth
}  # fmt: skip
_FACT_NEEDS, _EDGE_NEEDS = ("entityName", "entityType", "observation"), ("fromEntity", "relation",
                                                                         "toEntity")  # fmt: skip
_BUILD: dict[str, Rule] = {
    "facts": items(_FACT, _FACT_NEEDS), "relations": items(_EDGE, _EDGE_NEEDS)
}  # fmt: skip
_TOOLS: dict[str, tuple[dict[str, Rule], tuple[str, ...]]] = {
    "query_memory": (_QUERY, ()), "remember_fact": (_FACT, _FACT_NEEDS),
    "build_knowledge": (_BUILD, ()), "relate_entities": (_EDGE, _EDGE_NEEDS),
    "forget_entity": (_FORGET, ("entityName",)),
}  # fmt: skip


def judge(tool: str, arguments: Any) -> Judgement:
    """What the contract says to a call."""
    rules, required = _TOOLS[tool]
    judgement = judge_object(rules, required, arguments)
    if not isinstance(arguments, dict):
        return judgement
    given = cast("dict[str, Any]", arguments)
    if tool == "build_knowledge" and not judgement.bad:
        empty = [is_absent(given.get(key)) or given.get(key) in ([], "[]") for key in rules]
        judgement.add("facts", ("open" if judgement.open else "bad") if all(empty) else "sound")
    if tool == "query_memory":
        _judge_mode(given, judgement)
    return judgement


def _judge_mode(given: Mapping[str, Any], judgement: Judgement) -> None:
    mode = str(given.get("mode")).strip().lower()
    needed = {"search": "query", "entity": "entityName"}.get(mode)
    if needed is None or judgement.bad or judgement.open:
        return
    value = given.get(needed)
    if is_absent(value):
        judgement.add(needed, "bad")
    if mode == "search" and "document" in str(given.get("sources")).lower():
        kinds = given.get("entityTypes")
        judgement.add("entityTypes", "sound" if is_absent(kinds) or kinds in ([], "[]") else "bad")
