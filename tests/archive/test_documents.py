"""`textrawl export` and `textrawl import` of identity files and journal entries."""

import json
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.archive.conftest import succeed
from tests.archive.material import fetch
from tests.support.commands import Run

FACTS = "select content, part, said_at from fact where whole is not null order by content, part"


@pytest.fixture
def diary(url: str) -> str:
    """A memory with identity files, their snapshots, journal entries and an instance."""
    with psycopg.connect(url) as owner:
        owner.execute("set search_path = textrawl, public")
        for call in (
            "write_identity('self', 'my_wants.md', E'tea\r\n')",
            "label_identity('self', 'my_wants.md', 'wants')",
            "write_identity('self', 'my_wants.md', 'coffee', instance => 'desk')",
            "write_identity('custom', 'garden.md', 'Roses.')",
            "delete_identity('garden.md')",
            "create_snapshots(pinned => true)",
            "write_entry('daily', '2026-05-12', '- met Ben [chat:7]', 'desk')",
            "write_entry('daily', '2026-05-12', '- ate soup [chat:8]', 'desk')",
            "write_entry('significant', '2026-05-12', 'A first talk.', 'lap', 'first-talk')",
            "write_entry('weekly', '2026-W19', repeat('A long week. ', 400), 'lap')",
            "put_item(array['*', E'a\\u200b'], ' k', '{\"b\": \"\\u0000\u200b\", \"a\": [1.0]}')",
            "put_item(array['x'], 'gone', '1')",
            "put_item(array['x'], 'gone', '2', '{\"by\": null}', '1 day', '[\"a\"]')",
            "delete_items(array['x'], 'gone')",
            "put_item(array['x'], 'stays', '3', ttl => '1 day')",
            "append_log(array['x'], '[\"first\", \"last\"]')",
            "pop_log(array['x'])",
        ):
            owner.execute(f"select {call}")
    return url


def export(run: Run, url: str, file: Path) -> list[dict[str, Any]]:
    succeed(run, "export", str(file), "--force", DATABASE_URL=url)
    return [json.loads(line) for line in file.read_bytes().splitlines()]


def test_documents_come_back_with_all_their_texts_snapshots_and_facts(
    run: Run, diary: str, fresh: str, tmp_path: Path
) -> None:
    file = tmp_path / "first.jsonl"
    first = export(run, diary, file)

    outcome = succeed(run, "import", str(file), DATABASE_URL=fresh)

    assert export(run, fresh, tmp_path / "second.jsonl") == first
    kinds = [line.get("kind") for line in first]
    numbers = [kinds.count(kind) for kind in ("instance", "document", "version", "snapshot")]
    assert numbers == [2, 10, 17, 3]
    assert "2 instances, 10 documents, 17 versions, 3 snapshots" in outcome.out
    assert fetch(fresh, FACTS) == fetch(diary, FACTS) != []
    for query in (
        "select category, filename, content, prompt_label, modified_by from read_identity()",
        "select id, reason, pinned, content from list_snapshots(texts => true)",
        "select path, number, content, attributes from current_documents(1, 'journal') order by 1",
        "select namespace, key, value, metadata, expires_at from search_items()",
        "select version, value::text, deleted from item_history(array['x'], 'gone')",
        "select place, value from read_log(array['x'])",
    ):
        assert fetch(fresh, query) == fetch(diary, query) != []


def test_an_imported_log_is_appended_to_one_that_is_there(
    run: Run, diary: str, fresh: str, tmp_path: Path
) -> None:
    file = tmp_path / "lines.jsonl"
    export(run, diary, file)
    with psycopg.connect(fresh) as owner:
        owner.execute("set search_path = textrawl, public")
        owner.execute("select append_log(array['x'], '[\"own\"]')")

    for _ in range(2):
        succeed(run, "import", str(file), DATABASE_URL=fresh)

    assert fetch(fresh, "select value from read_log(array['x'])") == [("own",), ("first",)]


