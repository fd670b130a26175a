"""The size of the house and of each capability: `python -m tests.quality.house_size`.

The exit code is 1 if a capability is above its ceiling, or if a file belongs to none.
The number of modules that a search enters is that of `tests/docs/test_design_page.py`.
"""

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from tests.docs.imports import Graph, find_reachable, read_layers
from tests.quality.ceilings import describe, find_faults, measure, read_table
from tests.support.syntax import read_nodes

ROOT = Path(__file__).parents[2]
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_CALLED = re.compile(r"\b(\w+)\s*\(")


def find_files(folder: str, ending: str) -> list[Path]:
    """Find the files of a folder that somebody wrote."""
    generated = ROOT / "sql/schema.sql"
    return [path for path in (ROOT / folder).rglob(f"*{ending}") if path != generated]


def count_lines(files: Iterable[Path]) -> int:
    """Count all lines, blank ones included."""
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files)


def count_words(files: Iterable[Path]) -> int:
    """Count what stands between white space."""
    return sum(len(path.read_text(encoding="utf-8").split()) for path in files)


def count_inner_imports(nodes: Iterable[ast.AST]) -> int:
    """Count the statements that import inside of functions, each once."""
    inner = {
        id(node)
        for function in nodes
        if isinstance(function, FUNCTIONS)
        for node in ast.walk(function)
        if isinstance(node, ast.Import | ast.ImportFrom)
    }
    return len(inner)


def read_calls() -> Graph:
    """Return the SQL functions that each SQL function calls, by the names in its text."""
    files = {path.stem: path for path in find_files("sql", ".sql")}
    texts = {
        name: re.sub("--.*", "", path.read_text(encoding="utf-8")).partition("\ncomment on")[0]
        for name, path in files.items()
        if name != "grants" and path.parent.name not in ("migrations", "views")
    }
    return {name: texts.keys() & {*_CALLED.findall(text)} - {name} for name, text in texts.items()}


def describe_layers() -> str:
    """Return the packages, the imports between them, and the SQL functions under a search."""
    layers = read_layers()
    functions = len(find_reachable(read_calls(), "search_memory"))
    arrows = sum(map(len, layers.values()))
    return f"{len(layers)} rooms, {arrows} arrows · {functions} SQL functions under search_memory"


def describe_size() -> str:
    """Return lines, files, words, imports inside functions, and names of several classes."""
    folders = {"textrawl": ".py", "packages": ".py", "sql": ".sql", "tests": ".py"}
    parts = [
        f"{folder}/ {count_lines(files)} lines in {len(files)} files"
        for folder, ending in folders.items()
        for files in [find_files(folder, ending)]
    ]
    parts.append(f"docs/ {count_words(find_files('docs', '.md'))} words")
    nodes = [node for path in find_files("textrawl", ".py") for node in read_nodes(path)]
    classes = Counter(node.name for node in nodes if isinstance(node, ast.ClassDef))
    shared = sum(times > 1 for times in classes.values())
    return (
        f"{' · '.join(parts)}\n"
        f"imports inside functions {count_inner_imports(nodes)}"
        f" · names of two classes or more {shared}"
    )


def show_ceilings() -> int:
    """Write the size of each capability. Return 1 if one is above its ceiling, else 0."""
    table = read_table()
    sizes = measure(table)
    faults = list(find_faults(table, sizes))
    head = "lines, statements and surface of each capability"
    sys.stdout.write("\n".join([head, *describe(table, sizes), *faults, ""]))
    return int(bool(faults))


if __name__ == "__main__":
    sys.stdout.write(f"the size of the house\n{describe_size()}\n{describe_layers()}\n")
    sys.exit(show_ceilings())
