"""RULES.md has every rule once, and each rule has its test."""

import re
from pathlib import Path

from tests.support.pages import ROOT

TESTS = ROOT / "tests"
WHOLE = [
    *sorted((TESTS / "quality").glob("test_*.py")),
    *(TESTS / "sql" / f"test_{name}.py" for name in ("rules", "catalogue", "schema")),
    *(TESTS / "docs" / f"test_{name}.py" for name in ("design_page", "glossary", "indexes")),
]
"""Files with nothing but rules. Of the other files, the page names the tests that are rules."""


def find_tests(path: Path) -> set[str]:
    """Find the names of the tests of a file, without `test_`."""
    text = path.read_text(encoding="utf-8")
    return set(re.findall(r"^(?:async )?def test_(\w+)\(", text, re.MULTILINE))


def read_rules() -> dict[str, list[str]]:
    """Read the tests that the page names, below the names of their files."""
    page = (ROOT / "RULES.md").read_text(encoding="utf-8")
    parts = re.split(r"^(`[^\n]*test_\w+\.py`[^\n]*)$", page, flags=re.MULTILINE)[1:]
    return {
        heading: re.findall(r"`([a-z0-9]+(?:_[a-z0-9]+)+)`", rules.partition("\n## ")[0])
        for heading, rules in zip(parts[::2], parts[1::2], strict=True)
    }


def find_files(heading: str) -> list[Path]:
    """Find the files that a heading of rules names, by their paths or by their names alone."""
    paths = re.findall(r"`([\w/]+\.py)`", heading)
    return [
        found
        for path in paths
        for found in ([ROOT / path] if "/" in path else sorted(TESTS.rglob(path)))
    ]


def test_this_page_has_every_rule_once_and_no_other() -> None:
    rules = read_rules()
    named = [rule for names in rules.values() for rule in names]
    missing = {
        heading: sorted(set(names) - set[str]().union(*map(find_tests, find_files(heading))))
        for heading, names in rules.items()
    }

    assert len(rules) > 15
    assert {heading: names for heading, names in missing.items() if names} == {}
    assert set[str]().union(*map(find_tests, WHOLE)) - set(named) == set()
    assert [rule for rule in set(named) if named.count(rule) > 1] == []
