"""Files that are wrong, in a line or as a whole: told, never stored, and nothing good is lost."""

import os
from pathlib import Path
from typing import Any

from tests.archive.conftest import list_names
from tests.archive.material import ENTITY, FACT, SPACE, fetch, number, write_file
from tests.support.commands import Run

PAIR = {
    "kind": "dismissal", "space": "default", "id": number(3, 1), "candidate": "same",
    "one": ENTITY["id"], "other": ENTITY["id"], "author": "ana", "tool": "sql",
    "created_at": FACT["created_at"],
}  # fmt: skip
BAD: list[tuple[dict[str, Any] | bytes, str]] = [
    (b"{not json", "not JSON"),
    (b"[1]", "not a JSON object"),
    (b'{"kind": "fact", "text": "\xff"}', "not JSON"),
    (b'{"kind": "fact", "text": "\\ud800"}', "not JSON"),
    (b'{"kind": "fact", "confidence": NaN}', "not JSON"),
    (b"[" * 5_000, "not JSON"),
    ({"kind": "secret"}, "kind must be one of"),
    ({"kind": ["fact"]}, "kind must be one of"),
    ({key: value for key, value in FACT.items() if key != "text"}, "text is missing"),
    (FACT | {"text": "x" * 2_001}, "text has more than 2000"),
    (FACT | {"text": "  "}, "text is empty"),
    (FACT | {"text": "\0\u202e"}, "text is empty"),
    (FACT | {"text": 7}, "text should be a valid string"),
    (FACT | {"confidence": 1.5}, "confidence should be less"),
    (FACT | {"confidence": True}, "confidence should be a valid number"),
    (FACT | {"confidence": "1"}, "confidence should be a valid number"),
    (FACT | {"source": "rumour"}, "source should be"),
    (FACT | {"id": "7"}, "id has a wrong form"),
    (FACT | {"id": "' or 1 = 1; --"}, "id has a wrong form"),
    (FACT | {"valid_until": "infinity"}, "valid_until must be"),
    (FACT | {"valid_from": "0044-03-15 BC"}, "valid_from must be"),
    (FACT | {"created_at": 12}, "created_at must be"),
    (FACT | {"created_at": None}, "created_at must be"),
    (FACT | {"author": ""}, "author is empty"),
    (FACT | {"path": "../../etc/passwd"}, "path is unknown"),
    (FACT | {"space": "../etc"}, "space has a wrong form"),
    (FACT | {"space": "elsewhere"}, "there is no space elsewhere"),
    (FACT | {"entity": number(1, 77)}, "refers to is missing"),
    (FACT | {"id": number(2, 2), "text": "likes beer"}, "another fact here has this id"),
    (FACT | {"id": number(2, 5), "text": "x", "vector": "AAAA"}, "first line names no model"),
    (ENTITY | {"entity_type": "ghost"}, "entity_type should be"),
    (ENTITY | {"id": number(1, 8), "name": "\u200b"}, "name is empty"),
    (ENTITY | {"name": "Bob"}, "another entity here has this id"),
    (ENTITY | {"id": number(1, 8), "name": "Zed", "metadata": {"a": "\0"}}, "database refuses it"),
    (FACT | {"id": number(2, 6), "text": "x", "whole": number(9, 1)}, "whole and part"),
    (PAIR, "database refuses it"),
    (PAIR | {"other": number(1, 77)}, "refers to is missing"),
]  # fmt: skip


def test_bad_lines_are_told_by_number_and_good_ones_kept(
    run: Run, fresh: str, tmp_path: Path
) -> None:
    good = [
        FACT | {"id": number(2, 100 + place), "text": f"fact {place}"} for place in range(len(BAD))
    ]
    first = FACT | {"id": number(2, 2)}
    lines = [SPACE, ENTITY, first]
    for (bad, _), kept in zip(BAD, good, strict=True):
        lines += [bad, kept]  # pyright: ignore[reportArgumentType]
    report = tmp_path / "report.txt"

    outcome = run(
        "import", write_file(tmp_path, *lines), "--report", str(report), DATABASE_URL=fresh
    )

    assert outcome.code == 1
    output = dict(line.split(": ", 1) for line in report.read_text().splitlines())
    for place, (_, reason) in enumerate(BAD):
        assert reason in output.pop(f"line {5 + 2 * place}")
    assert output == {}
    assert f"Bad lines: {len(BAD)}." in outcome.out
    assert f"{len(good) + 1} facts" in outcome.out
    assert len(outcome.err.splitlines()) == 21
    assert f"and {len(BAD) - 20} more: --report" in outcome.err
    stored = {text for (text,) in fetch(fresh, "select content from observation")}
    assert stored == {"likes tea", *(fact["text"] for fact in good)}


