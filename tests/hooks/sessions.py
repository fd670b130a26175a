"""Sessions of client programs, played with the real command.

The inputs have the members that the programs were seen to send (Claude Code 2.1.330, Codex 0.169.0,
Gemini CLI 0.61.0, Copilot CLI 1.0.102), and for Cursor those of its page.
"""

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

from tests.hooks.schemas import check
from textrawl.hooks.events import CLIENTS, Event
from textrawl.settings import read_foreign_environment

PROGRAM = Path(sys.executable).parent / "textrawl"
_PATIENCE = 120  # seconds for a hook, which ends after some seconds in any case
_TRIES = 10
_LATE = "textrawl hook: The memory did not answer in time"

Json = dict[str, Any]


@dataclass(frozen=True)
class Said:
    """The answer of a hook. `text` is what the model reads."""

    event: Event
    code: int
    out: str
    err: str

    @property
    def text(self) -> str:
        """The text for the model, whatever the form."""
        return read_text(json.loads(self.out)) if self.out else ""

    @property
    def is_silent(self) -> bool:
        """It said nothing, also not to a person."""
        return (self.code, self.out, self.err) == (0, "", "")


def read_text(output: Json) -> str:
    """Return the only text in the output of a hook."""
    nested = output.get("hookSpecificOutput", {})
    names = ("additionalContext", "additional_context", "reason", "followup_message")
    [text] = [part[name] for part in (output, nested) for name in names if name in part]
    return text


@dataclass
class Session:
    """One session of a client in a folder. `environment` has the settings of textrawl."""

    client: str
    folder: Path
    environment: Mapping[str, str]
    transcript: Path | None = None
    patient: bool = False
    """An event comes again if a busy machine kept the memory from answering in time."""
    name: str = field(default_factory=lambda: str(uuid4()))

    def find(self, part: str) -> Event:
        """Return the client's event for this part, or raise StopIteration."""
        return next(event for event in CLIENTS[self.client].events if event.kind == part)

    def has(self, part: str) -> bool:
        """Return whether the client has an event for this part."""
        return any(event.kind == part for event in CLIENTS[self.client].events)

    def tell(self, part: str, **members: object) -> Said:
        """Run the hook for a part, and check that its output is what the client documents."""
        event = self.find(part)
        said = self.run(event, json.dumps({**self._write(event), **members}))
        if said.out:
            check(self.client, event.name, json.loads(said.out))
        return said

    def run(self, event: Event, text: str) -> Said:
        """Run the hook with this input."""
        said = self._run(event, text)
        for _ in range(_TRIES if self.patient else 0):
            if not said.err.startswith(_LATE):
                break
            said = self._run(event, text)
        return said

    def _run(self, event: Event, text: str) -> Said:
        done = subprocess.run(
            [PROGRAM, "hook", self.client, event.name],
            input=text,
            capture_output=True,
            text=True,
            timeout=_PATIENCE,
            check=False,
            cwd=self.folder,
            env=read_foreign_environment() | dict(self.environment),
        )
        return Said(event, done.returncode, done.stdout, done.stderr)

    def _write(self, event: Event) -> Json:
        fields = CLIENTS[self.client].fields
        folder = str(self.folder)
        members: Json = {
            fields.session: self.name,
            fields.folder: [folder] if self.client == "cursor" else folder,
            "hook_event_name": event.name,
        }
        if self.transcript is not None:
            members[fields.transcript] = str(self.transcript)
        return members
