"""The routes of SQL functions in a distributed memory."""

import ast
import re
from functools import cache
from pathlib import Path

from tests.support.both_memories import ON_CLUSTER
from textrawl.cluster.merging import DIGEST_SECTIONS, MERGES
from textrawl.cluster.planning import Route, find_route, find_scope
from textrawl.postgres.functions import SPREAD
from textrawl.postgres.sql_files import list_folders, read_folder

_PACKAGE = Path(__file__).parents[2] / "textrawl"
# Imports and vector indexes use a session of the owner, and not a pool.
_OF_OWNER = ("archive", "cluster", "postgres", "client")
# Also an argument, a finding, a factor of a score, and a file of words.
_NO_CALLS = {"as_of", "disagreement", "neighbours", "period_words"}
_SEVERAL = (Route.ADMINISTERED, Route.NAMED, Route.SPACES, Route.EVERY, Route.GRAPHS)


@cache
def read_arguments() -> dict[str, list[str]]:
    """Return the names of the arguments of each SQL function."""
    found: dict[str, list[str]] = {}
    for text in read_folder(*list_folders()).values():
        plain = re.sub(r"--[^\n]*", "", text)
        begin = re.search(r"create function textrawl\.(\w+)\s*\(", plain)
        if begin is None:
            continue
        depth, end = 1, begin.end()
        while depth:
            depth += {"(": 1, ")": -1}.get(plain[end], 0)
            end += 1
        inside = re.sub(
            r"default ('[^']*'|array\[[^]]*\])|\([^()]*\)", "", plain[begin.end() : end - 1]
        )
        words = [argument.split() for argument in inside.split(",")]
        found[begin[1]] = [word[0] for word in words if word and word[0] != "out"]
    return found


@cache
def find_called() -> list[str]:
    """Return the names of all SQL functions that a module calls through a database."""
    texts = set[str]()
    for file in _PACKAGE.rglob("*.py"):
        if file.relative_to(_PACKAGE).parts[0] in _OF_OWNER:
            continue
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                texts.add(node.value)
    return sorted((texts & read_arguments().keys()) - _NO_CALLS)


def find_route_of(name: str) -> Route | None:
    return find_route(name, read_arguments()[name])


def test_every_called_function_has_a_route() -> None:
    """A new function has `space` or `spaces`, or a line in the table of exceptions."""
    assert [name for name in find_called() if find_route_of(name) is None] == []


def test_merges_are_of_functions_that_can_be_called_in_several_cells() -> None:
    """All other functions of several spaces ask for one space."""
    several = {name for name in find_called() if find_route_of(name) in _SEVERAL}
    assert several >= MERGES.keys()


def test_tables_name_existing_functions() -> None:
    """A function that was renamed is renamed in the tables too."""
    assert MERGES.keys() <= read_arguments().keys()
    assert read_arguments().keys() >= SPREAD


def test_a_write_asks_for_the_scope_that_the_table_says() -> None:
    asked = {
        name: found[1]
        for name, text in read_folder(*list_folders()).items()
        if (found := re.search(r"open_write\(credential, [\w.]*space, '(\w+)'", text))
    }

    assert len(asked) > 50
    wrong = {
        name: scope
        for name, scope in asked.items()
        if name in find_called() and find_scope(name, writes=True) != scope
    }
    assert wrong == {}


def test_the_digest_of_several_cells_has_the_sections_of_one() -> None:
    parts = re.findall(r"\('(\w+)', (\d), (\d+)\)", read_folder("memory")["digest_memory"])

    assert {name: (int(rank), int(share)) for name, rank, share in parts} == DIGEST_SECTIONS


def test_the_tests_that_are_repeated_on_a_cluster_exist() -> None:
    """A test with another name would not be repeated, and nobody would know."""
    for test in ON_CLUSTER:
        file, _, name = test.partition("::")
        text = (_PACKAGE.parent / file).read_text("utf-8")
        assert re.search(rf"^(?:async )?def {name}\(", text, re.MULTILINE), test
