"""The size of each capability of the product beside its ceiling.

`ceilings.toml` names the files of each capability. A surface is what somebody can meet: tools,
commands, options, routes of pages, settings and formats.
"""

import ast
import re
import subprocess
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import translate
from functools import cache
from itertools import zip_longest
from pathlib import Path
from typing import Any

from tests.support.syntax import read_nodes, read_tree

ROOT = Path(__file__).parents[2]
TABLE = Path(__file__).with_name("ceilings.toml")
PRODUCT = ("textrawl", "sql", "packages")
NUMBERS = ("lines", "statements", "surface")
_COMMANDS = "textrawl/cli/commands/"
_END = re.compile(r";[ \t]*(?:--.*)?$", re.MULTILINE)  # of a statement in SQL
_ARGUMENT = re.compile(r"\b(typer\.A|a)rgument\(")
_ROUTES = {"_CHANGES": 2, "_PAGES": 1, "_ACTIONS": 1}
"""Tables of pages, each with the routes of a row. A change has a page and an action."""

Table = Mapping[str, Mapping[str, Any]]


@dataclass
class Size:
    """What a capability has. `surface` counts by kind."""

    lines: int = 0
    statements: int = 0
    surface: Counter[str] = field(default_factory=Counter[str])

    def add(self, file: str) -> None:
        """Add a file. Only Python and SQL have statements."""
        content = (ROOT / file).read_text(encoding="utf-8", errors="replace")
        self.lines += len(content.splitlines())
        if file.endswith(".sql"):
            self.statements += len(_END.findall(content))
        elif file.endswith(".py"):
            self.statements += sum(map(_is_statement, read_nodes(ROOT / file)))
            self.surface.update(_find_surface(file))

    def count(self) -> dict[str, int]:
        """Return the numbers that have ceilings."""
        return {
            "lines": self.lines,
            "statements": self.statements,
            "surface": self.surface.total(),
        }


def read_table() -> Table:
    """Return the rows of the table by capability, and the row `sum`."""
    return tomllib.loads(TABLE.read_text(encoding="utf-8"))


def list_files() -> list[str]:
    """Return the files of the product that are in the repository, or not ignored by it."""
    command = ("git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *PRODUCT)
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return sorted({name for name in found.splitlines() if (ROOT / name).is_file()})


def assign(files: Iterable[str], table: Table) -> dict[str, list[str]]:
    """Return the capabilities of each file: those of the longest patterns that match its name."""
    patterns = [
        (len(pattern), name, re.compile(translate(pattern)))
        for name, row in table.items()
        for pattern in row["files"]
    ]
    owners = dict[str, list[str]]()
    for file in files:
        found = [(length, name) for length, name, pattern in patterns if pattern.match(file)]
        most = max((length for length, _ in found), default=0)
        owners[file] = list(dict.fromkeys(name for length, name in found if length == most))
    return owners


def measure(table: Table) -> dict[str, Size]:
    """Return the size of each capability."""
    sizes = {name: Size() for name in table if name != "sum"}
    for file, owners in assign(list_files(), table).items():
        for owner in owners[:1]:
            sizes[owner].add(file)
    return sizes


def _is_statement(node: ast.AST) -> bool:
    """Return whether a node is a statement, and no docstring or other text that does nothing."""
    text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return isinstance(node, ast.stmt) and not text


def _find_surface(file: str) -> Iterator[str]:
    """Yield the kind of each tool, command, option, route, setting and format of a module."""
    for node in read_nodes(ROOT / file):
        match node:
            case ast.Call(func=ast.Name(id="ImportFormat")):
                yield "format"
            case ast.Call(func=ast.Name(id="Route"), args=[ast.Constant(), *_]):
                yield "route"
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.Dict(keys=keys)):
                yield from ["route"] * (_ROUTES.get(name, 0) * sum(key is not None for key in keys))
            case ast.ClassDef(name="Settings") if file == "textrawl/settings.py":
                yield from ("setting" for one in node.body if isinstance(one, ast.AnnAssign))
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                yield from _read_function(file, node)
            case _:
                pass


