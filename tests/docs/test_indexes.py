"""Indexes list every page and benchmark; anchors and paths that pages name exist."""

import re
from pathlib import Path

from tests.support.pages import PAGES, ROOT

TEXTS = [
    *PAGES,
    ROOT / "CONTRIBUTING.md",
    ROOT / "CHANGELOG.md",
    *sorted((ROOT / "benchmarks").glob("*.md")),
]
MOST_WORDS_FOR_A_PERSON = 4500


def test_each_page_is_listed() -> None:
    """In docs/README.md, and the page of a toolset in docs/toolsets.md."""
    docs = ROOT / "docs"
    listed = {
        page: set(re.findall(r"\]\(([\w/-]+\.md)\)", (docs / page).read_text("utf-8")))
        for page in ("README.md", "toolsets.md")
    }
    pages = {path.relative_to(docs).as_posix() for path in docs.rglob("*.md")} - {"README.md"}
    toolsets = {page for page in pages if page.startswith("toolsets/")}

    assert pages - toolsets - listed["README.md"] == set()
    assert toolsets - listed["toolsets.md"] == set()


def test_the_path_of_a_person_has_at_most_4500_words() -> None:
    docs = ROOT / "docs"
    _, _, path = (docs / "README.md").read_text("utf-8").partition("## For a person")
    pages = re.findall(r"^\d\. .*\]\((\S+\.md)\)", path.partition("\n## ")[0], re.MULTILINE)
    words = sum(len((docs / page).read_text("utf-8").split()) for page in pages)

    assert len(pages) > 3
    assert words <= MOST_WORDS_FOR_A_PERSON


def test_each_benchmark_that_can_be_run_is_in_the_table_once() -> None:
    text = (ROOT / "benchmarks/README.md").read_text("utf-8")
    listed = re.findall(r"^\|[^|]+\| `python -m benchmarks\.(\w+)", text, re.MULTILINE)
    named = re.findall(r"`(?:python -m benchmarks\.)?(\w+)[ `]", text.split("# What earlier")[0])
    programs = {path.stem for path in (ROOT / "benchmarks").iterdir() if path.suffix != ".md"}
    parts = {path.stem for path in (ROOT / "benchmarks/support").glob("*.py")}

    assert sorted(listed) == sorted(programs - {"support", "__pycache__"})
    assert parts <= set(named)


def slugify(heading: str) -> str:
    """Return the anchor that hosts of repositories give a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def find_anchors(page: Path) -> set[str]:
    """Find the anchors of a page."""
    headings = re.findall(r"^#+ (.+)$", page.read_text("utf-8"), re.MULTILINE)
    return {slugify(heading) for heading in headings}


def test_every_anchor_of_a_link_is_a_heading() -> None:
    assert [
        f"{page.relative_to(ROOT)}: {target}#{anchor}"
        for page in TEXTS
        for target, anchor in re.findall(
            r"\]\((?!https?:)([^)#]*)#([^)]+)\)", page.read_text("utf-8")
        )
        if anchor not in find_anchors(page.parent / target if target else page)
    ] == []


def test_every_file_that_a_page_names_exists() -> None:
    assert [
        f"{page.relative_to(ROOT)}: {name}" for page in TEXTS for name in find_missing_files(page)
    ] == []


def find_missing_files(page: Path) -> list[str]:
    """Find the paths in a page that no file has."""
    text = page.read_text("utf-8")
    named = re.findall(
        r"(?<![\w/.])((?:textrawl|tests|sql|benchmarks|compose|deploy)/[\w./-]*\w)", text
    )
    # docs/contributing/adding-a-toolset.md heads the files of its example with their paths.
    example = re.findall(r"^`([\w./]+)`\n\n```", text, re.MULTILINE)
    return [
        name
        for name in named
        if not (ROOT / name).exists() and not any(path.startswith(name) for path in example)
    ]
