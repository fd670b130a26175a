"""Indexes: docs/README.md lists every page, benchmarks/README.md every benchmark."""

import re

from tests.pages import ROOT


def test_each_page_is_listed_once() -> None:
    text = (ROOT / "docs/README.md").read_text("utf-8")
    listed = re.findall(r"\]\(([\w-]+\.md)\)", text)

    assert sorted(listed) == sorted(
        path.name for path in (ROOT / "docs").glob("*.md") if path.name != "README.md"
    )


def test_each_benchmark_that_can_be_run_is_in_the_table_once() -> None:
    text = (ROOT / "benchmarks/README.md").read_text("utf-8")
    listed = re.findall(r"^\|[^|]+\| `python -m benchmarks\.(\w+)", text, re.MULTILINE)
    named = re.findall(r"`(?:python -m benchmarks\.)?(\w+)[ `]", text.split("# What earlier")[0])
    modules = {path.stem for path in (ROOT / "benchmarks").iterdir() if path.suffix != ".md"}

    assert len(listed) == len(set(listed))
    assert modules - {"__pycache__", "__init__"} <= {*listed, *named}
