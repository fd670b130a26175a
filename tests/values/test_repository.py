"""Identities of repositories: read from `.git`, without running git."""

import os
import subprocess
import time
import zlib
from collections.abc import Callable
from hashlib import sha1
from pathlib import Path

import pytest

from textrawl.host.repository import find_repository
from textrawl.values.remotes import normalise_remote

_DAY = 86_400


def write_commit(git: Path, text: str, parent: str = "", day: int = 1) -> str:
    """Write a commit as Git does, and return its name."""
    when = f"Ann <ann@example.org> {day * _DAY} +0000"
    parents = f"parent {parent}\n" if parent else ""
    body = f"tree {'0' * 40}\n{parents}author {when}\ncommitter {when}\n\n{text}\n".encode()
    content = b"commit %d\0" % len(body) + body
    name = sha1(content, usedforsecurity=False).hexdigest()
    path = git / "objects" / name[:2] / name[2:]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(zlib.compress(content))
    return name


def make_repository(folder: Path, remote: str = "", first: str = "", *, bare: bool = False) -> Path:
    """Write the files of a repository. Return its Git directory."""
    git = folder if bare else folder / ".git"
    (git / "refs/heads").mkdir(parents=True)
    (git / "objects").mkdir()
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    url = f'[remote "origin"]\n\turl = {remote}\n' if remote else ""
    (git / "config").write_text(f"[core]\n\tbare = false\n{url}")
    if first:
        write_branch(git, "main", write_commit(git, first))
    return git


def write_branch(git: Path, name: str, commit: str) -> None:
    (git / "refs/heads" / name).write_text(f"{commit}\n")


def belongs(stored: Path, asking: Path) -> bool:
    """Return whether a session in `asking` has the facts that one in `stored` wrote."""
    [first, *_] = find_repository(stored)
    return first.partition("#")[0] in {key.partition("#")[0] for key in find_repository(asking)}


def are_one(*folders: Path) -> bool:
    return all(belongs(one, other) for one in folders for other in folders)


def test_all_ways_to_write_a_remote_are_one_and_others_are_none() -> None:
    one = [
        "git@github.com:Acme/API.git",
        "https://github.com/acme/api",
        "https://ann:secret@github.com/acme/api.git/",
        "ssh://git@github.com:22/acme/api.git",
        "ssh://git@github.com:2222/acme/api",
        "git://github.com/acme//api.git",
        "github.com:acme/api",
    ]

    assert {normalise_remote(url) for url in one} == {"github.com/acme/api"}
    for other in ("https://github.com/acme/api-v2", "https://gitlab.com/acme/api"):
        assert normalise_remote(other) not in {"github.com/acme/api", None}
    odds = (
        "/srv/api.git", "../api", "file:///srv/api", "ext::sh -c id", "https://[", "a b:c", "",
        "https://example.org", "https://example.org/../x", f"h:{'x' * 400}",
    )  # fmt: skip
    for odd in odds:
        assert normalise_remote(odd) is None, odd


def test_the_table_of_identities(tmp_path: Path) -> None:
    remote, made = "https://github.com/acme/api", tmp_path.joinpath
    git = make_repository(made("api"), remote, "one")
    make_repository(made("clone"), "git@github.com:acme/api.git", "one")
    shallow = make_repository(made("shallow"), remote)
    tip = write_commit(shallow, "two", "1" * 40)
    (shallow / "shallow").write_text(f"{tip}\n")
    write_branch(shallow, "main", tip)
    linked = git / "worktrees/w"
    linked.mkdir(parents=True)
    (linked / "commondir").write_text("../..\n")
    (linked / "HEAD").write_text("ref: refs/heads/other\n")
    made("worktree/deep").mkdir(parents=True)
    made("worktree/.git").write_text(f"gitdir: {linked}\n")
    make_repository(made("fork"), "https://github.com/ben/api", "one")
    make_repository(made("template"), "https://github.com/ben/new", "another")
    make_repository(made("elsewhere/api"), "https://github.com/other/api", "third")
    module = make_repository(git / "modules/lib", "https://github.com/acme/lib", "lib", bare=True)
    made("api/lib").mkdir()
    made("api/lib/.git").write_text(f"gitdir: {module}\n")
    make_repository(made("bare.git"), remote, "one", bare=True)
    same = [made(name) for name in ("api", "clone", "shallow", "worktree/deep", "bare.git")]
    others = [made(name) for name in ("fork", "template", "elsewhere/api", "api/lib")]

    assert are_one(*same)
    for other in others:
        assert not any(belongs(one, other) or belongs(other, one) for one in same), other
    made("api").rename(made("renamed"))
    assert are_one(made("renamed"), made("clone"))


