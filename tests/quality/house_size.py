"""The size of the house in two lines: `python -m tests.quality.house_size`."""

import ast
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from tests.support.syntax import read_nodes

ROOT = Path(__file__).parents[2]
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


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


if __name__ == "__main__":
    sys.stdout.write(f"the size of the house\n{describe_size()}\n")