def test_a_text_that_is_no_json_and_an_exact_text_of_another_document_are_refused(
    run: Run, diary: str, fresh: str, tmp_path: Path
) -> None:
    file = tmp_path / "lines.jsonl"
    lines = export(run, diary, file)
    texts = [line for line in lines if line.get("kind") == "version" and line.get("text")]
    items = [line for line in texts if line["exact"]]
    plain = next(line for line in texts if not line["exact"])
    items[0]["text"], items[1]["exact"], plain["exact"] = "{", False, True
    items[2]["text"] = "[" * 191 + "]" * 191
    file.write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")

    outcome = run("import", str(file), DATABASE_URL=fresh)

    told = {line.split(": ", 1)[1] for line in outcome.err.splitlines()}
    assert "Bad lines: 4." in outcome.out
    assert told == {
        "an exact text is the JSON of an item with at most 190 levels, and other documents have no "
        "exact text"
    }


def test_parts_of_entries_are_not_lines_of_their_own(run: Run, diary: str, tmp_path: Path) -> None:
    lines = export(run, diary, tmp_path / "lines.jsonl")

    facts = [line["text"] for line in lines if line.get("kind") == "fact"]
    assert not [text for text in facts if "long week" in text or "met Ben" in text]


def test_documents_are_not_imported_twice(run: Run, diary: str, fresh: str, tmp_path: Path) -> None:
    file = tmp_path / "lines.jsonl"
    before = export(run, diary, file)
    succeed(run, "import", str(file), DATABASE_URL=fresh)

    again = [succeed(run, "import", str(file), DATABASE_URL=target) for target in (fresh, diary)]

    for outcome in again:
        assert outcome.out.startswith("Added 0 spaces, 0 entities, 0 facts, 0 relations. ")
        assert "Bad lines" not in outcome.out
    for target in (fresh, diary):
        assert export(run, target, tmp_path / "again.jsonl") == before


@pytest.mark.parametrize(("later", "text"), [(False, "coffee"), (True, "mine")])
def test_of_two_memories_the_text_that_was_changed_last_counts(
    run: Run, diary: str, fresh: str, tmp_path: Path, later: bool, text: str
) -> None:
    file = tmp_path / "lines.jsonl"
    export(run, diary, file)
    with psycopg.connect(fresh) as owner:
        owner.execute("set search_path = textrawl, public")
        owner.execute("select write_identity('self', 'my_wants.md', 'mine')")
        if not later:
            owner.execute("update document_version set modified_at = '2020-01-01Z'")

    succeed(run, "import", str(file), DATABASE_URL=fresh)

    assert fetch(fresh, "select content from read_identity('self')") == [(text,)]
    texts = "select content from document_version v join document d on d.id = document_id"
    kept = fetch(fresh, f"{texts} where path = 'self/my_wants.md' order by 1")
    assert sorted(set(kept)) == [("coffee",), ("mine",), ("tea\r\n",)]


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"kind": "document", "path": "self/../x.md"}, "must be letters, digits, _ and -"),
    ({"kind": "document", "path": "others/x.md"}, "path does not begin with a category"),
    ({"kind": "version", "text": "x" * 1_000_001}, "has more than 1000000 characters"),
    ({"kind": "version", "document": f"{0:08}-0000-4000-8000-{7:012}"}, "is missing"),
    ({"kind": "snapshot", "version": f"{0:08}-0000-4000-8000-{7:012}"}, "is missing"),
    ({"kind": "instance", "id": "a b"}, "id has a wrong form"),
]


def test_a_wrong_line_is_reported_and_the_others_are_imported(
    run: Run, diary: str, fresh: str, tmp_path: Path
) -> None:
    exported = export(run, diary, tmp_path / "lines.jsonl")
    for change, reason in WRONG:
        place = next(at for at, line in enumerate(exported) if line.get("kind") == change["kind"])
        lines = [*exported[:place], exported[place] | change, *exported[place + 1 :]]
        raw = "".join(f"{json.dumps(line)}\n" for line in lines)
        (tmp_path / "wrong.jsonl").write_text(raw, encoding="utf-8")

        outcome = run("import", str(tmp_path / "wrong.jsonl"), DATABASE_URL=fresh)

        assert outcome.code == 1, reason
        assert f"{place + 1}" in outcome.err + outcome.out
        assert reason in outcome.err + outcome.out
        assert fetch(fresh, "select count(*) > 0 from document_version") == [(True,)]
