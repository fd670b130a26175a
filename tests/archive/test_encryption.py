"""Encrypted backups and exports: the right key brings all back, anything else changes nothing."""

import errno
import os
import subprocess
import sys
import threading
from functools import partial
from io import BytesIO
from pathlib import Path
from resource import RLIM_INFINITY, RLIMIT_FSIZE, setrlimit
from subprocess import DEVNULL, PIPE
from traceback import walk_stack
from typing import Any, BinaryIO, cast

import psycopg
import pyrage  # pyright: ignore[reportMissingTypeStubs]
import pytest

from tests.archive.conftest import as_superuser, list_names, read_all, succeed, write_export
from tests.support.commands import Outcome, Run
from textrawl.archive.encryption import read_recipients
from textrawl.settings import read_foreign_environment

WORDS = (b"PGDMP", b"likes", b"observation", b"textrawl")  # shorter ones occur by chance


def make_key(folder: Path) -> tuple[str, str]:
    """A public key, and the file of its private key, as `age-keygen` writes them."""
    identity: Any = cast("Any", pyrage).x25519.Identity.generate()
    file = folder / f"key{len(list_names(folder))}.txt"
    file.write_text(f"# created: 2026-11-26\n# public key: {identity.to_public()}\n{identity}\n")
    return str(identity.to_public()), str(file)


def seal(content: bytes, public: str) -> bytes:
    age: Any = pyrage
    return age.encrypt(content, [age.x25519.Recipient.from_str(public)])


def make_ssh_key(folder: Path) -> tuple[str, str]:
    file = folder / "id_ed25519"
    command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(file)]
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
    return f"{file}.pub", str(file)


