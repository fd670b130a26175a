"""Aliases come back from an export, and find their entities in another memory."""

import json
from pathlib import Path
from typing import Any

from tests.archive.conftest import succeed, write_export
from tests.archive.material import fetch, tell
from tests.support.commands import Run


def aliases(url: str) -> list[Any]:
    return fetch(url, "select entity_name, alias, author, created_at from textrawl.list_aliases()")


def test_aliases_are_exported_and_imported(run: Run, url: str, fresh: str, tmp_path: Path) -> None:
    tell(
        url,
        "select textrawl.remember_fact('Jeff', 'person', 'drinks tea')",
        "select textrawl.remember_fact('jmiller', 'person', 'drinks tea')",
        "select textrawl.name_entity('Jeff', 'Jeffrey')",
        "select textrawl.merge_entities('Jeff', 'jmiller')",
    )
    file = tmp_path / "memory.jsonl"

    write_export(run, url, file)
    first = succeed(run, "import", str(file), DATABASE_URL=fresh)
    again = succeed(run, "import", str(file), DATABASE_URL=fresh)

    kinds = [json.loads(line).get("kind") for line in file.read_text().splitlines()]
    assert kinds.count("alias") == 2
    assert aliases(fresh) == aliases(url)
    documents = "select content, fts::text from textrawl.observation order by id"
    assert fetch(fresh, documents) == fetch(url, documents)
    assert "2 aliases" in first.out
    assert again.code == 0


def test_an_alias_that_another_entity_has_is_refused(
    run: Run, url: str, fresh: str, tmp_path: Path
) -> None:
    tell(
        url,
        "select textrawl.remember_fact('Jeff', 'person', 'drinks tea')",
        "select textrawl.name_entity('Jeff', 'Boss')",
    )
    fetch(fresh, "select textrawl.remember_fact('Boss', 'person', 'is old')")
    file = tmp_path / "memory.jsonl"

    write_export(run, url, file)
    done = run("import", str(file), DATABASE_URL=fresh)

    assert "another entity here has this name" in done.err
    assert aliases(fresh) == []