def _read_function(file: str, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[str]:
    """Yield the kinds of a function that is a tool, or a command with options."""
    marks = {_read_mark(one) for one in node.decorator_list}
    if "tool" in marks:
        yield "tool"
    elif file.startswith(_COMMANDS) and (
        "command" in marks or node.name.rstrip("_") in _list_commands()
    ):
        yield "command"
        arguments = (*node.args.args, *node.args.kwonlyargs)
        yield from ("option" for one in arguments if not _is_argument(one.annotation))


def _read_mark(decorator: ast.expr) -> str:
    """Return the name of the method that a decorator calls."""
    match decorator:
        case ast.Call(func=ast.Attribute(attr=name)):
            return name
        case _:
            return ""


@cache
def _list_commands() -> frozenset[str]:
    """Return the names of all commands of the help."""
    for node in read_tree(ROOT / "textrawl/cli/application.py").body:
        match node:
            case ast.AnnAssign(target=ast.Name(id="PANELS"), value=ast.Dict() as value):
                return frozenset(
                    name for panel in ast.literal_eval(value).values() for name in panel
                )
            case _:
                continue
    raise AssertionError("textrawl/cli/application.py has no PANELS")


@cache
def _list_arguments() -> frozenset[str]:
    """Return the names of the types of arguments, which are no options."""
    return frozenset(
        target.id
        for path in (ROOT / "textrawl/cli").rglob("*.py")
        for node in read_tree(path).body
        if isinstance(node, ast.Assign) and _ARGUMENT.search(ast.unparse(node.value))
        for target in node.targets
        if isinstance(target, ast.Name)
    )


def _is_argument(annotation: ast.expr | None) -> bool:
    match annotation:
        case ast.Name(id=name):
            return name in _list_arguments()
        case None:
            return True
        case _:
            return _ARGUMENT.search(ast.unparse(annotation)) is not None


def find_faults(table: Table, sizes: Mapping[str, Size]) -> Iterator[str]:
    """Yield each file that does not belong to one capability, and each number above its ceiling."""
    for file, owners in assign(list_files(), table).items():
        if len(owners) != 1:
            found = " and ".join(owners) or "no capability"
            yield f"{file} belongs to {found}: name it in {TABLE.name}"
    for name, size in sizes.items():
        for number, found in size.count().items():
            if found > (most := table[name].get(number, 0)):
                yield f"{name} has {found:,} {number}, and its ceiling is {most:,}"
    for number, most in sum_up(table).items():
        if most > (together := table["sum"].get(number, 0)):
            yield f"the ceilings are {most:,} {number} together, {most - together:,} too many"


def sum_up(table: Table) -> dict[str, int]:
    """Return the sums of the ceilings of all rows that are counted."""
    counted = [row for name, row in table.items() if name != "sum" and row.get("counted", True)]
    return {number: sum(row.get(number, 0) for row in counted) for number in NUMBERS}


def describe(table: Table, sizes: Mapping[str, Size]) -> Iterator[str]:
    """Yield the lines, statements and surface of each capability, two in a line."""
    total, cells = Size(), list[str]()
    for name, size in sizes.items():
        surface = size.surface.total() or ""
        cells.append(f"{name:<27}{size.lines:>7,}{size.statements:>7,}{surface:>5}")
        if table[name].get("counted", True):
            total.lines += size.lines
            total.statements += size.statements
            total.surface += size.surface
    for left, right in zip_longest(cells[::2], cells[1::2], fillvalue=""):
        yield f"{left:<50}{right}".rstrip()
    kinds = ", ".join(f"{number} {kind}s" for kind, number in total.surface.most_common())
    yield f"written by hand: {total.lines:,} lines, {total.statements:,} statements; {kinds}"


def lower(table: Table, sizes: Mapping[str, Size]) -> str:
    """Return the text of the table with each ceiling lowered to what there is, and none raised.

    A row without ceilings gets those of today.
    """
    rows = {
        name: {key: min(table[name].get(key, found), found) for key, found in size.count().items()}
        for name, size in sizes.items()
    }
    together = sum_up({name: {**table[name], **row} for name, row in rows.items()})
    rows["sum"] = {key: min(table["sum"].get(key, most), most) for key, most in together.items()}

    def write(found: re.Match[str]) -> str:
        row = rows[found[1].strip('"')].items()
        return "\n".join(
            [found[0].split("\nlines =")[0].rstrip(), *(f"{k} = {n}" for k, n in row), ""]
        )

    text = TABLE.read_text(encoding="utf-8")
    return re.sub(r'^\[("?[\w, ]+"?)\]\n(?:.+\n)+', write, text, flags=re.MULTILINE)
