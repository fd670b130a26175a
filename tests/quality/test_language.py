"""The language of the house, as far as a program can read it: docs/glossary.md has the words."""

import ast
import re
from collections.abc import Iterator

from tests.support.pages import ROOT
from tests.support.syntax import read_nodes

MODULES = sorted(
    path for top in ("textrawl", "packages", "benchmarks") for path in (ROOT / top).rglob("*.py")
)
TESTS = sorted((ROOT / "tests").rglob("*.py"))
PAGES = sorted(
    [*(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md"), *(ROOT / "benchmarks").glob("*.md")]
)
SQL_FILES = sorted((ROOT / "sql").rglob("*.sql"))
RIDDLE = re.compile(r"(What|Who|Whose|Whom|How|Whether|Where)\b")
MOST_RIDDLES = 0.01  # of all docstrings
MOST_WORDS = 35  # of a sentence in the pages
SENTENCE_END = re.compile(r"(?<=[.!?])[\")*]*\s+(?=[A-Z0-9\"(*`]|textrawl\b)")


def read_docstrings() -> Iterator[tuple[str, str]]:
    """Yield each docstring with its place."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for path in MODULES:
        for node in read_nodes(path):
            if isinstance(node, kinds) and (text := ast.get_docstring(node)):
                yield f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', 1)}", text


def split_sentences(page: str) -> Iterator[str]:
    """Yield the sentences of a page, without code blocks, tables and headings."""
    text = re.sub(r"^```.*?^```$|<!--.*?-->", "\n\n", page, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"</?\w+>", "\n\n", text)
    text = re.sub(r"^(\||#|>).*$", "", text, flags=re.MULTILINE)
    for block in re.split(r"\n\s*\n|\n(?=\s*(?:-|\d+\.) )", text):
        plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", block)
        plain = re.sub(r"`[^`]*`", "Code", plain).replace("**", "")
        yield from filter(None, SENTENCE_END.split(plain.strip()))


def test_docstrings_begin_with_a_verb_or_a_noun() -> None:
    docstrings = list(read_docstrings())
    riddles = [f"{place} {text[:60]}" for place, text in docstrings if RIDDLE.match(text)]

    assert len(riddles) <= MOST_RIDDLES * len(docstrings), riddles


def test_no_sentence_of_a_page_is_longer_than_35_words() -> None:
    long = [
        f"{path.relative_to(ROOT)}: {sentence}"
        for path in PAGES
        for sentence in split_sentences(path.read_text(encoding="utf-8"))
        if len(sentence.split()) > MOST_WORDS
    ]

    assert long == []


def test_only_tables_of_data_keep_a_layout_of_their_own() -> None:
    """Calls and signatures are laid out by the formatter; literals of data may be tables."""
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in [*MODULES, *TESTS]
        if (lines := path.read_text(encoding="utf-8").split("\n"))
        for node in read_nodes(path)
        if isinstance(node, ast.Call | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        if lines[_last_line(node) - 1].endswith("# fmt: skip") and not _holds_data(node)
    ]

    assert sorted(set(found)) == []


def _last_line(node: ast.stmt | ast.expr) -> int:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return node.body[0].lineno - 1
    return node.end_lineno or node.lineno


def _holds_data(node: ast.AST) -> bool:
    """Return whether a call holds a list, set, tuple or dictionary that is a table."""
    literals = (ast.Dict, ast.List, ast.Set, ast.Tuple)
    return isinstance(node, ast.Call) and any(
        isinstance(part, literals) and len(ast.unparse(part)) > 60
        for argument in [*node.args, *(keyword.value for keyword in node.keywords)]
        for part in ast.walk(argument)
    )


def test_validity_is_written_once() -> None:
    """Every other function asks `is_valid`, so that no two of them can disagree."""
    rule = re.compile(r"valid_until\s+is\s+null\s+or\s+[\w.]*valid_until\s*>", re.IGNORECASE)
    written = [path.name for path in SQL_FILES if rule.search(path.read_text(encoding="utf-8"))]

    assert written == ["is_valid.sql"]
