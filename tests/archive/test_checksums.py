"""A backup that was changed after it was written is refused, and nothing is changed."""

import subprocess
from pathlib import Path

import psycopg
import pytest

from tests.archive.conftest import as_superuser, read_all, succeed, write_backup
from tests.support.commands import Run
from textrawl.archive.backups import add_checksum, find_program, verify_checksum
from textrawl.errors import StartRefused


def test_every_changed_byte_of_a_file_is_noticed(tmp_path: Path) -> None:
    file = tmp_path / "memory.dump"
    file.write_bytes(b"PGDMP" + bytes(range(200)))
    digest = add_checksum(file)
    whole = file.read_bytes()

    assert verify_checksum(file) == digest
    for place in range(len(whole)):
        for change in (0x01, 0x80):
            changed = bytearray(whole)
            changed[place] ^= change
            file.write_bytes(changed)
            with pytest.raises(StartRefused, match="was changed after it was written"):
                verify_checksum(file)


def test_a_cut_or_longer_file_is_noticed(tmp_path: Path) -> None:
    file = tmp_path / "memory.dump"
    file.write_bytes(b"PGDMP" + bytes(range(200)))
    add_checksum(file)
    whole = file.read_bytes()

    for changed in [whole + b"x", whole * 2, *(whole[:-cut] for cut in range(1, 78))]:
        file.write_bytes(changed)
        with pytest.raises(StartRefused, match="was changed after it was written"):
            verify_checksum(file)


@pytest.mark.parametrize("content", [b"", b"PGDMP", bytes(500)])
def test_a_file_without_a_checksum_has_none(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "memory.dump").write_bytes(content)

    assert verify_checksum(tmp_path / "memory.dump") is None


@pytest.mark.slow
def test_a_backup_with_a_changed_byte_is_refused_wherever_the_byte_is(
    run: Run, url: str, empty: str, tmp_path: Path
) -> None:
    file = write_backup(run, url, tmp_path)
    whole = file.read_bytes()
    places = [*range(0, len(whole) // 10, len(whole) // 90), len(whole) // 2, len(whole) - 40]

    for place in places:
        changed = bytearray(whole)
        changed[place] ^= 0x01
        file.write_bytes(changed)
        outcome = run("restore", str(file), DATABASE_URL=empty)
        assert (outcome.code, "its checksum is wrong" in outcome.complaint) == (1, True)
    with psycopg.connect(empty) as owner:
        assert owner.execute("select to_regnamespace('textrawl')").fetchone() == (None,)

    file.write_bytes(whole)
    succeed(run, "restore", str(file), DATABASE_URL=empty)


@pytest.mark.slow
def test_a_backup_without_a_checksum_is_restored_with_a_word(
    run: Run, url: str, empty: str, tmp_path: Path
) -> None:
    file = write_backup(run, url, tmp_path)
    file.write_bytes(file.read_bytes()[: -len("\ntextrawl sha256 \n") - 64])

    restored = succeed(run, "restore", str(file), DATABASE_URL=empty)

    assert "This backup has no checksum" in restored.err
    assert read_all(as_superuser(empty)) == read_all(as_superuser(url))


@pytest.mark.slow
def test_the_programs_of_postgres_read_a_backup_with_a_checksum(
    run: Run, url: str, tmp_path: Path
) -> None:
    file = write_backup(run, url, tmp_path)

    script = subprocess.run(
        [find_program("pg_restore"), "--file=-", file], capture_output=True, check=True
    ).stdout

    assert b"COPY textrawl.observation" in script
