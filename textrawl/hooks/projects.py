"""The name of the project that a session is about."""

from pathlib import Path

_WORKTREES = "/.git/worktrees/"
_LONGEST = 4096  # bytes of a `.git` file


def name_project(folder: Path) -> str:
    """Return the name of the folder that holds the Git repository, or of `folder` itself.

    A linked worktree has the name of the repository to which it belongs.
    """
    for parent in (folder, *folder.parents):
        entry = parent / ".git"
        if entry.is_dir():
            return parent.name
        if entry.is_file():
            return _name_repository(entry) or parent.name
    return folder.name


def _name_repository(entry: Path) -> str:
    """Return the name of the repository to which a `.git` file of a worktree points."""
    with entry.open("rb") as file:
        text = file.read(_LONGEST).decode(errors="replace")
    repository, found, _ = text.partition(_WORKTREES)
    return Path(repository).name if found else ""