def test_without_a_remote_the_first_commit_counts_and_before_it_the_folder(tmp_path: Path) -> None:
    empty, copy, other = (tmp_path / name for name in ("empty", "copy", "other"))
    git = make_repository(empty)
    [before] = find_repository(empty)
    first = write_commit(git, "one")
    write_branch(git, "main", write_commit(git, "two", first))
    make_repository(copy, "", "one")
    make_repository(other, "", "not one")

    assert before.startswith("folder:")
    assert find_repository(empty) == [f"commit:{first}#empty", before]
    assert are_one(empty, copy)
    assert not belongs(other, empty)
    # What was stored before belongs to it still, when it gets a remote.
    (git / "config").write_text('[remote "origin"]\nurl = git@example.org:a/b\n')
    assert find_repository(empty) == ["example.org/a/b", f"commit:{first}#empty", before]
    # And with another remote it is another repository.
    (git / "config").write_text('[remote "origin"]\nurl = git@example.org:a/c\n')
    assert find_repository(empty)[0] == "example.org/a/c"


def test_of_two_first_commits_the_older_counts_on_each_branch(tmp_path: Path) -> None:
    git = make_repository(tmp_path / "two", "", "old")
    [before, *_] = find_repository(tmp_path / "two")
    write_branch(git, "pages", write_commit(git, "pages", day=9))
    (git / "HEAD").write_text("ref: refs/heads/pages\n")

    assert find_repository(tmp_path / "two")[0] == before


def test_a_clone_of_a_folder_is_one_with_it(tmp_path: Path) -> None:
    make_repository(tmp_path / "central.git", "", "one", bare=True)
    make_repository(tmp_path / "mine", str(tmp_path / "central.git"), "one")
    make_repository(tmp_path / "hers", f"file://{tmp_path}/central", "one")
    loop = make_repository(tmp_path / "loop", str(tmp_path / "back"), "loop")
    make_repository(tmp_path / "back", str(loop.parent), "back")

    assert are_one(tmp_path / "central.git", tmp_path / "mine", tmp_path / "hers")
    assert find_repository(tmp_path / "loop")


@pytest.fixture
def git(tmp_path: Path) -> list[str]:
    """Return the beginning of commands of git."""
    try:
        subprocess.run(["git", "--version"], check=True, capture_output=True)
    except OSError:
        pytest.skip("git is not installed")
    return [
        "git", "-C", str(tmp_path), "-c", "user.name=A", "-c", "user.email=a@example.org",
        "-c", "init.defaultBranch=main", "-c", "protocol.file.allow=always",
    ]  # fmt: skip


def test_what_git_itself_writes_is_read(tmp_path: Path, git: list[str]) -> None:
    def run(*words: str) -> str:
        return subprocess.run([*git, *words], check=True, capture_output=True, text=True).stdout

    run("init", "-q", "api")
    for number in range(80):  # of one size, so that gc makes deltas
        run("-C", "api", "commit", "-q", "--allow-empty", "-m", f"{number} {'word ' * 300}")
    first = run("-C", "api", "rev-list", "--max-parents=0", "HEAD").strip()
    loose = find_repository(tmp_path / "api")
    run("-C", "api", "gc", "-q", "--aggressive")
    run("clone", "-q", f"file://{tmp_path}/api", "clone")
    run("clone", "-q", "--depth", "1", f"file://{tmp_path}/api", "shallow")
    run("clone", "-q", "--shared", "api", "shared")
    run("clone", "-q", "--bare", "api", "bare.git")
    run("-C", "api", "worktree", "add", "-q", "../tree")

    assert loose[0] == f"commit:{first}#api"
    assert not list((tmp_path / "api/.git/objects").glob("[0-9a-f][0-9a-f]/*"))
    assert find_repository(tmp_path / "api") == loose
    folders = [
        tmp_path / name for name in ("api", "clone", "shallow", "shared", "bare.git", "tree")
    ]
    assert are_one(*folders)
    for name in ("clone", "shared"):  # alone, by their packs
        run("-C", name, "remote", "remove", "origin")
        assert find_repository(tmp_path / name)[0] == f"commit:{first}#{name}"


