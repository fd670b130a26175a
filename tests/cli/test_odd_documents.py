"""The odd inputs of `tests/toolsets/memory/test_every_way_in.py`, as documents."""

from pathlib import Path

import psycopg
import pytest

from tests.cli.test_ingest import make_graph
from tests.conftest import TOKEN
from tests.support.commands import Run
from tests.support.odd_inputs import TEXTS, expect_text


@pytest.mark.slow
def test_documents_are_stored_as_facts_are(
    run: Run, database_url: str, owner: psycopg.Connection, tmp_path: Path
) -> None:
    """But for NUL, which makes a file binary, and for the form feed between pages."""
    make_graph(owner, "handbook", "personal")
    for number, text in enumerate(TEXTS):
        if "\0" not in text:
            (tmp_path / f"{number}.txt").write_text(text, encoding="utf-8", newline="")

    outcome = run("ingest", str(tmp_path), DATABASE_URL=database_url, ACCESS_TOKEN=TOKEN)

    rows = owner.execute(
        "select s.label, v.content from source s join document d on d.id = s.document_id"
        " join document_version v on v.document_id = d.id and v.version = d.version"
    ).fetchall()
    stored = {label.rpartition("/")[2]: content for label, content in rows}
    wrong = {
        number: stored.get(f"{number}.txt")
        for number, text in enumerate(TEXTS)
        if "\0" not in text
        and (stored.get(f"{number}.txt") or "").split() != expect_text(text).split()
    }
    assert (outcome.code, wrong) == (0, {})
