"""Notes: an entity as Markdown that a person reads, and from which an import makes it again.

Each fact, relation and alias is an item: a line for a person, and below it a comment with its other
values, which viewers do not show. The comment has the digest of the line. So a reader knows which
lines somebody has edited, and does not take an edited text for one of the stated author.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import md5
from typing import Any, Literal, cast, get_args
from urllib.parse import quote

from textrawl.memory.vault import write_note
from textrawl.values.text import remove_hidden

NoteFormat = Literal["obsidian", "markdown", "basic-memory"]
NOTE_FORMATS: tuple[NoteFormat, ...] = get_args(NoteFormat)
MARK = "textrawl"
"""The property of the front matter that names the format of a note of ours."""

ItemKind = Literal["fact", "relation", "alias"]
Values = dict[str, Any]

_UNSAID = ("kind", "space", "entity", "from_entity", "to_entity", "client", "tool", "request")
_USUAL: Values = {"confidence": 1, "strength": 1, "source": "conversation", "valid": True}
_COMMENT = re.compile(r"  <!-- (fact|relation|alias) (\{.*\}) -->")
_BRACKET = re.compile(r"[][\\]")
_MOST_ALIASES = 20  # in the front matter
_HEADINGS: dict[ItemKind, str] = {
    "fact": "Facts",
    "relation": "Relations",
    "alias": "Other names",
}
_FOLDS: dict[NoteFormat, tuple[str, str, str]] = {
    "obsidian": ("> [!info]- History\n", "> ", ""),
    "markdown": ("<details><summary>History</summary>\n\n", "", "\n</details>\n"),
    "basic-memory": ("## History\n\n", "", ""),
}
"""The beginning of the history, the beginning of its lines, and its end."""


@dataclass(frozen=True)
class NotedEntity:
    """A row of export_notes()."""

    id: str
    entity: Values
    aliases: list[Values] | None
    facts: list[Values] | None
    relations: list[Values] | None

    @property
    def free_type(self) -> str:
        """The type as the caller gave it, or else one of the seven types."""
        return self.entity["metadata"].get("type") or self.entity["entity_type"]


@dataclass(frozen=True)
class NoteItem:
    """A fact, relation or alias of a note, with the fields of its line in an export.

    `edited` is true if somebody has changed its line since the export. The text is then theirs.
    """

    kind: ItemKind
    values: Values
    edited: bool = False


def write_entity_note(row: NotedEntity, form: NoteFormat, stems: Mapping[str, str]) -> str:
    """Return the note of a row of export_notes(). `stems` has the file names of other notes."""
    current, ended = list[str](), list[str]()
    groups: dict[ItemKind, list[Values] | None] = {
        "fact": row.facts,
        "relation": row.relations,
        "alias": row.aliases,
    }
    for kind, items in groups.items():
        valid = list[str]()
        for values in items or []:
            kept = valid if values.get("valid", True) else ended
            kept.append(_write_item(kind, values, form, stems))
        if valid:
            current.append(f"## {_HEADINGS[kind]}\n\n{''.join(valid)}")
    if ended:
        begin, mark, end = _FOLDS[form]
        lines = "".join(ended).splitlines(keepends=True)
        current.append(begin + "".join(f"{mark}{line}" for line in lines) + end)
    title = f"# {row.entity['name']}\n"
    return write_note(_write_front(row, form), "\n".join([title, *current]))


def _write_front(row: NotedEntity, form: NoteFormat) -> Values:
    entity, name = row.entity, row.entity["name"]
    return {
        "title": name,
        "type": row.free_type,
        "kind": None if row.free_type == entity["entity_type"] else entity["entity_type"],
        "guessed": entity["type_guessed"],
        "aliases": [alias["name"] for alias in row.aliases or []][:_MOST_ALIASES],
        "permalink": f"{entity['space']}/{'-'.join(name.lower().split())}"
        if form == "basic-memory"
        else None,
        "description": entity["description"],
        "created": entity["created_at"],
        "id": entity["id"],
        MARK: form,
    }


def _write_item(kind: ItemKind, values: Values, form: NoteFormat, stems: Mapping[str, str]) -> str:
    begin, end = _frame(kind, values, form)
    match kind:
        case "fact":
            text = remove_hidden(values["text"])
        case "relation":
            text = f"{values['label'] or values['relation']} {_write_link(values, form, stems)}"
        case "alias":
            text = values["name"]
    shown = begin + text + end
    kept = {key: value for key, value in values.items() if _is_kept(kind, key, value, values)}
    kept["sum"] = _digest(shown)
    comment = json.dumps(kept, ensure_ascii=False, separators=(",", ":"))
    # A comment ends at -->, and some readers end it at -- too.
    comment = remove_hidden(comment).replace("--", "-\\u002d").replace(">", "\\u003e")
    lines = shown.replace("\n", "\n  ")
    return f"- {lines}\n  <!-- {kind} {comment} -->\n"


def _is_kept(kind: ItemKind, key: str, value: object, values: Values) -> bool:
    if key in _UNSAID or value is None or (key in _USUAL and value == _USUAL[key]):
        return False
    match key:
        case "text":
            return kind != "fact"
        case "valid_from":
            return value != values["created_at"]
        case "closed_at":  # an import sets it to an end that has come
            return value != values["valid_until"]
        case "label":
            return value != values["relation"]
        case _:
            return True


def _frame(kind: ItemKind, values: Values, form: NoteFormat) -> tuple[str, str]:
    """Return what stands before and after the text of an item: its source, author and days."""
    valid = values.get("valid", True)
    begin = "" if valid else "[x] "
    if form == "basic-memory" and kind == "fact" and valid:
        begin = f"[{values.get('source', _USUAL['source'])}] "
    days = (values.get("said_at") or values["created_at"])[:10]
    if values.get("valid_until"):
        days += f" to {values['valid_until'][:10]}"
    wrong = values.get("wrong")
    reason = f", wrong: {' '.join(wrong['reason'].split())}" if wrong else ""
    author = " ".join(values["author"].split())
    return begin, remove_hidden(f" ({author}, {days}{reason})")


def _write_link(values: Values, form: NoteFormat, stems: Mapping[str, str]) -> str:
    name = values["to"]
    stem = stems.get(values["to_entity"], name)
    if form == "markdown":
        shown = _BRACKET.sub(r"\\\g<0>", name)
        return f"[{shown}]({quote(stem)}.md)"
    if form == "basic-memory":  # it would take each link for a relation that is valid
        return f"[[{name}]]" if values["valid"] else name
    return f"[[{stem}]]" if stem == name else f"[[{stem}|{name}]]"


def _digest(shown: str) -> str:
    return md5(shown.encode(), usedforsecurity=False).hexdigest()[:8]


def read_items(body: str, form: NoteFormat) -> Iterator[NoteItem | str]:
    """Yield the items of a note that `write_entity_note` wrote, and all other lines as they are.

    An item of which somebody has changed more than the text of a fact becomes lines too.
    """
    block = list[str]()
    # A line without an indent begins a block. The last line of an item is its comment, so that a
    # text with a comment in it is still the text of its author.
    for line in [*(line.removeprefix("> ") for line in body.split("\n")), "."]:
        if line[:2].strip() and block:
            end = len(block)
            while end > 1 and not block[end - 1].strip():
                end -= 1
            found = _COMMENT.fullmatch(block[end - 1])
            item = _read_item(found, "\n".join(text[2:] for text in block[: end - 1]), form)
            yield from [item] if item else block
            block.clear()
        block.append(line)


def _read_item(found: re.Match[str] | None, shown: str, form: NoteFormat) -> NoteItem | None:
    if found is None:
        return None
    kind = cast("ItemKind", found[1])
    try:
        values: Values = json.loads(found[2])
        values.setdefault("valid", True)
        begin, end = _frame(kind, values, form)
        edited = values.pop("sum") != _digest(shown)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    if kind != "fact":
        return None if edited else NoteItem(kind, values)
    if not (shown.startswith(begin) and shown.endswith(end) and len(shown) > len(begin + end)):
        return None
    values["text"] = shown[len(begin) : len(shown) - len(end)]
    return NoteItem(kind, values, edited)
