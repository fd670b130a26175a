"""`textrawl capture`: transcripts of sessions, stored in the journal as the hook does it."""

from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import typer

from textrawl.archive.bundles import Bundle, BundleRefused
from textrawl.archive.detection import CONVERSATIONS, find_parts, read_documents, read_plan
from textrawl.archive.formats import ImportFormat
from textrawl.archive.items import Conversation
from textrawl.cli.commands.imports import show_plan
from textrawl.cli.console import count, write_json, write_message
from textrawl.cli.inputs import AsJson, WrittenSpace, argument, option, read_one_of, read_path
from textrawl.cli.questions import CLIENT, find_answer
from textrawl.errors import DatabaseUnavailable, TextrawlError
from textrawl.hooks.response import name_project
from textrawl.hooks.sessions import HookSession
from textrawl.hooks.transcripts import capture as capture_texts
from textrawl.hooks.transcripts import shorten
from textrawl.host.entrance import find_address
from textrawl.host.question import build_call
from textrawl.host.requests import SocketAnswer
from textrawl.settings import read_settings
from textrawl.values.leaks import SECRETS_DONE
from textrawl.values.transcripts import Message
from textrawl.values.word_lists import SecretMode

_Files = Annotated[
    list[Path],
    argument(
        "FILE...", "Transcripts of sessions, folders of them, or exports of chats.", read_path
    ),
]
_OFFERED = tuple(one.name for one in CONVERSATIONS)
_Kind = Annotated[
    str | None,
    option(
        "--from FORMAT",
        f"The format: {', '.join(_OFFERED)}. Default: what FILE looks like.",
        read_one_of(_OFFERED),
    ),
]
_DryRun = Annotated[bool, option("--dry-run", "Show what the files hold, and capture nothing.")]


def capture(
    files: _Files,
    kind: _Kind = None,
    dry_run: _DryRun = False,
    space: WrittenSpace = None,
    as_json: AsJson = False,
) -> None:
    """Store the texts of sessions in the journal, as the hook `capture` does.

    Transcripts of coding agents and exports of chats are read, of the formats that `import` reads.
    The texts go into the entry of the day on which they were written. A text that is there already
    is left out, so run it again after an interruption, or with a longer transcript. With
    TEXTRAWL_PROPOSE_FACTS a server proposes facts from them. Exit code 1: some files, or lines of
    them, were refused.
    """
    capturing = _Capturing(space, read_settings().secrets, dry_run)
    for file in files:
        try:
            for form, bundle in find_parts(Bundle(file), kind, _OFFERED):
                capturing.add(form, bundle)
        except BundleRefused as error:
            capturing.refuse(str(file), error.reason)
        except OSError as error:
            capturing.refuse(str(file), error.strerror or capturing.fault or str(error))
    capturing.tell(as_json=as_json)
    if capturing.refused:
        raise typer.Exit(1)


@dataclass
class _Capturing:
    """The work of one command. `numbers` has what was captured, and `refused` the faults.

    `fault` is the last error of a session.
    """

    space: str | None
    mode: SecretMode
    dry_run: bool
    numbers: Counter[str] = field(default_factory=Counter[str])
    refused: list[dict[str, str]] = field(default_factory=list[dict[str, str]])
    fault: str = ""

    def ask(
        self, tool: str, arguments: Mapping[str, Any], _: Mapping[str, Any]
    ) -> SocketAnswer | None:
        """Call a tool. Return None after an error of it. Raises DatabaseUnavailable."""
        wishes = {"space": self.space, "person": True, "repository": ""}  # not that of this folder
        request = build_call(tool, arguments, client=CLIENT, **wishes)
        try:
            return find_answer(request, create=True)
        except TextrawlError as error:
            if error.title == DatabaseUnavailable.title:
                raise
            self.fault = f"{error.title}. {error.fix}"
            return None

    def add(self, form: ImportFormat, bundle: Bundle) -> None:
        """Store the sessions of a bundle after it was read as a whole. Raises BundleRefused."""
        if form not in CONVERSATIONS:
            raise BundleRefused(f"{form.title} has no sessions: use `textrawl import`")
        plan = read_plan(form, bundle, lambda _: None)
        if not plan.documents:
            raise BundleRefused(f"{bundle.path} has no texts of a session")
        for fault in plan.faults:
            self.refuse(fault.place, fault.reason)
        if self.dry_run:
            show_plan(form, bundle, plan)
            self.numbers["sessions"] += plan.counts["conversation"]
            return
        for item in read_documents(form, bundle, plan.documents):
            if isinstance(item, Conversation):
                self._store(form.name, item)

    def _store(self, client: str, conversation: Conversation) -> None:
        self.fault = ""
        messages = _read_messages(conversation)
        names = _name_project(conversation), client
        with HookSession(find_address().folder, client, conversation.id) as session:
            done = capture_texts(session, messages, names, self.mode, self.ask, again=True)
        left_out = done.secrets if self.mode == "refuse" else 0
        known = len(messages) - done.texts - left_out
        self.numbers.update(sessions=1, captured=done.texts, known=known, secrets=done.secrets)

    def refuse(self, place: str, reason: str) -> None:
        """Note a file or a line that cannot be used."""
        self.refused.append({"file": place, "reason": reason})
        write_message(f"{place} was not captured: {reason}")

    def tell(self, *, as_json: bool) -> None:
        """Write what was captured."""
        found = self.numbers
        if as_json:
            names = ("sessions", "captured", "known", "secrets")
            write_json({**{name: found[name] for name in names}, "refused": self.refused})
        elif found["sessions"] and not self.dry_run:
            texts, sessions = count(found["captured"], "text"), count(found["sessions"], "session")
            write_message(f"Captured {texts} of {sessions}. Known already: {found['known']:,}.")
            if found["secrets"]:
                secrets = count(found["secrets"], "text")
                write_message(f"Secrets in {secrets} {SECRETS_DONE[self.mode]}.")


def _read_messages(conversation: Conversation) -> list[Message]:
    """Return the texts. One without a time gets that of the text before it."""
    messages, at = list[Message](), conversation.started_at
    for turn in conversation.turns:
        at = turn.at or at
        messages.append(Message(turn.speaker, turn.text, at.isoformat() if at else ""))
    return shorten(messages)


def _name_project(conversation: Conversation) -> str:
    """Return the name of the project of a session, or its title."""
    place = Path(conversation.place or "")
    with suppress(OSError):  # the folder is of another user
        found = name_project(place) if conversation.place else ""
        return found or conversation.title or conversation.id
    return place.name
