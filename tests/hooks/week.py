"""A scripted week: the transcripts of seven sessions, and an LLM that finds facts in them.

`Week.play` plays it with the real commands, for a test and for `benchmarks.week`.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path
from typing import Any, LiteralString, NamedTuple
from uuid import uuid4

import psutil
import psycopg

from tests.attacks.site import issue
from tests.hooks.sessions import Session
from tests.support.clock import set_back
from tests.support.commands import Launch, Outcome, name_memory, wait_for
from tests.support.llm_server import LlmRequest, LlmServer

Json = dict[str, Any]


class Day(NamedTuple):
    """A session: what the person says, the fact in it, and a question for the fact a week later.

    The hook captures it at its end, or somebody runs `textrawl capture` with its file.
    """

    client: str
    said: str
    entity: str
    kind: str
    fact: str
    question: str
    by_file: bool = False


FISH = "Grace does not eat fish."
DAYS = (
    Day("claude-code", "Grace prefers tea in the morning.", "Grace", "person", "prefers tea",
        "What does Grace prefer?"),
    Day("codex", "Harbour is written in Rust.", "Harbour", "project", "is written in Rust",
        "What is Harbour written in?"),
    Day("claude-code", FISH, "Grace", "person", "does not eat fish", "Does Grace eat fish?"),
    Day("codex", "Harbour pays 40 euros for its server.", "Harbour", "project", "pays 40 euros",
        "How many euros does Harbour pay?", by_file=True),
    Day("claude-code", "Grace lives in Lisbon.", "Grace", "person", "lives in Lisbon",
        "Where does Grace live?"),
    Day("codex", f"{FISH} Harbour is planned for March 2027.", "Harbour", "project",
        "is planned for March 2027", "When is Harbour planned for?"),
    Day("claude-code", "Grace manages Harbour.", "Grace", "person", "manages Harbour",
        "Who manages Harbour?"),
)  # fmt: skip
REVIEWED = 4  # days after which the reviewer decides, before the person says FISH again
INVENTED = (("Grace", "person", "leads Atlas"), ("Harbour", "project", "pays 400 euros"))


def write_answer() -> str:
    """Return what an agent says, in each session another text."""
    return f"Noted as {uuid4().hex}. I keep it in mind while I work on the next step for you."


def write_session(path: Path, client: str, said: str, day: date | None = None) -> None:
    """Write a session as its client does."""
    write = write_claude if client == "claude-code" else write_codex
    lines = write(said, write_answer(), path.stem, day)
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")


def write_claude(said: str, answer: str, session: str = "s", day: date | None = None) -> list[Json]:
    """Return the lines of a session of Claude Code, also such that are nobody's words."""
    at = _write_time(day)
    common = {"sessionId": session, "cwd": "/work/Harbour", "version": "2.1.330",
              "userType": "external", "isSidechain": False}  # fmt: skip
    tool = {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "hidden"}}
    done = {"type": "tool_result", "tool_use_id": "t", "content": "hidden"}
    messages = (
        ("user", said), ("assistant", [{"type": "thinking", "thinking": "hidden"}, tool]),
        ("user", [done]), ("assistant", [{"type": "text", "text": answer}]),
    )  # fmt: skip
    keys = [None, *(str(uuid4()) for _ in messages)]
    summary = {"type": "summary", "summary": "hidden", "leafUuid": keys[-1]}
    hidden = {"role": "user", "content": "hidden"}
    return [
        summary,
        {**common, "type": "user", "isMeta": True, "timestamp": at, "message": hidden},
        *(
            {**common, "type": role, "uuid": key, "parentUuid": before, "timestamp": at,
             "message": {"role": role, "content": content}}
            for (role, content), before, key in zip(messages, keys, keys[1:], strict=False)
        ),
    ]  # fmt: skip


def _write_time(day: date | None) -> str:
    return f"{day or date.today()}T12:00:00.000Z"


def write_codex(said: str, answer: str, session: str = "s", day: date | None = None) -> list[Json]:
    """Return the lines of a session of Codex, also such that are nobody's words."""

    def line(kind: str, payload: Json) -> Json:
        return {"timestamp": _write_time(day), "type": kind, "payload": payload}

    meta = {"id": session, "cwd": "/work/Harbour", "originator": "codex_cli_rs"}
    texts = (
        ("developer", "input_text", "hidden"),
        ("user", "input_text", "# AGENTS.md instructions for hidden"),
        ("user", "input_text", "<environment_context>hidden"),
        ("user", "input_text", said), ("assistant", "output_text", answer),
    )  # fmt: skip
    messages = (
        {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}
        for role, kind, text in texts
    )
    call = {"type": "function_call", "name": "shell", "arguments": "hidden", "call_id": "c"}
    return [
        line("session_meta", {**meta, "cli_version": "0.169.0"}),
        *(line("response_item", message) for message in messages),
        line("response_item", call),
        line("event_msg", {"type": "agent_message", "message": "hidden"}),
    ]


def find_facts(request: LlmRequest) -> str:
    """Answer as an LLM that finds the facts of the text, and two that it does not have."""
    sentences = ((FISH if day.fact in FISH else day.said.removeprefix(FISH), day) for day in DAYS)
    found = [day[2:5] for said, day in sentences if said.strip() in request.user]
    entities = [
        {"name": name, "type": kind, "observations": [fact]}
        for name, kind, fact in (*found, *INVENTED)
    ]
    return json.dumps({"entities": entities, "relations": []})


