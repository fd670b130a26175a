"""Only regular files are read, up to a size, and as they were at one moment."""

import os
import socket
from pathlib import Path

import pytest

from textrawl.memory import documents
from textrawl.memory.documents import FileRefused, hash_file, open_file, read_file


def test_only_regular_files_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # the path of a socket is short
    os.mkfifo("pipe.md")
    Path("zero.md").symlink_to("/dev/zero")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket.md")
        for name, kind in [
            ("pipe.md", "a FIFO"),
            ("zero.md", "a device"),
            ("socket.md", "a socket"),
            (".", "a folder"),
        ]:
            for read in (hash_file, read_file):
                with pytest.raises(FileRefused, match=f"it is {kind}, not a regular file"):
                    read(Path(name))


def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "notes.md"
    path.write_bytes(b"Tea at four.")

    with open_file(path) as file:
        pieces = file.read()
        next(pieces)
        path.write_bytes(b"Coffee at nine.")
        with pytest.raises(FileRefused, match="changed while it was read"):
            list(pieces)

    assert read_file(path).text == "Coffee at nine."


def test_a_file_that_grows_while_it_is_read_ends_at_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(documents, "MOST_BYTES", 250)
    path = tmp_path / "log.md"
    path.write_bytes(b"x" * 100)

    with open_file(path) as file, path.open("ab", buffering=0) as log:
        pieces = file.read()
        for _ in range(2):
            assert len(next(pieces)) == 100
            log.write(b"x" * 100)
        with pytest.raises(FileRefused, match="larger than"):
            next(pieces)


def test_the_time_of_a_text_is_that_of_its_bytes(tmp_path: Path) -> None:
    path = tmp_path / "notes.md"
    path.write_bytes(b"Tea at four.")
    os.utime(path, (1, 86_400))

    assert read_file(path).changed_at == 86_400
