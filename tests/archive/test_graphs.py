"""`textrawl export` and `textrawl import` of graphs with their sources."""

import json
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.archive.conftest import succeed
from tests.archive.material import fetch
from tests.archive.test_documents import export
from tests.support.commands import Run

CHUNKS = (
    "select o.content, o.part, o.said_at, o.source, c.tokens, c.line "
    "from fact o join chunk c on c.observation_id = o.id order by o.content, o.part"
)
SOURCES = (
    "select s.source_kind, s.label, s.content_hash, s.chunks, s.tokens, d.path, v.number, "
    "v.content, v.attributes from source s join document d on d.id = s.document_id "
    "join document_version v on v.document_id = d.id order by d.path, v.number"
)
TIERS = "select name, tier, recall_tokens from space order by name"
STORE = (
    "select document_id from store_source(%s, %s, %s, %s, %s, encode(sha256(%s), 'hex'),"
    " source_kind => %s)"
)
KEY = "0e3c4d2a-8c1b-4d1f-9a57-6d2f0b1c9e44"
ENCRYPTED = (
    "select claim_graph_key('diary', %(key)s), store_encrypted_document('diary', %(key)s, %(key)s,"
    " sha256('digest'), sha256('head'), convert_to(repeat('ciphertext', 20), 'utf8'))"
)


def store(owner: psycopg.Connection, graph: str, path: str, text: str, kind: str = "file") -> Any:
    middle = len(text) // 2
    chunks = [[1, 0, middle + 3, 9], [2, middle, len(text) - middle, 7]]
    given = (graph, path, path[5:], text, json.dumps(chunks), text.encode(), kind)
    return owner.execute(STORE, given).fetchone()


@pytest.fixture
def library(url: str) -> str:
    """A memory with graphs: sources with versions, a correction and an undone source."""
    with psycopg.connect(url) as owner:
        owner.execute("set search_path = textrawl, public")
        owner.execute("select create_space('handbook', tier => 'personal', recall_tokens => 900)")
        owner.execute("select create_space('diary', tier => 'sensitive')")
        store(owner, "handbook", "file/tea.md", "Tea is served at four.\nThe kitchen closes.")
        store(owner, "handbook", "file/tea.md", "Tea is served at five.\r\nThe kitchen opens.")
        store(owner, "handbook", "clip/ab", "Coffee is served at nine.", "clip")
        owner.execute(ENCRYPTED, {"key": KEY})
        owner.execute(
            "select propose_correction(o.whole, o.part, o.content, 'opens at noon.', 'noon')"
            " from observation o join document d on d.id = o.whole and d.path = 'file/tea.md'"
            " where o.content like '%opens.'"
        )
        owner.execute("select apply_correction(id) from correction")
        [before] = owner.execute("select clock_timestamp()").fetchall()
        owner.commit()
        store(owner, "handbook", "file/gone.md", "This source is taken back.")
        owner.execute("select undo_author(session_user, %s)", before)
    return url


def test_graphs_come_back_with_their_tiers_sources_versions_and_chunks(
    run: Run, library: str, fresh: str, tmp_path: Path
) -> None:
    first = export(run, library, tmp_path / "first.jsonl")

    outcome = succeed(run, "import", str(tmp_path / "first.jsonl"), DATABASE_URL=fresh)

    assert export(run, fresh, tmp_path / "second.jsonl") == first
    assert "3 documents, 5 versions, 1 ciphertext" in outcome.out
    for query in (CHUNKS, SOURCES, TIERS):
        assert fetch(fresh, query) == fetch(library, query) != []
    assert len(fetch(fresh, CHUNKS)) == 4
    query = "select k.id, d.id, digest, head, content from graph_key k, encrypted_document d"
    assert fetch(fresh, query) == fetch(library, query) != []


def test_an_imported_sensitive_graph_stays_sensitive(
    run: Run, library: str, fresh: str, tmp_path: Path
) -> None:
    export(run, library, tmp_path / "lines.jsonl")

    succeed(run, "import", str(tmp_path / "lines.jsonl"), DATABASE_URL=fresh)

    found = fetch(fresh, "select graph, label from recall_chunks('tea or coffee', min_score => 0)")
    assert set(found) == {("handbook", "tea.md"), ("handbook", "ab")}