class Figures(NamedTuple):
    """The outcome of a week. `refused_again` counts new proposals of the fact that was rejected."""

    texts: int
    sent_while_off: int
    requests: int
    proposed: int
    accepted: int
    rejected: int
    refused_again: int
    found: int
    tokens_in: int
    tokens_out: int


@dataclass
class Week:
    """A week in a memory. `values` are the settings, and `reviewer` those of who decides."""

    run: Callable[..., Outcome]
    launch: Launch
    owner: psycopg.Connection
    server: LlmServer
    url: str
    folder: Path
    values: Mapping[str, str] = field(init=False)
    reviewer: Mapping[str, str] = field(init=False)

    def __post_init__(self) -> None:
        """Make the settings, with an LLM, and the token of who decides."""
        llm = {"LLM_PROVIDER": "openai", "LLM_BASE_URL": self.server.openai_url, "LLM_MODEL": "m"}
        data = str(self.folder / "data")
        self.values = name_memory(self.url, DATA_DIR=data, HOOKS="capture", **llm)
        rita = issue(self.owner, "rita", "default", "read", "write", "review")
        self.reviewer = {**self.values, "ACCESS_TOKEN": rita}

    def play(self) -> Figures:
        """Play a week with the switch off, and then the same week with the switch on."""
        sent = self._play_without_the_switch()
        on = {**self.values, "PROPOSE_FACTS": "true"}
        server = self.launch("serve", **on)
        server.open()
        for number, day in enumerate(DAYS):
            if number == REVIEWED:
                self._review("fish")
            self.capture(day, date.today() - timedelta(len(DAYS) - 1 - number), on)
            set_back(self.owner, timedelta(days=-1))
        self._review()
        set_back(self.owner, timedelta(days=-7))
        found = sum(self._is_found(day) for day in DAYS)
        server.end()
        return self._count(sent, found)

    def _play_without_the_switch(self) -> int:
        """Return the requests and connections to other machines in the week before."""
        server, sent = self.launch("serve", **self.values), 0
        server.open()
        for number, day in enumerate(DAYS):
            self.capture(day, date.today() - timedelta(2 * len(DAYS) - number), self.values)
            sent += len(self.server.requests) + count_connections(server.popen.pid)
        server.end()
        return sent + len(self.server.requests)

    def capture(self, day: Day, at: date, values: Mapping[str, str]) -> None:
        """End a session of a day, in the repository Harbour."""
        folder = self.folder / "Harbour"
        (folder / ".git").mkdir(parents=True, exist_ok=True)
        named = {f"TEXTRAWL_{name}": value for name, value in values.items()}
        session = Session(day.client, folder, named, patient=True)
        session.transcript = folder / f"{session.name}.jsonl"
        write_session(session.transcript, day.client, day.said, at)
        if day.by_file:
            assert self.run("capture", str(session.transcript), **values).code == 0
        else:
            assert session.tell("end").is_silent

    def _review(self, rejected: str | None = None) -> None:
        """Decide about all proposals as soon as the server has made them."""
        wait_for(lambda: self.fetch("select count(*) from extraction_pending") == [(0,)])
        if rejected:
            [(number,)] = self.fetch("select id::text from proposal where content ~ 'fish'")
            reason = ("--reason", "private", "--yes")
            assert self.run("review", "reject", number, *reason, **self.reviewer).code == 0
        accepted = self.run("review", "accept", "--by", "ada", "--yes", **self.reviewer)
        assert accepted.code == 0, accepted.err

    def _is_found(self, day: Day) -> bool:
        """Return whether the question finds the fact, as a fact of its entity."""
        out = self.run("recall", day.question, **self.values).out
        return re.search(rf"^\d+ {day.fact}$", out, re.MULTILINE) is not None

    def _count(self, sent: int, found: int) -> Figures:
        first = date.today() - timedelta(len(DAYS) - 1)
        texts = self.owner.execute(
            "select v.content from document d join document_version v"
            " on v.document_id = d.id and v.version = d.version"
            " where d.kind = 'journal' and split_part(d.path, '/', 2) >= %s",
            (str(first),),
        ).fetchall()
        assert "hidden" not in str(texts)
        [(proposed, accepted, rejected)] = self.fetch(
            "select proposed, accepted, rejected from rate_proposals()"
        )
        [(fish,)] = self.fetch("select count(*) from proposal where content ~ 'fish'")
        [(failures, tokens_in, tokens_out)] = self.fetch(
            "select failures, tokens_in, tokens_out from llm_usage()"
        )
        assert failures == 0
        bullets = sum(count_bullets(text) for (text,) in texts)
        done = len(self.server.requests), proposed, accepted, rejected
        return Figures(bullets, sent, *done, fish - 1, found, tokens_in, tokens_out)

    def fetch(self, query: LiteralString) -> list[tuple[Any, ...]]:
        """Return the rows that the owner sees."""
        return self.owner.execute(query).fetchall()


def count_connections(process: int) -> int:
    """Return the number of TCP connections of a process and its children."""
    found = psutil.Process(process)
    everyone = [found, *found.children(recursive=True)]
    return sum(len(one.net_connections("tcp")) for one in everyone if one.name() != "postgres")


def count_bullets(text: str) -> int:
    """Return the number of texts in a journal entry."""
    return len(re.findall(r"^- (?:user|assistant): ", text, re.MULTILINE))