def damage(whole: bytes) -> list[bytes]:
    """A file with one byte that is another, in header, middle and end, and files that are cut."""
    places = (30, 150, len(whole) // 2, len(whole) - 3)
    flipped = [whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :] for at in places]
    return [*flipped, *(whole[:size] for size in (100, len(whole) // 2, len(whole) - 1))]


def refuse(run: Run, empty: str, file: Path, *options: str) -> str:
    """Why a file is not restored; the database then is as it was."""
    complaint = run("restore", str(file), *options, DATABASE_URL=empty).complaint
    with psycopg.connect(empty) as owner:
        assert owner.execute("select to_regnamespace('textrawl')").fetchone() == (None,)
    return complaint


@pytest.mark.slow
def test_an_encrypted_backup_comes_back_with_each_key_and_with_nothing_else(
    run: Run, url: str, empty: str, tmp_path: Path
) -> None:
    (public, key), (ssh, ssh_key) = make_key(tmp_path), make_ssh_key(tmp_path)
    _, other = make_key(tmp_path)
    file, before = tmp_path / "out" / "memory.dump", read_all(as_superuser(url))
    file.parent.mkdir()
    encrypt = ["--encrypt", public, "--encrypt", ssh]

    written = succeed(run, "backup", str(file), *encrypt, DATABASE_URL=url)

    assert written.out.endswith(" rows, encrypted.\n")
    whole = file.read_bytes()
    assert not [word for word in WORDS if word in whole]
    assert "name the file of your key" in refuse(run, empty, file)
    assert "is not encrypted for this key" in refuse(run, empty, file, "--identity", other)
    for bad in damage(whole):
        file.write_bytes(bad)
        assert "changed" in refuse(run, empty, file, "--identity", key)
    for foreign in (b"", b"a letter"):
        file.write_bytes(seal(foreign, public))
        assert "is not a backup of textrawl" in refuse(run, empty, file, "--identity", key)
    file.write_bytes(whole)
    succeed(run, "restore", str(file), "--identity", ssh_key, DATABASE_URL=empty)
    assert read_all(as_superuser(empty)) == before
    assert list_names(file.parent) == [file.name]


def test_an_encrypted_export_is_imported_whole_or_not_at_all(
    run: Run, url: str, fresh: str, tmp_path: Path
) -> None:
    public, key = make_key(tmp_path)
    (tmp_path / "team.txt").write_text(f"# the team\n\n{public}\n")
    plain = write_export(run, url, tmp_path / "plain.jsonl")
    file = tmp_path / "memory.age"
    whole = write_export(run, url, file, "--encrypt", str(tmp_path / "team.txt"))
    command = ["import", str(file), "--identity", key]

    assert not [word for word in WORDS if word in whole]
    for bad in damage(whole):
        file.write_bytes(bad)
        outcome = run(*command, DATABASE_URL=fresh)
        assert outcome.code == 1
        assert "changed" in outcome.complaint
    file.write_bytes(seal(b"PGDMP", public))
    assert "which `textrawl restore` reads" in run(*command, DATABASE_URL=fresh).complaint
    file.write_bytes(whole)
    dump = [*command, "--from", "mem0"]
    assert "decrypt it with age first" in run(*dump, DATABASE_URL=fresh).complaint
    with psycopg.connect(fresh) as owner:
        assert owner.execute("select count(*) from textrawl.entity").fetchone() == (0,)
    succeed(run, *command, DATABASE_URL=fresh)
    assert write_export(run, fresh, tmp_path / "again.jsonl") == plain


@pytest.mark.slow
def test_a_passphrase_is_read_from_a_file_and_a_wrong_one_changes_nothing(
    run: Run, url: str, fresh: str, tmp_path: Path
) -> None:
    right, wrong, file = (tmp_path / name for name in ("right", "wrong", "memory.age"))
    right.write_text("correct horse\nnot this line\n")
    wrong.write_text("correct house\n")
    plain = write_export(run, url, tmp_path / "plain.jsonl")
    write_export(run, url, file, "--encrypt", f"passphrase:{right}")

    asked = run("import", str(file), DATABASE_URL=fresh)
    refused = run("import", str(file), "--identity", f"passphrase:{wrong}", DATABASE_URL=fresh)
    (tmp_path / "cut.age").write_bytes(file.read_bytes()[:-1])
    (tmp_path / "odd.age").write_bytes(b"-----BEGIN AGE ENCRYPTED FILE-----\nA\nB\n")
    cut, odd = (
        run("import", str(tmp_path / name), "--identity", f"passphrase:{right}", DATABASE_URL=fresh)
        for name in ("cut.age", "odd.age")
    )
    succeed(run, "import", str(file), "--identity", f"passphrase:{right}", DATABASE_URL=fresh)

    assert "to ask for a passphrase: use --identity passphrase:FILE" in asked.complaint
    assert "the passphrase is wrong" in refused.complaint
    assert "or the file was changed or cut" in cut.complaint
    assert "name the file of your key" in odd.complaint
    assert write_export(run, fresh, tmp_path / "again.jsonl") == plain


def test_what_is_no_key_is_refused_before_anything_is_written(run: Run, tmp_path: Path) -> None:
    public, private = make_key(tmp_path)
    nothing, damaged = tmp_path / "nothing", tmp_path / "damaged"
    nothing.write_text("# no key\n")
    damaged.write_text("AGE-SECRET-KEY-1QQQ\n")
    file = tmp_path / "memory.dump"
    before = list_names(tmp_path)
    refusals = {
        ("",): "--encrypt is empty",
        (private,): "has a private key: use the public key",
        (str(nothing),): "has no public key",
        (str(tmp_path / "missing"),): "cannot be read: No such file",
        (public[:-1],): "which is no public key of age",
        ("ssh-ed25519 AAAA",): "which is no public key of age",
        ("passphrase",): "There is no terminal to ask",
        (f"passphrase:{os.devnull}",): "The passphrase is empty",
        ("passphrase", public): "either a passphrase or public keys",
    }

    for command in (["backup", str(file)], ["export", str(file)]):
        for keys, reason in refusals.items():
            options = [word for key in keys for word in ("--encrypt", key)]
            assert reason in run(*command, *options).complaint
    unread = "has no private key that can be read"
    for key, reason in {str(damaged): unread, str(nothing): unread, "": "is empty"}.items():
        assert reason in run("restore", str(file), "--identity", key).complaint
    assert "is for an encrypted file" in run("import", str(tmp_path), "--identity", "x").complaint
    folder = run("export", str(tmp_path), "--to", "obsidian", "--encrypt", public)
    assert "--encrypt is for a single file" in folder.complaint
    assert list_names(tmp_path) == before


def test_an_encrypted_file_beside_files_that_are_imported_is_named(
    run: Run, tmp_path: Path
) -> None:
    (tmp_path / "tea.md").write_text("Tea is served at four.\n")
    (tmp_path / "diary.jsonl.age").write_bytes(b"age-encryption.org/v1\n-> X25519 c2FsdA\n")

    planned = run("import", str(tmp_path), "--dry-run", "--yes")

    assert "diary.jsonl.age is encrypted and left out: name the file itself" in planned.err
    assert (planned.code, "1 entity, 1 note" in planned.err) == (0, True)


def test_a_passphrase_is_asked_for_before_the_memory_is_opened(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "memory.dump"
    file.write_bytes(b"age-encryption.org/v1\n-> scrypt c2FsdA 18\n")

    asked = run("restore", str(file), DATABASE_URL="postgresql://127.0.0.1:1/nowhere")

    assert "use --identity passphrase:FILE" in asked.complaint


class FullDisk(BytesIO):
    """A disk that is full, as it turns out when the thread of the test waits for the last write."""

    def __init__(self) -> None:
        super().__init__()
        self._waiting = threading.get_ident()

    def write(self, _: Any) -> int:
        names = set[str]()
        while "exception" not in names:
            frames = walk_stack(sys._current_frames()[self._waiting])  # pyright: ignore[reportPrivateUsage]
            names = {frame.f_code.co_name for frame, _ in frames}
        raise OSError(errno.ENOSPC, "No space left on device")


def test_a_disk_that_is_full_at_the_last_write_is_an_error(tmp_path: Path) -> None:
    public, _ = make_key(tmp_path)
    recipients = read_recipients([public], str)
    assert recipients is not None

    with pytest.raises(OSError, match="No space left"), recipients.encrypt(FullDisk()) as content:
        content.write(b"a fact")


def start(
    environment: dict[str, str],
    *arguments: str,
    stdin: int | BinaryIO = DEVNULL,
    stdout: BinaryIO,
    most: int = RLIM_INFINITY,
) -> Outcome:
    """Run a command that may write files of at most `most` bytes."""
    done = subprocess.run(
        [sys.executable, "-m", "textrawl", *arguments],
        stdin=stdin,
        stdout=stdout,
        stderr=PIPE,
        env=environment,
        text=True,
        check=False,
        preexec_fn=partial(setrlimit, RLIMIT_FSIZE, (most, RLIM_INFINITY)),
    )
    return Outcome(done.returncode, "", done.stderr)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a full device")
def test_what_cannot_be_written_encrypted_or_is_piped_back_says_why(
    url: str, tmp_path: Path
) -> None:
    public, key = make_key(tmp_path)
    environment = read_foreign_environment() | {"DATABASE_URL": url, "DATA_DIR": str(tmp_path)}

    with Path("/dev/full").open("wb") as full:
        failed = start(environment, "export", "--encrypt", public, stdout=full)
    with (tmp_path / "memory.age").open("wb") as out:
        start(environment, "export", "--encrypt", public, stdout=out)
        with (tmp_path / "memory.age").open("rb") as back:
            refused = start(environment, "import", "-", "--identity", key, stdin=back, stdout=out)

        backup = ["backup", str(tmp_path / "b.dump"), "--encrypt", public]
        limited = start(environment, *backup, stdout=out, most=1 << 18)

    assert (failed.code, "No space left on device" in failed.err) == (1, True)
    assert "b.dump cannot be written: File too large. Name a file" in limited.err
    assert not list(tmp_path.glob("b.dump*"))
    assert (refused.code, "cannot come from stdin: name the file" in refused.err) == (1, True)
