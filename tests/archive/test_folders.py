"""Notes of one path in two folders stay two, and a folder that has moved stays one."""

import shutil
from pathlib import Path

import pytest

from tests.archive.material import fetch
from tests.archive.samples import write_files
from tests.support.commands import Outcome, Run

FEES = """
    select f.content from fact f join space s on s.id = f.space_id
    where s.name = 'default' and f.content like 'fee%' and f.valid_until is null order by 1
"""
TEXTS = "select content from document_version where content like '%sails%' order by version"
HOME = {
    ".obsidian/app.json": "{}",
    "README.md": "---\nfee: 70 euro\n---\nHome sails north.",
    "index.md": "[[README]] of the home",
    "trips/Kiel.md": "Kiel sails at four.",
}
WORK = {
    ".obsidian/app.json": "{}",
    "plans/Ann.md": "---\nrole: cook\n---\n",
    "plans/Bo.md": "---\nrole: mate\n---\n",
    "README.md": "---\nfee: 90 euro\n---\nWork sails south.",
    "index.md": "[[README]] of the work",
}


@pytest.fixture
def bring(run: Run, fresh: str) -> "Bring":
    run("space", "create", "documents", "--tier", "personal", DATABASE_URL=fresh)
    return Bring(run, fresh)


class Bring:
    """Imports into one memory."""

    def __init__(self, run: Run, database: str) -> None:
        self.run, self.database = run, database

    def __call__(self, path: Path, *options: str) -> Outcome:
        done = self.run("import", str(path), "--yes", *options, DATABASE_URL=self.database)
        assert done.code == 0, done
        return done

    def read(self) -> tuple[list[str], list[str]]:
        """The fees and the texts that the memory has."""
        fees, texts = fetch(self.database, FEES), fetch(self.database, TEXTS)
        return [fee for (fee,) in fees], [text for (text,) in texts]


BOTH = ["fee: 70 euro", "fee: 90 euro"], [
    "Home sails north.", "Kiel sails at four.", "Work sails south."
]  # fmt: skip


def test_two_vaults_with_notes_of_the_same_paths_lose_nothing(bring: Bring, tmp_path: Path) -> None:
    home, work = write_files(tmp_path / "home", HOME), write_files(tmp_path / "work", WORK)
    bring(home)

    second = bring(work)

    assert f"{work} is another folder than before: notes of one path stay two." in second.err
    assert bring.read() == BOTH
    for folder in (home, work):
        again = bring(folder)
        assert "unchanged" in again.out, again
        assert "is another" not in again.err
        assert "no longer" not in again.out + again.err
    assert bring.read() == BOTH


def test_a_changed_note_of_a_second_vault_replaces_its_own_former_text(
    bring: Bring, tmp_path: Path
) -> None:
    bring(write_files(tmp_path / "home", HOME))
    work = write_files(tmp_path / "work", WORK)
    bring(work)

    bring(write_files(work, {"README.md": "---\nfee: 95 euro\n---\nWork sails west."}))

    fees, texts = bring.read()
    assert fees == ["fee: 70 euro", "fee: 95 euro"]
    assert texts == [*BOTH[1], "Work sails west."]
    assert len(fetch(bring.database, "select from document where path like '%README%'")) == 2


@pytest.mark.parametrize("place", ["elsewhere/home", "renamed", "home.zip"])
def test_a_vault_that_has_moved_is_an_update_of_itself(
    place: str, bring: Bring, tmp_path: Path
) -> None:
    """Later changes are updates too, at the new place."""
    home, moved = write_files(tmp_path / "home", HOME), tmp_path / place
    bring(home)
    moved.parent.mkdir(exist_ok=True)
    if moved.suffix:
        shutil.make_archive(str(moved.with_suffix("")), "zip", home)
    else:
        home.rename(moved)

    done = bring(moved)

    assert f"{moved} is taken for {home} at a new place: most notes are the same." in done.err
    assert "3 unchanged" in done.out
    if moved.is_dir():
        bring(write_files(moved, {name: f"{text}\nmore" for name, text in HOME.items()}))
        assert len(fetch(bring.database, "select from document where kind = 'source'")) == 3


def test_a_part_of_a_vault_is_a_part_of_it(bring: Bring, tmp_path: Path) -> None:
    home = write_files(tmp_path / "home", HOME)
    bring(home)
    write_files(home, {"trips/Kiel.md": "Kiel sails at five."})

    done = bring(home / "trips")

    assert "Obsidian in documents: 1 changed." in done.out
    bring(home / "trips" / "Kiel.md")
    assert len(fetch(bring.database, "select from document where kind = 'source'")) == 3


def test_rules_of_two_projects_do_not_replace_each_other(bring: Bring, tmp_path: Path) -> None:
    for name, tool in (("gull", "npm"), ("tern", "uv")):
        file = {"CLAUDE.md": f"## Build\n\n- use {tool}\n"}
        bring(write_files(tmp_path / name, file) / "CLAUDE.md")

    query = "select e.name, f.content from fact f join entity e on e.id = f.entity_id order by 1"
    assert fetch(bring.database, query) == [("gull", "Build: use npm"), ("tern", "Build: use uv")]


def test_a_vault_of_an_older_memory_stays_one_and_a_second_one_is_another(
    bring: Bring, tmp_path: Path
) -> None:
    """Runs of older versions have no folder, so most items must be known."""
    home, work = write_files(tmp_path / "home", HOME), write_files(tmp_path / "work", WORK)
    bring(home)
    fetch(bring.database, "update import_run set folder = null returning 1")

    assert "is another folder" in bring(work).err
    done = bring(write_files(home, {"README.md": "---\nfee: 70 euro\n---\nHome sails east."}))

    assert "1 changed, 2 unchanged" in done.out
    assert bring.read()[0] == BOTH[0]


def test_a_backup_and_its_restore_keep_folders_apart(
    bring: Bring, run: Run, empty: str, tmp_path: Path
) -> None:
    home, work = write_files(tmp_path / "home", HOME), write_files(tmp_path / "work", WORK)
    bring(home)
    bring(work)
    kept = str(tmp_path / "kept.dump")
    assert run("backup", kept, DATABASE_URL=bring.database).code == 0
    bring.database = empty
    assert run("restore", kept, DATABASE_URL=empty).code == 0

    for folder in (work, home):
        assert "unchanged" in bring(folder).out
    assert bring.read() == BOTH
