"""docs/glossary.md: each term stands once, and what it names exists."""

import ast
import re
from dataclasses import dataclass

import psycopg
from pydantic.alias_generators import to_camel

from tests.docs.test_readme import find_short_keys, list_keys
from tests.support.pages import ROOT
from tests.support.syntax import read_nodes
from textrawl.tools.catalogue import find_toolsets
from textrawl.wire.replies import Part

PAGE = ROOT / "docs" / "glossary.md"
MARKED = 20
"""Terms that somebody needs to whom textrawl is new."""
COLUMNS = """
    select c.relname, a.attname from pg_class c
    join pg_attribute a on a.attrelid = c.oid and a.attnum > 0
    where c.relnamespace = 'textrawl'::regnamespace and c.relkind = 'r'"""


@dataclass(frozen=True)
class Entry:
    """A row of the glossary."""

    term: str
    sentence: str
    tables: list[str]
    classes: list[str]
    keys: list[str]


def read_entries() -> list[Entry]:
    """Read the rows of all tables of the page."""
    lines = [line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| ")]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [
        Entry(row[0], row[1], *split_names(row[2])) for row in rows if row[0] not in ("term", "---")
    ]


def split_names(cell: str) -> tuple[list[str], list[str], list[str]]:
    """Return the tables, the classes and the JSON keys of a cell."""
    code, _, json = cell.partition("JSON")
    names = re.findall(r"`([^`]+)`", code)
    classes = [name for name in names if name[0].isupper()]
    keys = re.findall(r"`([^`]+)`", json)
    return [name for name in names if name not in classes], classes, keys


def find_classes() -> set[str]:
    """Find the names of all classes of the packages, wherever they live."""
    paths = [path for top in ("textrawl", "packages") for path in (ROOT / top).rglob("*.py")]
    nodes = [node for path in paths for node in read_nodes(path)]
    return {node.name for node in nodes if isinstance(node, ast.ClassDef)}


def find_keys() -> set[str]:
    """Find the keys of all parameters and of all parts of replies."""
    specs = [spec for toolset in find_toolsets().values() for spec in toolset.every_tool.values()]
    found = {key for spec in specs for key in list_keys(spec.build(structured=False).parameters)}
    parts = [Part]
    while parts:
        part = parts.pop()
        parts += part.__subclasses__()
        found |= {field.alias or to_camel(name) for name, field in part.model_fields.items()}
    return found | find_short_keys()


def test_each_term_stands_once() -> None:
    terms = [entry.term.strip("*") for entry in read_entries()]

    assert len(terms) > 50
    assert [term for term in set(terms) if terms.count(term) > 1] == []


def test_twenty_terms_are_marked_for_newcomers() -> None:
    assert sum(entry.term.startswith("**") for entry in read_entries()) == MARKED


def test_every_table_and_column_of_the_glossary_exists(owner: psycopg.Connection) -> None:
    owner.execute("select textrawl.register_embedding_model('test:model', 3)")
    rows = owner.execute(COLUMNS).fetchall()
    existing = {table for table, _ in rows} | {f"{table}.{column}" for table, column in rows}
    named = {name for entry in read_entries() for name in entry.tables}

    assert named - existing == set()


def test_every_class_of_the_glossary_exists() -> None:
    assert {name for entry in read_entries() for name in entry.classes} - find_classes() == set()


def test_every_key_of_the_glossary_is_on_the_wire() -> None:
    assert {key for entry in read_entries() for key in entry.keys} - find_keys() == set()
