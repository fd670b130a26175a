"""A scripted week: the facts that a memory learns by itself, and their cost in tokens.

    python -m benchmarks.week

`tests/hooks/week.py` has the sessions: seven days, two clients, transcripts in their forms. Six
sessions end with the hook `capture`, and one is captured by `textrawl capture FILE`. The LLM is
scripted: it finds the fact of each session, and two facts that nobody said. A reviewer rejects one
proposal, and the person says that fact again. A week later each fact is asked for. The same week
is played before with the switch off. The commands, the hooks and the server are processes of their
own, on an embedded Postgres. It prints Markdown.
"""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import anyio
import anyio.to_thread
import psycopg

from benchmarks.support.place import open_folder, tell_machine
from tests.conftest import enrol
from tests.hooks.week import DAYS, Week, find_facts
from tests.support.commands import Outcome, Process
from tests.support.llm_server import LlmRequest, LlmServer
from tests.support.pages import write_table
from textrawl import migrate
from textrawl.embedded.cluster import run_embedded
from textrawl.embedded.postmaster import APP, OWNER
from textrawl.wire.token_counter import choose_counter


def launch(*words: str, **values: object) -> Process:
    """Start a command in a process of its own. Keywords are settings."""
    return Process(words, {name: str(value) for name, value in values.items()})


def run(*words: str, **values: object) -> Outcome:
    """Run a command."""
    return launch(*words, **values).end()


def play(folder: Path, owner_url: str, app_url: str) -> None:
    """Play the week, and print what came of it."""
    enrol(owner_url)
    with LlmServer(find_facts) as server, psycopg.connect(owner_url, autocommit=True) as owner:
        owner.execute("set search_path = textrawl, public")
        figures = Week(run, launch, owner, server, app_url, folder).play()
    rows = [
        ("sent while the switch was off, in seven sessions", figures.sent_while_off),
        ("texts captured", figures.texts),
        ("requests to the LLM", figures.requests),
        ("facts proposed, of the LLM's claims", f"{figures.proposed} of {count_claims()}"),
        ("accepted, rejected", f"{figures.accepted}, {figures.rejected}"),
        ("proposed again after the rejection", figures.refused_again),
        ("found by a question a week later", f"{figures.found} of {figures.accepted}"),
        ("tokens to the LLM, and back", count_tokens(server.requests)),
    ]
    print(f"{tell_machine()}\n")
    print(write_table(["", "number"], [[name, str(value)] for name, value in rows]))


def count_claims() -> int:
    """Return how many facts the LLM claims: those of the sessions, and two in each answer."""
    return sum(len(day.said.split(". ")) + 2 for day in DAYS)


def count_tokens(requests: Sequence[LlmRequest]) -> str:
    """Return the tokens of the prompts and answers. The LLM of the tests counts words."""
    count = choose_counter().count
    asked = sum(count(f"{request.system}\n{request.user}") for request in requests)
    return f"{asked:,}, {sum(count(find_facts(request)) for request in requests):,}"


async def main() -> None:
    """Run the benchmark."""
    with open_folder("week") as folder:
        async with run_embedded(folder / "memory") as cluster:
            await migrate(cluster.dsn(OWNER))
            work = partial(play, folder, cluster.dsn(OWNER), cluster.dsn(APP))
            await anyio.to_thread.run_sync(work)


if __name__ == "__main__":
    anyio.run(main)
