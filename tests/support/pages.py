"""README.md and docs/: their examples run, their tables written from the code.

- A block ```text whose lines begin with `> tool {arguments}` is a talk with the server: below each
  call stands what it answered. The word after `text` is the format of the answers.
- A block ```sql is a statement, and a block ```text right below it is its result. Of ```text sample
  only the columns and the kinds of their values have to be those of the result.
- What stands between `<!-- generated: name -->` and `<!-- end -->` is written by a function.

Ids and times differ in every run; pages show others in their place, always the same.
"""

import json
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_DNS, uuid5

import psycopg
from mcp import Client
from mcp.types import TextContent

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]

_BLOCK = re.compile(r"^```(\w*)(?: ([\w ]+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_GENERATED = re.compile(r"(<!-- generated: ([\w ]+) -->\n).*?(<!-- end -->)", re.DOTALL)
_STATEMENT = re.compile(
    r"(^```sql\n(.*?)^```$)(?:(\n\n```text(?: sample)?\n)(.*?)(^```$))?", re.MULTILINE | re.DOTALL
)
_ID = re.compile(r"\b([0-9a-f]{8})(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b([0-9a-f]{8})\b")
_TIME = re.compile(r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\.\d+(?:Z|[+-]\d\d(?::\d\d)?)")
_SNAPSHOT = re.compile(r"(?<=_)\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z")
_SHOWN_TIME = "2026-11-21T09:30:00Z"
# Days before 2020 are always what an example gives.
_DAY = re.compile(r'(?<="on":")20[2-9]\d-\d\d-\d\d|\b20[2-9]\d-\d\d-\d\d(?=: )')
_SHOWN_DAY = "2026-11-21"

Ask = Callable[[str], Awaitable[Client]]  # a client of a server that answers in a format


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, the words after it, and what it holds."""

    language: str
    words: str
    body: str


def read_blocks(page: Path) -> list[Block]:
    """Every fenced block of a page."""
    return _find_blocks(page.read_text(encoding="utf-8"))


def read_sections(page: Path) -> dict[str, list[Block]]:
    """The fenced blocks of each section of a page, by its heading."""
    sections = re.split(r"^## ", page.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    return {section.partition("\n")[0]: _find_blocks(section) for section in sections}


def _find_blocks(text: str) -> list[Block]:
    return [Block(*parts) for parts in _BLOCK.findall(text)]


def read_commands(page: Path) -> list[str]:
    """Every command of a page's `sh` blocks, continued lines joined, comments left out."""
    bodies = [
        block.body.replace("\\\n", " ") for block in read_blocks(page) if block.language == "sh"
    ]
    lines = [re.sub(r"\s+# .*", "", line) for body in bodies for line in body.splitlines()]
    return [" ".join(line.split()) for line in lines if line.strip() and not line.startswith("#")]


@dataclass
class Aliases:
    """What a page shows in place of ids and times that differ from run to run."""

    _shown: dict[str, str] = field(default_factory=dict[str, str])
    _whole: dict[str, str] = field(default_factory=dict[str, str])
    _snapshots: dict[str, str] = field(default_factory=dict[str, str])

    def hide(self, text: str) -> str:
        """Text as it stands on the page."""
        text = _SNAPSHOT.sub(lambda match: self._name_snapshot(match[0]), text)
        dated = _DAY.sub(_SHOWN_DAY, _TIME.sub(_SHOWN_TIME, text))
        return _ID.sub(lambda match: self._alias(match[0]), dated)

    def reveal(self, text: str) -> str:
        """Text of the page as it is sent."""
        snapshots = {shown: known for known, shown in self._snapshots.items()}
        text = _SNAPSHOT.sub(lambda match: snapshots.get(match[0], match[0]), text)
        real = {shown[:8]: known for known, shown in self._shown.items()} | self._whole
        return _ID.sub(lambda match: real.get(match[0]) or real.get(match[0][:8], match[0]), text)

    def _name_snapshot(self, known: str) -> str:
        return self._snapshots.setdefault(
            known, f"{_SHOWN_DAY}T09-30-00-{len(self._snapshots):03}Z"
        )

    def _alias(self, known: str) -> str:
        made = str(uuid5(NAMESPACE_DNS, f"textrawl example {len(self._shown)}"))
        shown = self._shown.setdefault(known[:8], made)[: len(known)]
        self._whole[shown] = known
        return shown


async def rewrite_talks(text: str, ask: Ask, aliases: Aliases | None = None) -> str:
    """The page with every answer as the server gives it now, asked in the page's order.

    `aliases` are those of the parts of the page that come before `text`.
    """
    aliases, parts, end = aliases or Aliases(), list[str](), 0
    for match in _BLOCK.finditer(text):
        language, words, body = match.groups()
        if language != "text" or not body.startswith("> "):
            continue
        client = await ask(words or "compact")
        answers = [
            await _converse(client, name, arguments, written, aliases)
            for name, arguments, written in _read_calls(body)
        ]
        parts += [text[end : match.start(3)], *answers]
        end = match.end(3)
    return "".join([*parts, text[end:]])


async def _converse(
    client: Client, name: str, arguments: str, written: str, aliases: Aliases
) -> str:
    result = await client.call_tool(name, json.loads(aliases.reveal(arguments)))
    [content] = result.content
    assert isinstance(content, TextContent)
    assert "Internal error" not in content.text, written
    return f"{written}\n{aliases.hide(content.text)}\n"


def _read_calls(body: str) -> list[tuple[str, str, str]]:
    """Name, arguments and the lines of each call; what stands between them are old answers."""
    calls: list[tuple[str, str, str]] = []
    for match in re.finditer(r"^> (\w+) ", body, re.MULTILINE):
        _, end = json.JSONDecoder().raw_decode(body, match.end())
        calls.append((match[1], body[match.end() : end], body[match.start() : end]))
    return calls


def rewrite_results(
    text: str, connection: psycopg.Connection, aliases: Aliases | None = None
) -> str:
    """The page with every result that it shows as Postgres gives it now; all statements are run."""
    aliases = aliases or Aliases()

    def replace(match: re.Match[str]) -> str:
        statement, query, before, shown, after = match.groups()
        cursor = connection.execute(query.encode())
        if before is None:
            return statement
        names = [column.name for column in cursor.description or ()]
        result = aliases.hide(write_rows(names, cursor.fetchall()))
        if " sample" in before and read_shape(shown) == read_shape(result):
            result = shown
        return statement + before + result + after

    return _STATEMENT.sub(replace, text)


def write_rows(names: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Rows as psql prints them."""
    table = [names, *([_write_value(value) for value in row] for row in rows)]
    widths = [max(len(row[i]) for row in table) for i in range(len(names))]
    right = [all(type(row[i]) in (int, float) for row in rows) for i in range(len(names))]
    lines = [
        " | ".join(
            cell.rjust(width) if to_right else cell.ljust(width)
            for cell, width, to_right in zip(row, widths, right, strict=True)
        )
        for row in table
    ]
    lines.insert(1, "-+-".join("-" * width for width in widths))
    count = f"({len(rows)} row{'' if len(rows) == 1 else 's'})"
    return (
        "".join(f" {line}".rstrip() + "\n" for line in lines).replace("\n ---", "\n----", 1)
        + count
        + "\n"
    )


def read_shape(result: str) -> list[tuple[str, str]]:
    """The columns of a result as psql prints it, each with the kinds of its values."""
    titles, _, *lines, _ = result.splitlines() or ["", "", ""]
    rows = [[cell.strip() for cell in re.split(r" \|(?: |$)", line)] for line in (titles, *lines)]
    return [
        (title, "".join(sorted({_name_kind(row[place]) for row in rows[1:]} - {"-"})))
        for place, title in enumerate(rows[0])
    ]


def _name_kind(cell: str) -> str:
    """- nothing, n number, d date, w anything else."""
    if re.fullmatch(r"-?[0-9]+(\.[0-9]+)?", cell):
        return "n"
    if re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}.*", cell):
        return "d"
    return "w" if cell else "-"


def _write_value(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.2f}"
    if isinstance(value, bool):
        return "t" if value else "f"
    if isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False)
    return "" if value is None else str(value)


def rewrite_generated(text: str, writers: Mapping[str, Callable[[], str]]) -> str:
    """The page with every generated part written anew."""
    return _GENERATED.sub(lambda match: f"{match[1]}{writers[match[2]]()}\n{match[3]}", text)


def write_table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [titles, ["---"] * len(titles), *rows]
    return "\n".join(
        f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in lines
    )


def describe_parameter(name: str, schema: dict[str, Any], required: Sequence[str]) -> list[str]:
    """A row about a parameter: name, type, default, limits, description."""
    kind = schema.get("type", "string")
    if kind == "array":
        items = schema["items"]
        kind = "list of types" if "enum" in items else "list of objects"
    if "enum" in schema:
        kind = " / ".join(schema["enum"]) if len(schema["enum"]) < 5 else "type"
    limits = [
        f"{word} {schema[key]}"
        for key, word in (
            ("minimum", "≥"),
            ("maximum", "≤"),
            ("maxLength", "characters ≤"),
            ("maxItems", "items ≤"),
        )
        if key in schema
    ]
    default = (
        "required"
        if name.rsplit(".", 1)[-1] in required
        else json.dumps(schema["default"])
        if "default" in schema
        else ""
    )
    return [f"`{name}`", kind, default, ", ".join(limits), schema.get("description", "")]
