"""Benchmarks still run: in the smallest size, each prints its table."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.folders import open_folder

Run = Callable[..., str]

pytestmark = [pytest.mark.usefixtures("uncovered"), pytest.mark.slow]

ROOT = Path(__file__).parents[2]
SMALL = {
    "access": ("--facts", "60", "--calls", "2"),
    "analytics": ("--facts", "60", "--calls", "2"),
    "curation": ("--facts", "20", "--proposals", "5"),
    "explorer": ("--facts", "600", "--visits", "2"),
    "hooks": ("--facts", "600", "--calls", "2", "--cold", "1"),
    "ingest": ("--rows", "60", "--calls", "2"),
    "items": ("--items", "30", "--calls", "2"),
    "latency": ("--facts", "600", "--calls", "2", "--clients", "2"),
    "load": ("--facts", "60", "--clients", "2", "--seconds", "2", "--every", "1"),
    "profile": ("--facts", "60", "--calls", "2"),
    "subscriptions": ("--facts", "2000", "--looks", "2"),
    "start": ("--facts", "60", "--calls", "2", "--starts", "1"),
    "outage": ("--seconds", "0.1", "--down", "0", "--clients", "1", "--only", "FAILING"),
}
CONVERSATION = {
    "id": "small",
    "session_dates": {"1": "1:56 pm on 8 May, 2023"},
    "facts": [
        {"entity": "Ada", "fact": "plays the theremin", "evidence": ["D1:1"]},
        {"entity": "Bob", "fact": "keeps bees", "evidence": ["D1:2"]},
    ],
    "turns": [
        {"id": "D1:1", "session": 1, "speaker": "Ada", "text": "I play the theremin every day"},
        {"id": "D1:2", "session": 1, "speaker": "Bob", "text": "My bees are fine"},
    ],
    "questions": [
        {"question": "What does Ada play?", "evidence": ["D1:1"], "category": 1},
        {"question": "Who keeps bees?", "evidence": ["D1:2"], "category": 1},
    ],
}


@pytest.fixture
def folder() -> Iterator[Path]:
    with open_folder() as folder:
        yield folder


@pytest.fixture
def run(folder: Path) -> Run:
    """Runs a benchmark, whose databases are in `folder`; what it prints."""

    def go(name: str, *words: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", f"benchmarks.{name}", *words],
            cwd=ROOT,
            env={**os.environ, "TMPDIR": str(folder)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return go


@pytest.mark.parametrize("name", SMALL)
def test_a_benchmark_prints_its_table(run: Run, name: str) -> None:
    assert run(name, *SMALL[name]).count("|---") >= 1


def test_a_synthetic_memory_is_filled_once_and_measured_where_it_lies(
    run: Run, folder: Path
) -> None:
    outcome = run("support.synthetic", str(folder / "600"), "--facts", "600")
    assert "600 facts." in outcome
    assert [line.split(":")[0] for line in outcome.splitlines()[2:]] == [
        "load", "GIN", "HNSW", "statistics"
    ]  # fmt: skip
    filled = (folder / "600" / "filled.json").read_text("utf-8")

    file = folder / "figures.json"
    outcome = run(
        "scale", "--rows", "600", "--questions", "2", "--keep", str(folder), "--json", str(file)
    )

    assert outcome.count("\n|---") == 3
    [figures] = json.loads(file.read_text("utf-8"))
    assert figures["seconds"] == json.loads(filled)["seconds"]
    assert figures["scopes"]["everything"]["rows"] == 600


def test_recall_is_measured_for_every_task_and_arm(run: Run, tmp_path: Path) -> None:
    data, file = tmp_path / "conversations.json", tmp_path / "figures.json"
    data.write_text(json.dumps([CONVERSATION]), encoding="utf-8")
    lines = run("recall", str(data), "--json", str(file)).splitlines()[1:]
    arms = ("literal", "words", "keywords", "vectors", "hybrid", "strangers")
    names = [[t, m] for t in ("facts", "turns", "dated", "recap") for m in arms]
    assert [[word.strip(":") for word in line.split()[:2]] for line in lines] == names
    rows = json.loads(file.read_text("utf-8"))["rows"]
    assert [[row["task"], row["arm"]] for row in rows] == names
    found = {
        row["arm"]: row["recall@10"]
        for row in rows
        if row["task"] == "facts" and "recall@10" in row
    }
    assert (found["literal"], found["words"], found["hybrid"]) == (0, 100, 100)


def test_recall_of_documents_is_measured_on_files_that_every_python_has(
    run: Run, tmp_path: Path
) -> None:
    file = tmp_path / "figures.json"
    lines = run("recall", "--task", "documents", "--most", "6", "--json", str(file)).splitlines()

    steps = [line.split(":")[0] for line in lines if line.startswith("ingest")]
    assert steps == ["ingest, texts", "ingest, vectors", "ingest, nothing new"]
    assert [line.split()[0] for line in lines[-3:]] == ["keywords", "vectors", "hybrid"]
    rows = json.loads(file.read_text("utf-8"))["rows"]
    assert all(row["chunks"] > 12 for row in rows[:3])


def test_a_distributed_memory_is_measured_beside_an_ordinary_one(run: Run, pg_config: Path) -> None:
    given = ["--facts", "600", "--spaces", "4", "--workers", "1", "--cells", "2", "--calls", "4"]

    tables = run("cluster", "--citus", str(pg_config), *given).split("\n\n")[1:-1]

    heads = ["p50 / p95, ms", "processor time of a call, ms: all servers / busiest"]
    assert [table.split("|")[1].strip() for table in tables] == [*heads, "the fullest server"]
    rows = [[row.split("|")[1].strip() for row in table.splitlines()[2:]] for table in tables]
    calls = ["search of a large space", "search of a small space", "remember_fact"]
    assert rows[0] == rows[1] == [*calls, "search of 4 spaces"]
    assert rows[2] == ["vector indexes, MB", "text indexes, MB", "a session, MB"]


def test_recall_of_times_is_measured_for_every_way(run: Run, tmp_path: Path) -> None:
    data = tmp_path / "conversations.json"
    data.write_text(json.dumps([CONVERSATION]), encoding="utf-8")

    lines = run("times", str(data)).splitlines()[2:]

    ways = [[task, way] for task in ("facts", "turns") for way in ("no days", "days", "lifted")]
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]
    assert [line[:2] for line in cells] == ways
    assert {line[3] for line in cells} == {"100.0"}


def test_the_least_score_of_hooks_is_measured_for_every_task(run: Run, tmp_path: Path) -> None:
    data = tmp_path / "conversations.json"
    data.write_text(json.dumps([CONVERSATION]), encoding="utf-8")

    lines = [line for line in run("hook_recall", str(data)).splitlines() if line]

    *long_prompts, facts, turns, together = (line for line in lines if "|" not in line)
    assert (facts, turns, together) == ("facts", "turns", "together")
    assert "questions alone find their facts" in long_prompts[0]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines if "0.60" in line]
    assert [row[2] for row in rows] == ["100"] * 3  # both questions get the fact that answers them
