"""Benchmarks still run: in the smallest size, each prints its table."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SMALL = {
    "access": ("--facts", "60", "--calls", "2"),
    "analytics": ("--facts", "60", "--calls", "2"),
    "latency": ("--facts", "600", "--calls", "2", "--clients", "2"),
    "load": ("--facts", "60", "--clients", "2", "--seconds", "2", "--every", "1"),
    "profile": ("--facts", "60", "--calls", "2"),
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


def run(name: str, *words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", f"benchmarks.{name}", *words],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("name", SMALL)
def test_a_benchmark_prints_its_table(name: str) -> None:
    assert run(name, *SMALL[name]).count("|---") >= 1


def test_recall_is_measured_for_every_task_and_arm(tmp_path: Path) -> None:
    data, file = tmp_path / "conversations.json", tmp_path / "figures.json"
    data.write_text(json.dumps([CONVERSATION]), encoding="utf-8")
    lines = run("recall", str(data), "--json", str(file)).splitlines()[1:]
    arms = ("literal", "words", "keywords", "vectors", "hybrid")
    names = [[t, m] for t in ("facts", "turns", "dated") for m in arms]
    assert [line.split()[:2] for line in lines] == names
    rows = json.loads(file.read_text("utf-8"))["rows"]
    assert [[row["task"], row["arm"]] for row in rows] == names
    found = {row["arm"]: row["recall@10"] for row in rows if row["task"] == "facts"}
    assert (found["literal"], found["words"], found["hybrid"]) == (0, 100, 100)
