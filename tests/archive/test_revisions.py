"""The reasons of wrong facts come back from an export."""

from pathlib import Path

from tests.archive.conftest import succeed, write_export
from tests.archive.material import fetch, tell
from tests.support.commands import Run

REVISIONS = """
    select entity_name, wrong, reason, instead, revised_by, revised_at
    from textrawl.memory_revisions order by wrong"""


def test_revisions_are_exported_and_imported_once(
    run: Run, url: str, fresh: str, tmp_path: Path
) -> None:
    tell(
        url,
        "select textrawl.remember_fact('Jeff', 'person', 'drinks tea')",
        "select textrawl.revise_fact('Jeff', 'drinks tea', 'he is allergic', 'drinks coffee')",
        "select textrawl.remember_fact('Jeff', 'person', 'is tall')",
        "select textrawl.revise_fact('Jeff', 'is tall', 'that was Kim')",
    )
    file = tmp_path / "memory.jsonl"

    write_export(run, url, file)
    first = succeed(run, "import", str(file), DATABASE_URL=fresh)
    again = succeed(run, "import", str(file), DATABASE_URL=fresh)

    assert "2 revisions" in first.out
    assert again.code == 0
    assert len(fetch(url, REVISIONS)) == 2
    assert fetch(fresh, REVISIONS) == fetch(url, REVISIONS)


def test_the_reason_of_a_fact_that_is_valid_here_is_left_out(
    run: Run, url: str, fresh: str, tmp_path: Path
) -> None:
    tell(
        url,
        "select textrawl.remember_fact('Jeff', 'person', 'is tall')",
        "select textrawl.revise_fact('Jeff', 'is tall', 'that was Kim')",
    )
    fetch(fresh, "select textrawl.remember_fact('Jeff', 'person', 'is tall')")
    file = tmp_path / "memory.jsonl"

    write_export(run, url, file)
    succeed(run, "import", str(file), DATABASE_URL=fresh)

    valid = "select content from textrawl.memory_observations where valid and entity_name = 'Jeff'"
    assert fetch(fresh, valid) == [("is tall",)]
