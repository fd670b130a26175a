"""Anchors: which files they name, what counts as a change, and what is never read."""

import os
import socket
import time
from pathlib import Path

import pytest

from textrawl.host.repository import find_checkout
from textrawl.values.anchors import (
    CHANGED,
    GONE,
    MOST_ANCHORS,
    find_anchors,
    find_changes,
    write_anchor,
)

_LINES = [f"line {number} of the file" for number in range(1, 31)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A repository with a file of thirty lines."""
    (tmp_path / "repo/.git").mkdir(parents=True)
    write(tmp_path / "repo/src/parse.py", _LINES)
    return tmp_path / "repo"


def write(path: Path, lines: list[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines))


def read_change(folder: Path, anchor: str | None) -> str | None:
    assert anchor is not None
    [change] = find_changes(str(folder), [[anchor]])
    return change and change.state


def name_paths(folder: Path, text: str) -> list[str]:
    return [anchor.rpartition(" ")[0] for anchor in find_anchors(str(folder), [text])[0] or []]


def test_lines_are_as_they_were_if_the_file_still_has_them_anywhere(folder: Path) -> None:
    path = folder / "src/parse.py"
    whole, some = (write_anchor(str(folder), f"src/parse.py{end}") for end in ("", ":10-12"))
    for lines, of_whole, of_some in (
        (_LINES, None, None),
        ([*_LINES[20:], "", *_LINES[:20]], CHANGED, None),
        (["new", *_LINES], CHANGED, None),
        ([line + "\r" for line in _LINES[:-1]] + _LINES[-1:], None, None),
        ([*_LINES[:10], "new", *_LINES[10:]], CHANGED, CHANGED),
        (_LINES[:11], CHANGED, CHANGED),
        ([], CHANGED, CHANGED),
    ):
        write(path, lines)
        assert (read_change(folder, whole), read_change(folder, some)) == (of_whole, of_some), lines
    path.rename(folder / "src/other.py")
    assert {read_change(folder, whole), read_change(folder, some)} == {GONE}


def test_paths_of_a_text_that_are_files_are_its_anchors(folder: Path) -> None:
    (folder / "README.md").write_text("read")
    for text, wanted in (
        ("src/parse.py reads the lines", ["src/parse.py"]),
        ("see `src/parse.py:4`, ./README.md.", ["src/parse.py:4-4", "README.md"]),
        ("(src/parse.py:4-9) and src/parse.py#L4-L9", ["src/parse.py:4-9"]),
        ("src/parse.py:99 is too far", ["src/parse.py"]),
        ("at https://acme.org/src/parse.py, /src/parse.py or ../src/parse.py", []),
        ("src parse.py README is e.g. no file, and src/ neither", []),
        ("~/src/parse.py a\\src/parse.py src/parse.pyc", []),
        ("after thirty words, " * 10 + "it is in src/parse.py", ["src/parse.py"]),
    ):
        assert name_paths(folder, text) == wanted, text
    for number in range(9):
        (folder / f"{number}.txt").write_text("text")
    assert len(name_paths(folder, " ".join(f"{n}.txt" for n in range(9)))) == MOST_ANCHORS


def test_a_hostile_anchor_reads_nothing_and_says_nothing(folder: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    write(outside / "secret.txt", ["secret"])
    (folder / "out").symlink_to(outside)
    (folder / "link.txt").symlink_to(outside / "secret.txt")
    (folder / "near.txt").symlink_to("src/parse.py")
    (folder / "null").symlink_to("/dev/zero")
    os.mkfifo(folder / "fifo")
    (folder / "sparse").touch()
    os.truncate(folder / "sparse", 1 << 40)
    (folder / ".env.local").write_text("PASSWORD=hunter2")
    (folder / ".git/config").write_text("[core]")
    (folder / "locked").touch(mode=0)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(os.path.relpath(folder / "socket"))
    places = (
        *("../outside/secret.txt", "src/../../outside/secret.txt", f"{outside}/secret.txt"),
        *("out/secret.txt", "link.txt", "near.txt", "null", "fifo", "sparse", "socket", "src"),
        *("", ".", "/", "//", "src/", "src//parse.py", "./src/parse.py", "src/parse.py\0", "\0"),
        *("/dev/zero", "/proc/self/mem", "/etc/passwd", ".env.local", ".git/config", "a" * 5000),
        *("src/parse.py/x", "src/parse.py:0-3", "src/parse.py:9-3", "src/parse.py:30-31", "\ud800"),
    )
    begun = time.monotonic()
    for place in places:
        assert write_anchor(str(folder), place) is None, place
        # Whoever writes to a shared space can write any text as an anchor.
        if place.partition(":")[0] != "src/parse.py":
            for anchor in (f"{place} {'0' * 16}", f"{place}:1-9999999 {'0' * 16}", place):
                assert read_change(folder, anchor) in {None, GONE}, place
    for forged in ("out/secret.txt", "link.txt", "null", "fifo", "sparse", "src", "../outside/x"):
        assert read_change(folder, f"{forged} {'0' * 16}") is None, forged
    assert time.monotonic() - begun < 2


def test_files_of_secrets_are_known_by_their_names_in_any_case(folder: Path) -> None:
    secret = (".Env", ".npmrc", ".pgpass", ".netrc", "id_rsa.old", "tls.pem", "TLS.KEY", ".GIT/x")
    for name in secret:
        write(folder / name, ["PASSWORD=hunter2"])
        assert write_anchor(str(folder), name) is None, name
    assert name_paths(folder, " ".join(secret)) == []


def test_a_blank_line_in_a_file_of_blank_lines_is_looked_for_in_little_time(folder: Path) -> None:
    (folder / "blank").write_text("\n" * 120_000)
    anchor = write_anchor(str(folder), "blank:1-60000")
    assert anchor is not None
    begun = time.monotonic()

    assert read_change(folder, f"{anchor[:-8]}00000000") == CHANGED
    assert time.monotonic() - begun < 1


def test_the_folder_of_a_repository_is_a_real_one(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(folder)
    (tmp_path / "plain").mkdir()
    (folder / ".git/HEAD").write_text("ref: refs/heads/main")
    anchor = write_anchor(str(folder), "src/parse.py")

    assert find_checkout(tmp_path / "link/src") == str(folder)
    assert find_checkout(tmp_path / "plain") is None
    assert read_change(tmp_path / "link", f"src/parse.py {'0' * 16}") is None
    folder.rename(tmp_path / "moved")
    assert read_change(folder, anchor) is None


def test_comparing_a_fact_with_its_file_takes_less_than_a_millisecond(folder: Path) -> None:
    lines = [f"    value_{number} = compute({number})" for number in range(2000)]
    write(folder / "long.py", lines)
    anchor = write_anchor(str(folder), "long.py:1000-1020")
    assert anchor is not None
    for moved in (lines, ["", *lines], lines[:1010]):
        write(folder / "long.py", moved)
        times: list[float] = []
        for _ in range(50):
            begun = time.perf_counter()
            read_change(folder, anchor)
            times.append(time.perf_counter() - begun)
        assert min(times) < 0.001, len(moved)
