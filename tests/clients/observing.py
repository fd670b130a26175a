"""A program at work: started, its conversation recorded, and what it showed read from that."""

import json
import re
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from uuid import uuid4

import psutil

from tests.clients.programs.program import Driver, Half, Place, Program, Server, User, write_server
from tests.clients.script import FIVE, SCRIPT, Json, Step, Turn, flatten
from tests.clients.standin import StandIn
from textrawl.server.description import INSTRUCTIONS

_MARK = "TEXTRAWL_TEST_BED"  # names a run in the environment of all its processes
_PATIENCE = 150  # seconds for one program
_GRACE = 15  # seconds for what it started, such as a Postgres, to end by itself
_TEXT = re.compile(r'"c":\s*"leads QA at Acme"')
_STRUCTURED = re.compile(r'"content":\s*"leads QA at Acme"')


@dataclass(frozen=True)
class Record:
    """What a program did, and what its model (or it alone) got of each step.

    `first` are the tools that the first request names, in whatever way.
    """

    first: frozenset[str]
    tools: frozenset[str]
    deferred: bool
    instructions: bool
    results: dict[str, str]
    output: str

    @property
    def shows(self) -> Half | None:
        """The half of an answer that came."""
        answer = self.results.get("search", "")
        text, structured = bool(_TEXT.search(answer)), bool(_STRUCTURED.search(answer))
        if text and structured:
            return "both"
        return "text" if text else "structured" if structured else None

    @property
    def user(self) -> User | None:
        """What became of the question whether something is to be deleted."""
        asked, insisted = (self.results.get(step, "") for step in ("ask", "insist"))
        if not _is_declined(asked):
            return "cannot be asked" if "onfirm" in asked else None
        return "says no by itself" if _is_declined(insisted) else "asks a person"


def _is_declined(result: str) -> bool:
    return "declined" in result.lower()


def play(
    program: Program, installed: Path, server: Server, home: Path, script: Sequence[Step] = SCRIPT
) -> Record:
    """Start the program, wait for its end, and return what it did."""
    work = home / "work"
    work.mkdir(parents=True)
    run = {_MARK: uuid4().hex}
    server = replace(server, environment={**server.environment, **run})
    with StandIn(script) as model:
        place = Place(installed, home, work, server, model.url)
        program.configure(place)
        try:
            output = _run(program, place, script)
        finally:
            _end_all(run[_MARK])
    return _read_driver(output) if program.shows == "program" else _read_turns(model.talk, output)


def _run(program: Program, place: Place, script: Sequence[Step]) -> str:
    """Return what the program wrote until its end."""
    steps = [vars(step) for step in script]
    job = {"server": write_server(place.server), "model": place.model, "steps": steps}
    environment = {**program.write_environment(place), _MARK: place.server.environment[_MARK]}
    process = subprocess.Popen(
        program.write_command(place),
        env=environment,
        cwd=place.work,
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    try:
        return process.communicate(
            json.dumps(job) if isinstance(program, Driver) else "", timeout=_PATIENCE
        )[0]
    except subprocess.TimeoutExpired:
        _end_all(environment[_MARK])
        return f"{process.communicate()[0]}\nIt did not end within {_PATIENCE} seconds."


def _end_all(run: str) -> None:
    """End every process of a run, also one that its parent left behind."""
    left = list[psutil.Process]()
    for process in psutil.process_iter():
        with suppress(psutil.NoSuchProcess, psutil.AccessDenied):
            if process.environ().get(_MARK) == run:
                left.append(process)
    _, left = psutil.wait_procs(left, timeout=_GRACE)
    for process in left:
        with suppress(psutil.NoSuchProcess):
            process.kill()
    psutil.wait_procs(left, timeout=_GRACE)


def _read_driver(output: str) -> Record:
    """Read what the lines of ours on a library wrote last."""
    found: Json = {}
    for line in output.splitlines()[-1:]:
        with suppress(ValueError):
            found = json.loads(line)
    tools = frozenset[str](found.get("tools", ()))
    results: Json = found.get("results", {})
    return Record(
        tools,
        tools,
        deferred=False,
        output=output,
        instructions=found.get("instructions") == INSTRUCTIONS["memory"],
        results={name: flatten(result) for name, result in results.items()},
    )


def _read_turns(turns: Sequence[Turn], output: str) -> Record:
    """Read what the requests to the stand-in hold."""
    beginning = flatten(turns[0].body) if turns else ""
    end = turns[-1] if turns else Turn({}, {}, {})
    return Record(
        first=frozenset(tool for tool in FIVE if tool in beginning),
        tools=frozenset(tool for turn in turns for tool in turn.ours),
        deferred=bool(end.looks),
        instructions=INSTRUCTIONS["memory"][:80] in beginning,
        results={
            step: flatten(text) for step, text in end.results.items() if step not in end.looks
        },
        output=output,
    )
