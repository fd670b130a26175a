"""The time to read a text grows with its length, whatever marks it repeats."""

import os
import resource
import subprocess
import sys
from pathlib import Path

import anyio
import pytest
from anyio import to_process

from textrawl.hooks.response import write_query
from textrawl.hooks.transcripts import read_texts
from textrawl.memory.documents import read_file_within
from textrawl.values.transcripts import clean_message

PROCESSOR_SECONDS = 40  # they need about eight; before, one of these texts needed more


def limit_processor() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (PROCESSOR_SECONDS, PROCESSOR_SECONDS))


def test_long_texts_of_repeated_marks_are_read_in_linear_time() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.attacks.long_texts"],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=limit_processor,
    )

    assert (done.returncode, done.stdout) == (0, "read"), done.stderr


@pytest.mark.anyio
async def test_a_file_that_needs_too_much_time_ends_only_its_reader(tmp_path: Path) -> None:
    """The reader of HTML needs many seconds for this page, though each character costs the same."""
    (tmp_path / "page.html").write_text("<i>a</i> " * 400_000, encoding="utf-8")
    (tmp_path / "tea.html").write_text("<p>Tea at four.", encoding="utf-8")

    with pytest.raises(anyio.BrokenWorkerProcess):
        await to_process.run_sync(read_file_within, tmp_path / "page.html", 1, cancellable=True)

    text = await to_process.run_sync(read_file_within, tmp_path / "tea.html", 60, cancellable=True)
    assert text.text == "Tea at four."


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("<timestamp>12:00</timestamp>What now?", "What now?"),
        ('a <system-reminder id="1">no</system-reminder>b', "a b"),
        ("a <timestamp>b", "a <timestamp>b"),
        ("a <timestamp><hook_context>no</hook_context> b", "a <timestamp> b"),
        ("a <timestamp>1<timestamp>2</timestamp> b", "a  b"),
        ("a <timestamps>1</timestamps>", "a <timestamps>1</timestamps>"),
    ],
)
def test_added_elements_are_left_out_of_a_message(text: str, kept: str) -> None:
    assert clean_message(text) == kept


def test_added_elements_are_left_out_of_a_query() -> None:
    added = "<hook_context>no</hook_context><system-reminder>no</system-reminder>"

    query = write_query(f"Tea{added}at four? <system-reminder>")
    assert query.split() == ["Tea", "at", "four?", "<system-reminder>"]


def test_a_transcript_that_is_a_fifo_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "transcript.jsonl")

    with pytest.raises(OSError, match="seek"):
        read_texts(tmp_path / "transcript.jsonl")
