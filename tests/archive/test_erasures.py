"""`textrawl erase`, its receipts, and backups and exports that are older than an erasure."""

import json
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.archive.conftest import as_superuser, fill, read_all, succeed, write_backup, write_export
from tests.support.commands import Outcome, Run

pytestmark = pytest.mark.slow
_MALFORMED: tuple[tuple[str, object], ...] = (
    ("rows", []),
    ("rows", {"entity": ["Zoe"]}),
    ("rows", {"event": ["\ud800"]}),
    ("space_id", "x"),
    ("erasure", "7"),
    ("at", "2026-13-01T00:00:00Z"),
    ("keep", "all"),
    ("by", float("inf")),
    ("by", "a\0b"),
)


def find(url: str, text: str) -> list[str]:
    """The tables that hold a text."""
    rows = read_all(as_superuser(url))
    return [name for name, lines in rows.items() if any(text in line.casefold() for line in lines)]


def write(url: str, query: str) -> None:
    with psycopg.connect(url) as owner:
        owner.execute("set search_path = textrawl, public")
        owner.execute(query.encode())


def erase(run: Run, url: str, folder: Path, *names: str) -> list[dict[str, Any]]:
    """Erase a person, and return the receipts in the file."""
    file = folder / "zoe.receipts.json"
    succeed(run, "erase", *names, "--yes", "--receipt", str(file), DATABASE_URL=url)
    return json.loads(file.read_text())["receipts"]


@pytest.fixture
def zoe(url: str) -> str:
    """A memory with Zoe in two spaces, with a nickname in one."""
    for query in (
        "select remember_fact('Zoe', 'person', 'hates milk', space => 1)",
        "select name_entity('Zoe', 'Zozo', space => 1)",
        "select remember_fact('Ada', 'person', 'met zozo in Riga', space => 1)",
        "select remember_fact('Zoe', 'person', 'leads', space => 2)",
        "select add_reflection('global', 'on Zoe', 'Bo', space => 1)",
        "select register_actor('Zoe')",
        "select put_item(array['users'], 'a', '{\"of\": \"Zoe\"}', space => 1)",
    ):
        write(url, query)
    return url


def test_a_restore_of_an_older_backup_erases_again(
    run: Run, zoe: str, empty: str, tmp_path: Path
) -> None:
    file = write_backup(run, zoe, tmp_path)
    write(zoe, "select remember_fact('Zoe', 'person', 'moved to Oslo', space => 1)")
    # What was forgotten before the erasure is in the backup too, and no receipt has its id.
    write(zoe, "select forget_entity('Ada', 'met zozo in Riga', space => 1)")
    for options in (("--yes", "--receipt", str(tmp_path / "own.json")), ("--json",)):
        refused = run("erase", "Zoe", *options, DATABASE_URL=zoe)
        assert refused.code == 2, options
    receipts = erase(run, zoe, tmp_path, "Zoe")
    verified = run("erase", "--verify", str(tmp_path / "zoe.receipts.json"), DATABASE_URL=zoe)

    restored = succeed(run, "restore", str(file), DATABASE_URL=empty)

    assert "Applied 2 receipts of erasures again." in restored.err
    assert [receipt["space"] for receipt in receipts] == ["default", "team"]
    assert "zo" not in json.dumps(receipts).casefold()
    assert (verified.code, verified.err.count(": valid")) == (0, 2)
    for place in (zoe, empty):
        assert find(place, "zoe") + find(place, "zozo") == []
    again = run("erase", "--verify", str(tmp_path / "zoe.receipts.json"), DATABASE_URL=empty)
    assert (again.code, again.err.count(": valid")) == (0, 2)
    # The next backup has the receipts beside it, also if nobody kept the file.
    (tmp_path / "zoe.receipts.json").unlink()
    succeed(run, "backup", str(tmp_path / "later.dump"), DATABASE_URL=zoe)
    kept = json.loads((tmp_path / "later.dump.receipts.json").read_text())["receipts"]
    assert sorted(map(json.dumps, kept)) == sorted(map(json.dumps, receipts))


def test_a_changed_receipt_stops_a_restore_and_one_of_another_memory_does_nothing(
    run: Run, zoe: str, empty: str, fresh: str, tmp_path: Path
) -> None:
    file, changed = write_backup(run, zoe, tmp_path), tmp_path / "changed.receipts.json"
    fill(fresh)
    write(
        fresh, "update receipt_secret set secret = sha256('x')"
    )  # databases of tests are copies of one
    assert erase(run, fresh, tmp_path, "Ada")
    unknown = run("erase", "--verify", str(tmp_path / "zoe.receipts.json"), DATABASE_URL=zoe)
    (tmp_path / "own").mkdir()  # where no restore looks
    options = ("--yes", "--json", "--receipt", str(tmp_path / "own" / "own.receipts.json"))
    own = json.loads(succeed(run, "erase", "Zoe", *options, DATABASE_URL=zoe).out)

    def restore(**members: object) -> Outcome:
        receipts = [row["receipt"] | members for row in own]
        changed.write_text(json.dumps({"receipts": receipts}))
        return run("restore", str(file), DATABASE_URL=empty)

    altered = restore(rows={})
    malformed = [restore(**{name: value}) for name, value in _MALFORMED]
    unread = run("erase", "--verify", str(changed), DATABASE_URL=zoe)
    restored = restore(key="0" * 16)  # the signature is still that of the space

    assert (unknown.code, "unknown" in unknown.err) == (1, True)
    assert (altered.code, "was changed" in altered.err) == (1, True)
    for outcome in (*malformed, unread):
        assert "is not a file of receipts" in outcome.err
    assert (restored.code, "Applied" in restored.err) == (0, False)
    assert {"entity", "observation"} <= set(find(empty, "zoe"))


def test_an_import_of_an_older_export_brings_nothing_back_and_what_is_new_stays(
    run: Run, zoe: str, tmp_path: Path
) -> None:
    write_export(run, zoe, file := tmp_path / "old.jsonl")
    erase(run, zoe, tmp_path, "Zoe", "Zozo")
    write(zoe, "select remember_fact('Zoe', 'person', 'is another one', space => 1)")
    write(
        zoe,
        "select save_memory(to_jsonb('is tagged'::text), tags => '{zoe}', entities => '{Zoe}',"
        " space => 1)",
    )

    for _ in range(2):  # also if nothing in the file names her but what the receipt has ids of
        assert run("import", str(file), DATABASE_URL=zoe).out.startswith("Added")
        lines = file.read_text().splitlines(keepends=True)
        file.write_text("".join(line for line in lines if '"Zoe"' not in line))

    facts = read_all(as_superuser(zoe))["observation"]
    for new in ("is another one", "is tagged"):
        assert sum(new in line for line in facts) == 1
    assert not [line for line in facts if "milk" in line or "leads" in line or "zozo" in line]
