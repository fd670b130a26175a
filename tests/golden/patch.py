"""Changes that a contributor makes, applied to a copy of the tree: see `test_golden.py`."""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from shutil import copyfile

from textrawl.settings import read_foreign_environment

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Patch:
    """A change. `files` has new files, and `edits` the text that comes before an anchor in a file.

    `updates` and `tests` are arguments of pytest: those that write generated files, and the tests
    near the change.
    """

    files: Mapping[str, str]
    edits: Sequence[tuple[str, str, str]]
    tests: Sequence[str]
    updates: Sequence[str] = field(default_factory=tuple[str, ...])

    def apply(self, root: Path) -> None:
        """Write the files and the edits. Raises ValueError for an anchor that is not there once."""
        for name, text in self.files.items():
            (root / name).write_text(text, encoding="utf-8")
        for name, anchor, text in self.edits:
            content = (root / name).read_text(encoding="utf-8")
            if content.count(anchor) != 1:
                raise ValueError(f"{name} has {anchor!r} {content.count(anchor)} times, not once")
            content = content.replace(anchor, text + anchor)
            (root / name).write_text(content, encoding="utf-8")


def run_git(root: Path, *arguments: str) -> list[str]:
    """Run git in a folder, and return the lines that it writes."""
    command = ("git", *arguments)
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def copy_tree(root: Path) -> None:
    """Copy the files of the repository to an empty folder, which becomes a repository too."""
    for name in run_git(ROOT, "ls-files"):
        if (ROOT / name).is_file():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            copyfile(ROOT / name, root / name)
    run_git(root, "init", "-q")
    run_git(root, "add", "--all")


def run_tests(root: Path, arguments: Sequence[str], **environment: str) -> None:
    """Run tests of the copy with its own modules. Raises AssertionError with what they say."""
    command = (sys.executable, "-m", "pytest", "-q", "-n", "0", "-m", "slow or not slow")
    done = subprocess.run(
        (*command, *arguments),
        cwd=root,
        env={**read_foreign_environment(), "PYTHONPATH": str(root), **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == os.EX_OK, done.stdout[-6_000:] + done.stderr[-2_000:]


def find_touched(patch: Patch, root: Path) -> list[str]:
    """Apply a patch to a copy of the tree, and run its tests. Return the files that it touches."""
    copy_tree(root)
    patch.apply(root)
    if patch.updates:
        run_tests(root, patch.updates, UPDATE_SNAPSHOTS="1", UPDATE_PAGES="1")
    run_tests(root, patch.tests)
    return [
        *run_git(root, "diff", "--name-only"),
        *run_git(root, "ls-files", "--others", "--exclude-standard"),
    ]