def write_bombs(make: Callable[[str], Path]) -> None:
    """Write repositories whose objects are not what they seem."""
    bomb = make("bomb")
    for place in (bomb / "objects").glob("??/*"):
        place.write_bytes(zlib.compress(b"commit 9\0" + bytes(100 << 20)))
    pack = make("pack") / "objects/pack"
    pack.mkdir()
    (pack / "x.idx").write_bytes(b"\xfftOc\0\0\0\2" + b"\xff" * 2000)
    ring = make("ring")
    write_branch(ring, "main", "0" * 40)
    long = f'[remote "origin"]\nurl = a{" " * 10**6}b\n'
    (make("long") / "config").write_text(long)


def test_a_file_that_leads_nowhere_is_no_repository(tmp_path: Path) -> None:
    (tmp_path / "loop").mkdir()
    for text in (".git", "../loop/.git", "/dev/zero", "", "x" * 9000, "\0"):
        (tmp_path / "loop/.git").write_text(f"gitdir: {text}")
        assert find_repository(tmp_path / "loop") == [], text


def test_a_hostile_folder_runs_nothing_and_is_read_in_no_time(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text('[remote "origin"]\n url = git@example.org:stolen/name\n')

    def make(name: str) -> Path:
        return make_repository(tmp_path / name, "", "one")

    config = make("runs") / "config"
    config.write_text(
        f"[core]\nfsmonitor = touch {tmp_path}/ran\nsshCommand = touch {tmp_path}/ran\n"
        f"[include]\npath = {secret}\n[alias]\nx = !touch {tmp_path}/ran\n"
        f'[remote "origin"]\nurl = ext::sh -c touch% {tmp_path}/ran\n'
    )
    for name in ("link", "device", "pipe", "huge", "folder"):
        (make(name) / "config").unlink()
    (tmp_path / "link/.git/config").symlink_to(secret)
    (tmp_path / "device/.git/config").symlink_to("/dev/zero")
    os.mkfifo(tmp_path / "pipe/.git/config")
    with (tmp_path / "huge/.git/config").open("wb") as huge:
        huge.truncate(1 << 40)
    (tmp_path / "folder/.git/config").mkdir()
    write_bombs(make)
    (make("common") / "commondir").write_text("/dev")

    names = ("runs", "link", "device", "pipe", "huge", "folder", "bomb", "pack", "ring", "long")

    began = time.process_time()
    found = {name: find_repository(tmp_path / name) for name in names}

    assert time.process_time() - began < 1
    assert {key[:7] for keys in found.values() for key in keys} == {"commit:", "folder:"}
    assert find_repository(tmp_path / "common") == []
    assert not (tmp_path / "ran").exists()


def test_a_first_commit_is_kept_and_another_repository_in_its_folder_does_not_get_it(
    tmp_path: Path,
) -> None:
    kept, home = tmp_path / "kept", tmp_path / "api"
    kept.mkdir(mode=0o700)
    git = make_repository(home)
    tip = ""
    for number in range(2000):
        tip = write_commit(git, str(number), tip)
    write_branch(git, "main", tip)
    first = find_repository(home, kept)
    began = time.process_time()
    assert [find_repository(home, kept) for _ in range(20)] == [first] * 20
    each = (time.process_time() - began) / 20
    home.rename(tmp_path / "old")
    make_repository(home, "", "another")

    assert first[0].startswith("commit:")
    assert each < 0.005
    assert find_repository(home, kept)[0] not in (first[0], "")