def test_a_truncated_file_is_imported_and_said_to_be_cut_off(
    run: Run, fresh: str, tmp_path: Path
) -> None:
    file = Path(write_file(tmp_path, SPACE, ENTITY, FACT))
    whole = file.read_bytes()
    without_end, without_fact = (
        whole.splitlines(keepends=True)[:-1],
        whole.splitlines(keepends=True),
    )
    del without_fact[3]

    for lines in (without_end, without_fact):
        file.write_bytes(b"".join(lines))
        outcome = run("import", str(file), DATABASE_URL=fresh)
        assert outcome.code == 1
        assert "The file is incomplete" in outcome.err
    assert fetch(fresh, "select content from observation") == [("likes tea",)]


def test_a_file_that_is_no_export_is_refused(run: Run, fresh: str, tmp_path: Path) -> None:
    texts = [
        b"", b"\n", b"{}", b"PGDMP\x01", b'{"textrawl": "export", "version": 2}',
        b'{"textrawl": "export", "version": 1, "include": "/etc/passwd"}',
    ]  # fmt: skip
    for text in texts:
        (tmp_path / "other").write_bytes(text)
        outcome = run("import", str(tmp_path / "other"), DATABASE_URL=fresh)
        assert outcome.code == 1
        assert outcome.complaint.startswith("Nothing was imported: ")


def test_a_missing_file_and_a_report_over_the_file_are_refused(
    run: Run, fresh: str, tmp_path: Path
) -> None:
    file = write_file(tmp_path, SPACE)
    assert "cannot be read" in run("import", f"{file}.no", DATABASE_URL=fresh).complaint
    before = Path(file).read_bytes()
    outcome = run("import", file, "--report", file, DATABASE_URL=fresh)
    assert "exists already" in outcome.complaint
    assert Path(file).read_bytes() == before


def test_only_regular_files_and_stdin_are_imported(run: Run, fresh: str, tmp_path: Path) -> None:
    """A FIFO without a writer and a device without end would be read for ever."""
    os.mkfifo(tmp_path / "pipe.jsonl")
    refusal = "is not a regular file: name a file, or"
    for place, reason in {"pipe.jsonl": refusal, "/dev/zero": refusal, ".": "has no files"}.items():
        outcome = run("import", str(tmp_path / place), DATABASE_URL=fresh)
        assert outcome.code == 1
        assert f"{tmp_path / place} {reason}" in outcome.complaint


def test_a_fact_whose_successor_is_nowhere_is_stored_and_told(
    run: Run, fresh: str, tmp_path: Path
) -> None:
    lost = FACT | {"replaced_by": number(2, 404), "valid_until": FACT["created_at"]}

    outcome = run("import", write_file(tmp_path, SPACE, ENTITY, lost), DATABASE_URL=fresh)

    assert outcome.code == 1
    assert outcome.err == "line 4: replaced_by names no fact: stored without a replacement\n"
    assert "1 fact, 0 relations" in outcome.out
    assert fetch(fresh, "select content, replaced_by from observation") == [("likes tea", None)]


PATHS = ["../../etc/passwd", "/etc/passwd", "..\\\\..\\\\x", "file:///etc/passwd", "~/.ssh/id_rsa",
         "link/../../x", "%2e%2e%2f", "a/../../b", "|id", "$(id)"]  # fmt: skip


def test_no_path_in_a_file_is_opened(run: Run, fresh: str, tmp_path: Path) -> None:
    lines: list[dict[str, Any] | bytes] = [SPACE, ENTITY]
    lines += [SPACE | {"name": path} for path in PATHS]
    lines += [
        FACT | {"id": number(2, 50 + place), "text": path, "tool": path, "client": path}
        for place, path in enumerate(PATHS)
    ]
    (tmp_path / "link").symlink_to("/etc")
    before = list_names(tmp_path)

    outcome = run("import", write_file(tmp_path, *lines), DATABASE_URL=fresh)

    assert f"Bad lines: {len(PATHS)}." in outcome.out
    stored = {text for (text,) in fetch(fresh, "select content from observation")}
    assert stored == set(PATHS)
    assert list_names(tmp_path) == sorted([*before, "lines.jsonl"])
