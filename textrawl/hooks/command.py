"""The command `textrawl hook CLIENT EVENT`, which client programs run.

It never fails: the exit code is 0, and stdout is one JSON object or empty. It writes to stderr only
if the memory cannot be reached, or if TEXTRAWL_LOG_LEVEL is DEBUG. This module is the outermost
handler of the process.

Hooks run in the folder of a project, which can be anybody's repository. Its `.env` must not decide
where prompts are sent. Therefore a hook leaves the folder before it reads settings.
"""

import json
import os
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

from textrawl.environment import ValueSource, read_sources
from textrawl.errors import DatabaseUnavailable, ServerUnreachable, StartRefused, TextrawlError
from textrawl.hooks.events import (
    CLIENTS,
    MOST_BYTES,
    Event,
    HookClient,
    Payload,
    PayloadInvalid,
    read_payload,
    write_output,
)
from textrawl.hooks.response import (
    Choices,
    Occasion,
    name_project,
    read_choices,
    respond,
    wants_log,
)
from textrawl.hooks.sessions import HookSession, remove_old_sessions
from textrawl.hooks.transcripts import Ask
from textrawl.host.entrance import choose_address
from textrawl.host.question import ask as ask_process
from textrawl.host.question import build_call
from textrawl.host.repository import find_checkout, find_repository
from textrawl.host.requests import SocketAnswer
from textrawl_client.unix_socket import FolderTaken, ResidentRefused, Unreachable

REACHING = 2.0  # seconds in which the memory must be reached
STARTING = 2.0  # seconds more for a process that the hook starts; clients end a hook after 5
STORING = 8.0  # seconds in which texts of a session must be stored
_LATE = 0.5  # seconds after the time limit of a request at which the process ends in any case
_UNREACHABLE = (ServerUnreachable.title, DatabaseUnavailable.title)
_STORES = ("compact", "end")
_ROOT = Path("/")

_logging = False


def run_hook(words: Sequence[str]) -> int:
    """Answer the event of `words` = (hook, client, event) on stdout. Return 0."""
    sys.excepthook = _stay_silent
    _end_in_time(REACHING + STARTING + _LATE)  # also if stdin stays open
    try:
        folder = _leave_folder()
        sources = read_sources()
        _set_logging(sources)
        _run(words[1:], sources, folder)
    except FolderTaken as error:
        _write(str(error))
    except (OSError, StartRefused, ResidentRefused, PayloadInvalid, Misused) as error:
        _log(str(error))
    except Unreachable as error:
        _write(f"The memory did not answer in time ({error}). If it is starting, ask again")
    return 0


class Misused(ValueError):
    """The command line names no event that this version knows."""


def _leave_folder() -> Path:
    """Change to a folder that no repository controls, and return the former working directory."""
    try:
        former = Path.cwd()
    except FileNotFoundError:  # it was deleted
        former = _ROOT
    os.chdir(_ROOT)
    return former


def _run(words: Sequence[str], sources: Sequence[ValueSource], folder: Path) -> None:
    raw = sys.stdin.buffer.read(MOST_BYTES)
    client, event = _find_event(words)
    choices = read_choices(sources)
    if not (choices.parts and choices.enabled):
        _log("The settings switch the hooks off: TEXTRAWL_HOOKS or TEXTRAWL_ENABLE_MEMORY")
        return
    payload = read_payload(client, raw, folder)
    if event.kind in _STORES:
        _end_in_time(STORING + _LATE)
    if text := _respond(client, event, payload, choices, sources):
        sys.stdout.write(json.dumps(write_output(event, text)) + "\n")
        sys.stdout.flush()
    else:
        _log("Nothing to say: no new fact, and no reminder")


def _find_event(words: Sequence[str]) -> tuple[HookClient, Event]:
    if len(words) == 2 and words[0] in CLIENTS:  # noqa: PLR2004 - a client and an event
        client = CLIENTS[words[0]]
        if event := client.find(words[1]):
            return client, event
    raise Misused(f"Not an event that hooks know: {' '.join(words)}")


def _respond(
    client: HookClient,
    event: Event,
    payload: Payload,
    choices: Choices,
    sources: Sequence[ValueSource],
) -> str:
    folder = choose_address(sources).folder
    keys = find_repository(payload.folder, folder)
    place = {"repository": " ".join(keys), "checkout": find_checkout(payload.folder)}
    ask = _build_asker(client, place, stores=event.kind in _STORES)
    with HookSession(folder, client.name, payload.session) as session:
        if session.read().has_just_run(payload.key):
            _log("The same event has just been answered")
            return ""
        session.add_event(payload.key)
        if event.kind == "start":
            place = keys[0] if keys else " ".join(name_project(payload.folder).split())
            session.add(f"of {client.name} {place}")
        text = respond(Occasion(client, event, payload, choices, session, ask))
    if event.kind == "start":
        remove_old_sessions(folder)
    return text


def _build_asker(client: HookClient, place: Mapping[str, Any], *, stores: bool) -> Ask:
    """Return the function that calls a tool of the memory within the time of an event."""
    end = time.monotonic() + (STORING if stores else REACHING)
    name = f"textrawl hook ({client.name})"
    latest = end if stores else end + STARTING  # also for a process that is started

    def ask(
        tool: str, arguments: Mapping[str, Any], wishes: Mapping[str, Any]
    ) -> SocketAnswer | None:
        request = build_call(tool, arguments, client=name, **place, **wishes)
        try:
            now = time.monotonic()
            return ask_process(request, timeout=end - now, starting=latest - now)
        except TextrawlError as error:
            message = f"{error.title}. {error.fix}"
            (_write if error.title in _UNREACHABLE else _log)(message)
            return None

    return ask


def _end_in_time(seconds: float) -> None:
    """End the process after `seconds`, whatever it waits for."""
    signal.signal(signal.SIGALRM, _give_up)
    signal.setitimer(signal.ITIMER_REAL, seconds)


def _give_up(*_: object) -> None:
    _write("The memory did not answer in time")
    os._exit(0)


def _stay_silent(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    """Handle an error that is a defect: show it only to somebody who debugs, and exit with 0."""
    if _logging:
        sys.__excepthook__(kind, error, trace)
    os._exit(0)


def _set_logging(sources: Sequence[ValueSource]) -> None:
    global _logging  # noqa: PLW0603 - the handler of errors takes no arguments of ours
    _logging = wants_log(sources)


def _log(message: str) -> None:
    if _logging:
        _write(message)


def _write(message: str) -> None:
    with suppress(OSError):  # a client may have closed it
        os.write(2, f"textrawl hook: {' '.join(message.split())}\n".encode(errors="replace"))
