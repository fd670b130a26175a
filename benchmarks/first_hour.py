"""The first hour of a newcomer, with an empty home folder: what each command says and leaves.

    python -m benchmarks.first_hour [--keep]

It stores a fact about Ada, says that the user is Ada, ingests a note, and imports a conversation.
Then it asks in every way: `recall`, `search`, the hook of a prompt, and a tool over stdio. At last
it connects a client and takes this back, and deletes the memory as the FAQ says. The commands get
no variables but PATH and HOME, so no CI either, which keeps some libraries quiet. With `--keep`,
the home folder stays.

It prints Markdown: each command with its seconds, its exit code and what it said, then what holds.
The exit code is 1 if a question about the stored fact fails, if `doctor` finds a fault, or if a
file is left in the home folder that is neither of the memory nor of a client. It also prints if
questions find the imported conversation, which decides nothing.

Started by root, Postgres runs as another OS user, who cannot enter a home folder of root. The
memory is then in a folder beside it, and the script says where it would have been.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import psutil

from benchmarks.hooks import TEXTRAWL, write_hook
from benchmarks.start import open_client
from benchmarks.support.place import open_folder, tell_machine
from textrawl.environment import default_data_dir

_QUESTION, _ANSWER = "who leads QA?", "leads QA at Acme"
_IMPORTED, _NAME = "wie heißt mein Sauerteig?", "Gustav"
_NOTE = "# Release\n\nThe release train leaves on Thursday.\n"
_PROMPTS = 5
_SHOWN = 3  # lines of what a command said
_LONGEST = 160  # characters of a line
_SECONDS = 600.0  # for one command


@dataclass
class Walk:
    """A newcomer with a home folder. `verdicts` has what holds, and whether it decides."""

    home: Path
    environment: dict[str, str]
    memory: Path
    verdicts: list[tuple[str, bool, bool]] = field(default_factory=list[tuple[str, bool, bool]])

    def run(self, *words: str, stdin: str = "") -> str:
        """Run a command of textrawl, print what it did, and return what it said."""
        began = time.perf_counter()
        done = subprocess.run(
            [TEXTRAWL, *words],
            check=False,
            cwd=self.home,
            env=self.environment,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
        )
        self.tell(f"textrawl {' '.join(words)}", began, done.stdout + done.stderr, done.returncode)
        return done.stdout + done.stderr

    def tell(self, what: str, began: float, said: str, code: int = 0) -> None:
        """Print a step with its seconds, its exit code, and the first lines of what was said."""
        lines = [line[:_LONGEST] for line in said.splitlines() if line.strip()]
        _write(f"\n    $ {what}    ({time.perf_counter() - began:.1f} s, exit code {code})")
        for line in lines[:_SHOWN]:
            _write(f"    {line}")
        if len(lines) > _SHOWN:
            _write(f"    and {len(lines) - _SHOWN} lines more")

    def judge(self, what: str, *, holds: bool, decides: bool = True) -> None:
        """Note whether something holds."""
        self.verdicts.append((what, holds, decides))

    def list_files(self) -> list[str]:
        """Return the files of the home folder that are not of the memory."""
        files = (path for path in self.home.rglob("*") if not path.is_dir())
        return sorted(
            str(path.relative_to(self.home)) for path in files if self.memory not in path.parents
        )


def _write(line: str) -> None:
    print(line, flush=True)


def store(walk: Walk) -> None:
    """Store a fact, say who asks, and bring in a note and a conversation."""
    (walk.home / "note.md").write_text(_NOTE, encoding="utf-8")
    (walk.home / "conversations.json").write_text(json.dumps([_write_chat()]), encoding="utf-8")
    walk.run("remember", "Ada", _ANSWER, "--type", "person")
    walk.run("me", "Ada")
    walk.run("ingest", "note.md")
    walk.run("import", "conversations.json", "--yes")


def _write_chat() -> dict[str, object]:
    """Return a conversation as ChatGPT exports it."""
    texts = [("user", f"Mein Sauerteig heißt {_NAME}."), ("assistant", "Ein schöner Name!")]
    nodes: dict[str, dict[str, object]] = {
        str(place): {
            "id": str(place),
            "parent": str(place - 1) if place else None,
            "children": [],
            "message": {
                "id": str(place),
                "author": {"role": role, "name": None, "metadata": {}},
                "create_time": 1_700_000_000.5 + place,
                "content": {"content_type": "text", "parts": [text]},
                "metadata": {},
            },
        }
        for place, (role, text) in enumerate(texts)
    }
    times = {"create_time": 1_700_000_000.5, "update_time": 1_700_000_100.5}
    title = {"title": "Sourdough", "id": "bread", "conversation_id": "bread"}
    return {**title, **times, "current_node": "1", "mapping": nodes}


def ask(walk: Walk) -> None:
    """Ask for the stored fact in every way, and for what was imported."""
    for command in ("recall", "search"):
        walk.judge(f"`{command}` finds the fact", holds=_ANSWER in walk.run(command, _QUESTION))
    hook = write_hook("UserPromptSubmit", walk.home, prompt=_QUESTION)
    said = ""
    for _ in range(_PROMPTS):  # the first prompt starts the process that answers
        if _ANSWER not in said:
            said = walk.run(*hook.words[1:], stdin=hook.stdin)
    walk.judge("the hook of a prompt finds the fact", holds=_ANSWER in said)
    said = anyio.run(_call, walk, _QUESTION)
    walk.judge("`query_memory` finds the fact", holds=_ANSWER in said)
    for way, said in (
        ("`recall`", walk.run("recall", _IMPORTED)),
        ("`query_memory`", anyio.run(_call, walk, _IMPORTED)),
    ):
        walk.judge(f"{way} finds the imported conversation", holds=_NAME in said, decides=False)
    said = walk.run("doctor")
    faults = [line for line in said.splitlines() if "broken" in line]
    walk.judge(f"`doctor` finds no fault {faults or ''}".strip(), holds=not faults)


async def _call(walk: Walk, question: str) -> str:
    began = time.perf_counter()
    async with open_client(walk.environment) as client:
        answer = await client.call_tool("query_memory", {"mode": "search", "query": question})
    said = "\n".join(str(getattr(part, "text", "")) for part in answer.content)
    walk.tell(f"query_memory {question}", began, said, int(bool(answer.is_error)))
    return said


def connect(walk: Walk) -> None:
    """Connect a client and take it back. Its file must then be as it was."""
    file = walk.home / ".claude.json"
    file.write_text('{\n  "theme": "dark"\n}\n', encoding="utf-8")
    before = walk.list_files(), file.read_bytes()
    walk.run("connect", "claude-code", "--with-hooks", "--yes")
    walk.run("disconnect", "claude-code", "--yes")
    same = (walk.list_files(), file.read_bytes()) == before
    walk.judge("`disconnect` leaves the files of the client as they were", holds=same)


def uninstall(walk: Walk) -> None:
    """Stop what runs, delete the memory, and say what else is in the home folder."""
    running = [each for each in psutil.process_iter() if _find_home(each) == str(walk.home)]
    for process in running:
        with suppress(psutil.Error):  # it ended by itself
            _write(f"\nStill runs: {' '.join(process.cmdline())[:_LONGEST]}")
            process.terminate()
    psutil.wait_procs(running, _SECONDS)
    if os.geteuid() == 0:
        _write(f"\nStarted by root: without TEXTRAWL_DATA_DIR, the memory is {default_data_dir()}.")
    shutil.rmtree(walk.memory)
    left = walk.list_files()
    own = {"note.md", "conversations.json", ".claude.json"}
    _write(f"\nLeft after the uninstall: {', '.join(left) or 'nothing'}")
    others = [path for path in left if path not in own and not path.startswith(".config/textrawl/")]
    walk.judge(f"the home folder stays clean {others or ''}".strip(), holds=not others)


def _find_home(process: psutil.Process) -> str:
    try:
        return process.environ().get("HOME", "")
    except psutil.Error:  # it has ended, or belongs to somebody else
        return ""


def walk_through(home: Path) -> Sequence[tuple[str, bool, bool]]:
    """Walk with an empty home folder, and return what holds."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(home)}
    memory = home / ".local/share/textrawl"
    if os.geteuid() == 0:
        memory = home.with_name(f"{home.name}-memory")
        environment["TEXTRAWL_DATA_DIR"] = str(memory)
    walk = Walk(home, environment, memory)
    for step in (store, ask, connect, uninstall):
        _write(f"\n## {step.__name__.capitalize()}")
        step(walk)
    return walk.verdicts


def main() -> None:
    """Print what a newcomer sees, and end with 1 if something fails that must hold."""
    parser = argparse.ArgumentParser(prog="benchmarks.first_hour", description=__doc__)
    parser.add_argument("--keep", action="store_true", help="keep the home folder")
    keep = parser.parse_args().keep
    _write(tell_machine())
    with open_folder("first-hour") as folder:
        home = folder / "home"
        home.mkdir()
        verdicts = walk_through(home)
        if keep:
            kept = folder.with_name(f"{folder.name}-kept")
            shutil.copytree(folder, kept)
            _write(f"\nKept: {kept}")
    _write("\n| what | holds |\n| --- | --- |")
    for what, holds, decides in verdicts:
        _write(f"| {what} | {'yes' if holds else 'no'}{'' if decides else ' (decides nothing)'} |")
    sys.exit(any(decides and not holds for _, holds, decides in verdicts))


if __name__ == "__main__":
    main()
