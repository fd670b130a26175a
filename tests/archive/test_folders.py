"""Notes of one path in two folders stay two, and a folder that has moved stays one."""

import os
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

    assert f"{moved} is taken for a known folder at a new place: nearly all notes" in done.err
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
    assert "no longer" not in bring(home / "trips" / "Kiel.md").out
    assert "no longer" not in bring(home / "README.md").out
    assert len(fetch(bring.database, "select from document where kind = 'source'")) == 3


def test_a_line_of_a_part_replaces_its_former_text_under_a_permalink(
    bring: Bring, tmp_path: Path
) -> None:
    """basic-memory calls a note main/kiel wherever its file is."""
    note = "---\ntitle: Kiel\ntype: note\npermalink: main/kiel\n---\n\n- [fee] fee is {}\n"
    vault = write_files(tmp_path / "vault", {"trips/Kiel.md": note.format(70)})
    bring(vault, "--from", "basic-memory")
    write_files(vault, {"trips/Kiel.md": note.format(80)})

    bring(vault / "trips", "--from", "basic-memory")

    assert bring.read()[0] == ["fee is 80"]


def test_a_note_beside_a_vault_is_not_the_folder_of_the_vault(bring: Bring, tmp_path: Path) -> None:
    write_files(tmp_path, {"Note.md": "The note sails."})
    bring(tmp_path / "Note.md", "--from", "obsidian")
    bring(write_files(tmp_path / "vault", HOME))

    done = bring((tmp_path / "vault").rename(tmp_path / "vault-2"))

    assert "is taken for a known folder" in done.err
    assert "3 unchanged" in done.out


def test_a_vault_whose_path_is_not_in_utf_8_is_one(bring: Bring, tmp_path: Path) -> None:
    vault = write_files(tmp_path / os.fsdecode(b"caf\xe9"), HOME)
    bring(vault)

    assert "3 unchanged" in bring(vault).out


def test_no_path_of_a_folder_is_kept(bring: Bring, tmp_path: Path) -> None:
    bring(write_files(tmp_path / "Jeff Miller", HOME))
    bring(write_files(tmp_path / "Jeff Miller 2", WORK))

    kept = "select folder from import_run where folder::text like '%Miller%'"
    assert len(fetch(bring.database, "select from import_run")) == 4
    assert fetch(bring.database, kept) == []


def test_rules_of_two_projects_do_not_replace_each_other(bring: Bring, tmp_path: Path) -> None:
    for name, tool in (("gull", "npm"), ("tern", "uv")):
        file = {"CLAUDE.md": f"## Build\n\n- use {tool}\n"}
        bring(write_files(tmp_path / name, file) / "CLAUDE.md")

    query = "select e.name, f.content from fact f join entity e on e.id = f.entity_id order by 1"
    assert fetch(bring.database, query) == [("gull", "Build: use npm"), ("tern", "Build: use uv")]


@pytest.mark.parametrize("more", ["", "## Run\n\n- use make\n"])
def test_a_project_that_began_with_the_rules_of_another_is_another(
    more: str, bring: Bring, tmp_path: Path
) -> None:
    rules = {"CLAUDE.md": "## Build\n\n- use uv\n", "AGENTS.md": "## Test\n\n- use pytest\n"}
    bring(write_files(tmp_path / "gull", rules))
    tern = write_files(tmp_path / "tern", rules | {"CLAUDE.md": rules["CLAUDE.md"] + more})
    bring(tern)

    bring(write_files(tern, {"CLAUDE.md": "## Build\n\n- use npm\n" + more}))

    query = """select distinct e.name, f.content from fact f join entity e on e.id = f.entity_id
        where f.content like 'Build%' and f.valid_until is null order by 1"""
    assert fetch(bring.database, query) == [("gull", "Build: use uv"), ("tern", "Build: use npm")]


def test_two_vaults_of_which_most_notes_differ_are_two(bring: Bring, tmp_path: Path) -> None:
    """Many vaults begin with the notes of one template."""
    same = {f"{name}.md": f"{name} is a rule of each vault." for name in "abcdef"}
    bring(write_files(tmp_path / "home", HOME | same))

    assert "is another folder" in bring(write_files(tmp_path / "work", WORK | same)).err
    assert bring.read() == BOTH


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


def test_two_vaults_of_an_older_memory_stay_as_they_are(bring: Bring, tmp_path: Path) -> None:
    home = write_files(tmp_path / "home", HOME)
    plans = write_files(tmp_path / "plans", {f"{name}.md": f"{name} sails." for name in "abcdef"})
    for folder in (home, plans):  # each is the first folder of its system
        bring(folder, "--from", "obsidian")
        fetch(bring.database, "update import_run set system = 'rules', folder = null returning 1")
    fetch(bring.database, "update import_run set system = 'obsidian' returning 1")

    for folder, number in ((home, 3), (plans, 6)):
        done = bring(folder, "--from", "obsidian")
        assert f"{number} unchanged" in done.out, done
        assert "is another" not in done.err


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
