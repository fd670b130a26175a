"""Readers of answers, written from docs/tokens.md and docs/hooks.md alone.

They import nothing of textrawl. What they take for a fact of an entity is what a careful model or
program takes for one.
"""

import json
import re
from dataclasses import dataclass, field
from typing import Any

DAY = r"\d{4}-\d\d-\d\d"
AUTHOR = r"(?:[^\\:]|\\.|:(?!\s))*"
CHUNK = r"[0-9a-f]{8}-[0-9a-f-]{27}:[0-9]+"
ORIGIN = (
    rf"(?:(?:[0-9a-f]{{8}}|{CHUNK}) {DAY} (?P<signer>{AUTHOR}): "
    rf"|{DAY}(?: by (?P<dated>{AUTHOR}))?: |by (?P<by>{AUTHOR}): )?"
    r"(?:line [0-9]+: )?(?P<mark>external: )?"
)
HEADER = re.compile(r"(?P<name>.*) \((?P<type>[a-z]+)\)(?: @(?P<space>\S+))?")
FOUND = re.compile(rf"[0-9]{{1,3}} {ORIGIN}(?P<text>.*)")
NOTED = re.compile(rf"- {ORIGIN}(?P<text>.*)")
LISTED = re.compile(rf"(?:@(?P<space>\S+) )?{ORIGIN}(?P<text>.*)")
RELATION = re.compile(r"[^\s→\\]+→")
OTHER = re.compile(r"(?:aka|wrong): |(?:more|cut|note) |(?:not|nothing) found\b")
FENCE = re.compile(r"<textrawl-memory-(?P<number>[0-9]{9})>\n.*\n")
PROPOSED = " (proposed)"
MARK = "external: "
CHANGE = re.compile(r" \((?:source changed|file gone)\)$")
LIFETIME = re.compile(rf" \((?:from {DAY}|{DAY} to {DAY})\)$")


@dataclass(frozen=True)
class Read:
    """A fact or a relation as a reader sees it. `author` is None if the answer names none."""

    text: str
    author: str | None = None
    relation: bool = False
    proposed: bool = False
    space: str | None = None
    external: bool = False


@dataclass
class Group:
    """An entity as a reader sees it."""

    name: str | None
    type: str
    space: str | None = None
    facts: list[Read] = field(default_factory=list[Read])
    others: list[str] = field(default_factory=list[str])


def unescape(line: str) -> str:
    """Return the stored text of a part of a line."""
    if line.startswith("\\") and not line.startswith("\\\\"):
        line = line[1:]

    def replace(found: re.Match[str]) -> str:
        sign = found[1]
        if len(sign) > 1:
            return chr(int(sign[1:], 16))
        return {"n": "\n", "t": "\t"}.get(sign, sign)

    return re.sub(r"\\(u[0-9a-f]{4}|.)", replace, line)


def read_lines(text: str, fact: re.Pattern[str] = FOUND) -> list[Group]:
    """Return the entities of a search in lines, or of a digest if `fact` is NOTED."""
    groups = list[Group]()
    for line in text.split("\n") if text else ():
        if found := fact.fullmatch(line):
            groups[-1].facts.append(_read(found))
        elif header := HEADER.fullmatch(line):
            groups.append(Group(unescape(header["name"]), header["type"], header["space"]))
        else:
            assert OTHER.match(line), line
    return groups


def read_entity_lines(text: str) -> Group:
    """Return the entity of a look-up in lines."""
    first, *lines = text.split("\n")
    header = HEADER.fullmatch(first)
    assert header, first
    group = Group(unescape(header["name"]), header["type"])
    for line in lines:
        if relation := re.fullmatch(r"([→←]) (\S+) (.*)", line):
            target = unescape(LIFETIME.sub("", relation[3]))
            group.others.append(f"{relation[1]} {relation[2]} {target}")
        elif OTHER.match(line):
            group.others.append(line.split(" ")[0])
        else:
            found = LISTED.fullmatch(line)
            assert found, line
            group.facts.append(_read(found, space=found["space"]))
    return group


def _read(found: re.Match[str], space: str | None = None) -> Read:
    author = next((found[name] for name in ("signer", "dated", "by") if found[name]), None)
    text = CHANGE.sub("", found["text"])
    return Read(
        unescape(LIFETIME.sub("", text.removesuffix(PROPOSED))),
        None if author is None else unescape(author),
        RELATION.match(text) is not None,
        text.endswith(PROPOSED),
        space,
        found["mark"] is not None,
    )


def read_compact(text: str) -> list[Group]:
    """Return the entities of a search in compact text."""
    return [
        Group(entity["n"], entity["t"], entity.get("sp"), [_read_short(one) for one in entity["m"]])
        for entity in json.loads(text)["e"]
    ]


def _read_short(fact: dict[str, Any]) -> Read:
    text = fact["c"].removeprefix(MARK)
    external, relation = text != fact["c"], RELATION.match(text) is not None
    if re.match(rf"\\+(?:{RELATION.pattern}|{MARK})", text):
        text = text[1:]
    proposed = fact.get("proposed", False)
    return Read(text, fact.get("by"), relation, proposed, external=external)


def read_compact_entity(text: str) -> Group:
    """Return the entity of a look-up in compact text, which does not repeat the name."""
    answer = json.loads(text)
    facts = [{"c": one} if isinstance(one, str) else one for one in answer["o"]]
    group = Group(None, answer["t"])
    group.facts = [Read(one["c"], one.get("by"), space=one.get("sp")) for one in facts]
    return group


def read_verbose(text: str) -> list[Group]:
    """Return the entities of a search in verbose text."""
    return [
        Group(
            entity["entityName"],
            entity["entityType"],
            facts=[
                Read(
                    one["content"],
                    one["author"],
                    "relation_type" in one,
                    one.get("proposed", False),
                )
                for one in entity["memories"]
            ],
        )
        for entity in json.loads(text)["entities"]
    ]


def open_fence(text: str) -> str:
    """Return the facts in the fence, also if the text was cut off."""
    begin = FENCE.match(text)
    assert begin, text
    end = f"</textrawl-memory-{begin['number']}>"
    lines = text[begin.end() :].split("\n")
    facts = lines[: lines.index(end)] if end in lines else lines[:-1]
    signs = {"lt": "<", "#65308": "\uff1c", "#65124": "\ufe64", "amp": "&"}
    names = "(?:lt|#65308|#65124);"
    return re.sub(
        rf"&(?:(?=(?:amp;)*{names})(amp|lt|#65308|#65124));",
        lambda sign: signs[sign[1]],
        "\n".join(facts),
    )
