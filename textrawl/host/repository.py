"""The repository in which a session works, read from `.git` without running Git.

A repository has up to three keys, the best one first. Facts are stored with the first key, and
belong to a session that has any key equal to theirs:

- its remote: `github.com/acme/api`. Clones, worktrees and renamed folders have the same remote.
  A fork, a copy of a template and a repository of the same name have another one.
- its first commit: `commit:<hash>#<name of the folder>`. It is how a repository without a remote,
  or from the time before it had one, is known again.
- its folder: `folder:<hash of the path>#<name>`. Facts from before the first commit have it.

A key is no right, because anybody can write any `.git`: it only orders what the caller may read.
This module uses only the standard library, because hooks and pipes read it.
"""

import os
import re
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path

from textrawl.host.git_objects import find_first_commit, has_commit, read_text
from textrawl.values.anchors import find_source
from textrawl.values.remotes import clean_name, normalise_remote
from textrawl_client.unix_socket import FolderTaken, require_private

_MOST_COMMITS = 20_000  # half a second; the answer is kept
_FEW_COMMITS = 64  # of a repository with a remote: two milliseconds
_MOST_CLONES = 3  # of clones of clones on this machine
_UNKNOWN = "-"
_SECTION = re.compile(r'\s*\[remote\s+"((?:[^"\\]|\\.)*)"\s*\]', re.IGNORECASE)
_URL = re.compile(r"\s*url\s*=(.*)", re.IGNORECASE)
_LONGEST_LINE = 4096  # characters of a line of the configuration


def find_folder() -> Path:
    """Return the working directory, or the root if it was deleted."""
    try:
        return Path.cwd()
    except OSError:
        return Path("/")


def find_repository(folder: Path, kept: Path | None = None) -> list[str]:
    """Return the keys of the repository that holds `folder`, or nothing.

    First commits are kept in the folder `kept`, because to look for one can take half a second.
    """
    with suppress(OSError, ValueError, RuntimeError):
        if (place := _find_git(folder)) is not None:
            return _read_keys(place, kept, 0)
    return []


def find_checkout(folder: Path) -> str | None:
    """Return the real folder that has the files of the repository of `folder`, or None."""
    with suppress(OSError, RuntimeError):
        real = folder.resolve()
        for parent in (real, *real.parents):
            if (parent / ".git").exists():
                return str(parent) if _find_git(parent) else None
    return None


def find_source_place(path: Path, text: str) -> dict[str, object]:
    """Return the repository of a file and the anchors of a fact that the file has, or nothing."""
    real = path.resolve()
    keys, folder = _find_place(real.parent)
    anchor = find_source(folder, os.path.relpath(real, folder), text) if keys and folder else None
    return {"repository": keys[0], "anchors": [anchor]} if anchor else {}


@cache  # an import reads many facts of one folder
def _find_place(folder: Path) -> tuple[list[str], str | None]:
    return find_repository(folder), find_checkout(folder)


def _find_git(folder: Path) -> Path | None:
    """Return the Git directory of the repository that holds `folder`, as Git finds it."""
    for parent in (folder, *folder.parents):
        entry = parent / ".git"
        if entry.is_dir():
            if (entry / "HEAD").is_file():
                return entry
        elif entry.exists():
            text = read_text(entry, 4096)
            target = parent / text.removeprefix("gitdir:").strip()
            found = text.startswith("gitdir:") and (target / "HEAD").is_file()
            return target if found else None
        elif (parent / "HEAD").is_file() and (parent / "objects").is_dir():
            return parent
    return None


def _read_keys(git: Path, kept: Path | None, clones: int) -> list[str]:
    common = (git / (read_text(git / "commondir", 4096).strip() or ".")).resolve()
    if not (common / "HEAD").is_file():
        return []
    keys, url = list[str](), _read_remote(read_text(common / "config"))
    if remote := url and normalise_remote(url):
        keys.append(remote)
    elif url and clones < _MOST_CLONES:  # a clone is one with what it was cloned from
        home = common.parent if common.name == ".git" else common
        origin = Path(home, url.removeprefix("file://"))
        for place in (origin / ".git", origin, Path(f"{origin}.git")):
            if (place / "HEAD").is_file() and place.resolve() != common:
                keys += _read_keys(place, kept, clones + 1)
                break
    own = common.parent if common.name == ".git" else common
    name = clean_name(own.name) or "repository"
    if root := _find_root(common, kept, complete=not keys):
        keys.append(f"commit:{root}#{name}")
    keys.append(f"folder:{_hash(common)}#{name}")
    return keys


def _read_remote(config: str) -> str | None:
    """Return the URL of the remote `origin`, or else of the first remote, or None.

    Only the file itself is read: what it includes, and what it would run, counts for nothing.
    """
    found, name = dict[str, str](), ""
    for line in config.splitlines():
        section = _SECTION.match(line[:_LONGEST_LINE])
        if section or line.lstrip().startswith("["):
            name = section[1] if section else ""
        rest = line[section.end() :] if section else line
        if name and len(rest) <= _LONGEST_LINE and (url := _URL.fullmatch(rest)):
            found.setdefault(name, url[1].strip().strip('"'))
    return found.get("origin") or next(iter(found.values()), None)


def _find_root(common: Path, kept: Path | None, *, complete: bool) -> str | None:
    """Return the first commit of a repository, or None if it is not known in the time there is."""
    note = kept / f"repository-{_hash(common)}" if kept is not None else None
    known = read_text(note, 41) if note is not None else ""
    if known == _UNKNOWN and complete:
        return None
    if known not in ("", _UNKNOWN) and has_commit(common, known):
        return known
    root, seen = find_first_commit(common, _MOST_COMMITS if complete else _FEW_COMMITS)
    if note is not None and (root or seen >= _MOST_COMMITS):
        with suppress(OSError, FolderTaken):
            require_private(note.parent)
            draft = note.with_name(f"{note.name}.{os.getpid()}")
            with draft.open("x", encoding="ascii") as file:
                file.write(root or _UNKNOWN)
            draft.replace(note)
    return root


def _hash(path: Path) -> str:
    return sha256(os.fsencode(path)).hexdigest()[:16]