def test_graphs_are_not_imported_twice(run: Run, library: str, fresh: str, tmp_path: Path) -> None:
    file = tmp_path / "lines.jsonl"
    before = export(run, library, file)
    succeed(run, "import", str(file), DATABASE_URL=fresh)

    again = [succeed(run, "import", str(file), DATABASE_URL=target) for target in (fresh, library)]

    for outcome, target in zip(again, (fresh, library), strict=True):
        assert outcome.out.startswith("Added 0 spaces, 0 entities, 0 facts, 0 relations. ")
        assert export(run, target, tmp_path / "again.jsonl") == before
    fetch(library, "select name from rename_space('diary', 'journal')")
    renamed = run("import", str(file), DATABASE_URL=library)
    assert "another graph here has the key of the graph of the file" in renamed.err + renamed.out


@pytest.mark.parametrize(
    ("space", "reason"),
    [
        (("handbook", None), "the space here holds facts"),
        (("diary", "personal"), "the tier here shows more"),
    ],
)
def test_a_graph_is_not_imported_into_a_space_that_shows_more(
    run: Run, library: str, fresh: str, tmp_path: Path, space: tuple[str, str | None], reason: str
) -> None:
    export(run, library, tmp_path / "lines.jsonl")
    with psycopg.connect(fresh) as owner:
        owner.execute("select textrawl.create_space(%s, tier => %s)", space)

    outcome = run("import", str(tmp_path / "lines.jsonl"), DATABASE_URL=fresh)

    assert outcome.code == 1
    assert reason in outcome.err + outcome.out
    stored = "select s.name from document d join space s on s.id = d.space_id"
    assert set(fetch(fresh, stored)) == {("handbook",)} - {space[:1]}
    assert fetch(fresh, "select count(*) from encrypted_document") == [(space[0] == "handbook",)]


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"kind": "document", "path": "self/my_wants.md"}, "path of a source does not begin"),
    ({"kind": "document", "label": None}, "source_kind and label must be given"),
    ({"kind": "document", "type": "identity", "path": "self/x.md"}, "only graphs hold sources"),
    ({"kind": "version", "attributes": {"chunks": "all"}}, "the database refuses it"),
    ({"kind": "version", "attributes": {"chunks": [[1, 0, 99, 1]]}}, "the database refuses it"),
    ({"kind": "version", "text": "x" * 5_000_001}, "has more than 5000000 characters"),
    ({"kind": "space", "tier": "secret"}, "tier should be"),
    ({"kind": "space", "tier": None}, "recall_tokens is only for a graph"),
    ({"kind": "document", "space": "diary"}, "run `textrawl space tier diary sensitive` before"),
    ({"kind": "ciphertext", "key": KEY.replace("0", "1")}, "the graph here has another key"),
    ({"kind": "ciphertext", "digest": "x"}, "digest"),
    ({"kind": "ciphertext", "space": "handbook"}, "only graphs hold sources"),
]


def test_a_wrong_line_of_a_graph_is_reported_and_the_others_are_imported(
    run: Run, library: str, fresh: str, tmp_path: Path
) -> None:
    exported = export(run, library, tmp_path / "lines.jsonl")
    names = ("handbook", None)  # only spaces have names
    for change, reason in WRONG:
        of_kind = [line.get("kind") == change["kind"] for line in exported]
        wanted = [line.get("name") in names for line in exported]
        place = [*map(all, zip(of_kind, wanted, strict=True))].index(True)
        lines = [*exported[:place], exported[place] | change, *exported[place + 1 :]]
        raw = "".join(f"{json.dumps(line)}\n" for line in lines)
        (tmp_path / "wrong.jsonl").write_text(raw, encoding="utf-8")

        outcome = run("import", str(tmp_path / "wrong.jsonl"), DATABASE_URL=fresh)

        assert outcome.code == 1, reason
        assert reason in outcome.err + outcome.out
        assert fetch(fresh, "select count(*) > 0 from source") == [(True,)]


def test_a_fact_of_a_graph_is_not_imported(
    run: Run, library: str, fresh: str, tmp_path: Path
) -> None:
    lines = export(run, library, tmp_path / "lines.jsonl")
    for line in lines:
        if line.get("kind") in ("fact", "relation") and line["space"] == "default":
            line["space"] = "handbook"
    raw = "".join(f"{json.dumps(line)}\n" for line in lines)
    (tmp_path / "wrong.jsonl").write_text(raw, encoding="utf-8")

    outcome = run("import", str(tmp_path / "wrong.jsonl"), DATABASE_URL=fresh)

    assert "handbook is a graph, which holds only sources" in outcome.err + outcome.out
    inside = "select count(*) from fact join space s on s.id = space_id where s.tier is not null"
    assert fetch(fresh, f"{inside} and whole is null") == [(0,)]
