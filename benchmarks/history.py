"""The import of a year of conversations: its speed, its memory, and what kills leave behind.

    python -m benchmarks.history [--conversations 1000] [--kills 20]

It makes an export of ChatGPT, by default of 10,000 messages and about 60 MB, and imports it into an
embedded Postgres in a temporary folder, each time by a process of its own. In a second memory the
command is killed at random moments until it once ends by itself. It prints Markdown: seconds,
conversations per second, and the largest resident memory of the command without Postgres.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
from anyio.from_thread import start_blocking_portal

from benchmarks.support.place import open_folder, tell_machine
from benchmarks.support.work import Work
from textrawl.embedded.cluster import run_embedded
from textrawl.embedded.postmaster import OWNER
from textrawl.settings import read_foreign_environment

_TURNS, _ASKED, _ANSWERED = 10, 15, 165
_SECONDS = 900  # more than a command needs
_WHOLE = """
    select count(*), count(distinct d.path), count(*) filter (where s.chunks <> (
        select count(*) from textrawl.observation o where o.whole = d.id)),
        (select count(*) from textrawl.imported_item)
    from textrawl.document d join textrawl.source s on s.document_id = d.id
"""


def make_conversation(number: int, chance: random.Random, facts: list[str]) -> dict[str, Any]:
    """Return a conversation of ChatGPT with an answer that was made twice."""
    begin, parent = 1_740_000_000 + number * 30_000, "root"
    nodes: dict[str, Any] = {"root": {"id": "root", "message": None, "parent": None}}
    for turn in range(_TURNS):
        role = "assistant" if turn % 2 else "user"
        text = " ".join(chance.choices(facts, k=_ANSWERED if turn % 2 else _ASKED))
        for key in (f"{turn}", f"{turn} again")[: 1 + (turn == 1)]:
            message: dict[str, Any] = {
                "id": key, "author": {"role": role, "name": None, "metadata": {}},
                "create_time": begin + turn * 60, "update_time": None, "status": "finished",
                "content": {"content_type": "text", "parts": [text]}, "weight": 1.0,
                "recipient": "all", "metadata": {"model_slug": "gpt-5", "citations": []},
            }  # fmt: skip
            nodes[key] = {"id": key, "message": message, "parent": parent, "children": []}
        parent = f"{turn}"
    return {
        "title": f"Conversation {number}", "create_time": begin, "update_time": begin + 600,
        "mapping": nodes, "current_node": parent, "conversation_id": f"c{number}",
    }  # fmt: skip


def write_export(file: Path, conversations: int) -> None:
    """Write conversations.json."""
    chance, work = random.Random(7), Work()  # noqa: S311 - the same every time
    facts = [str(work.make_fact()["observation"]) for _ in range(5_000)]
    with file.open("w", encoding="utf-8") as opened:
        for number in range(conversations):
            opened.write("," if number else "[")
            json.dump(make_conversation(number, chance, facts), opened)
        opened.write("]")


def start(data_dir: Path, *words: str) -> subprocess.Popen[bytes]:
    """Start a command."""
    environment = read_foreign_environment() | {
        "DATA_DIR": str(data_dir),
        "EMBEDDING_PROVIDER": "local",
    }
    return subprocess.Popen(
        [sys.executable, "-m", "textrawl", *words],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def measure(file: Path, data_dir: Path, conversations: int) -> Iterator[str]:
    """Yield lines of the table."""
    for name, *words in (
        ("plan (`--dry-run`)", "--dry-run"), ("import", "--yes"), ("import again", "--yes")
    ):  # fmt: skip
        begin = time.perf_counter()
        _, status, usage = os.wait4(start(data_dir, "import", str(file), *words).pid, 0)
        seconds = time.perf_counter() - begin
        if status:
            raise SystemExit(f"{name} failed")
        used = usage.ru_utime + usage.ru_stime
        yield (
            f"| {name} | {seconds:,.1f} | {used:,.1f} | {conversations / seconds:,.0f} "
            f"| {usage.ru_maxrss / 1024:,.0f} |"
        )


def kill_often(file: Path, data_dir: Path, kills: int, longest: float) -> int:
    """Kill an import at random moments, then let one end. Return the number of kills."""
    chance, killed = random.Random(11), 0  # noqa: S311 - the same every time
    for _ in range(kills):
        process = start(data_dir, "import", str(file), "--yes")
        try:
            process.wait(chance.uniform(2, longest))
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            killed += 1
        process.wait()
    if start(data_dir, "import", str(file), "--yes").wait(_SECONDS):
        raise SystemExit("the last import failed")
    return killed


def count(data_dir: Path) -> tuple[int, ...]:
    """Return the numbers of documents, of their paths, of incomplete documents and of items."""
    with start_blocking_portal() as portal:
        running = portal.wrap_async_context_manager(run_embedded(data_dir))
        with running as cluster, psycopg.connect(cluster.dsn(OWNER)) as owner:
            [row] = owner.execute(_WHOLE).fetchall()
            return row


def main() -> None:
    """Measure, kill, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--conversations", type=int, default=1_000)
    parser.add_argument("--kills", type=int, default=20)
    options = parser.parse_args()
    print(tell_machine())
    with open_folder("history") as folder:
        file = folder / "conversations.json"
        write_export(file, options.conversations)
        size = file.stat().st_size / 1e6
        print(f"\n{options.conversations:,} conversations, {size:,.0f} MB\n")
        print("| step | s | s of the processor | conversations/s | MB |\n|---|--:|--:|--:|--:|")
        begin = time.perf_counter()
        for line in measure(file, folder / "one", options.conversations):
            print(line, flush=True)
        if not options.kills:
            return
        killed = kill_often(file, folder / "two", options.kills, (time.perf_counter() - begin) / 6)
        documents, paths, incomplete, items = count(folder / "two")
        print(
            f"\nAfter {killed} kills: {documents:,} documents with {paths:,} paths and {items:,} "
            f"items; incomplete: {incomplete}"
        )


if __name__ == "__main__":
    main()
