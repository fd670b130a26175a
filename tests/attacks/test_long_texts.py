"""Texts and files that were made to take a reader's time."""

import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import NamedTemporaryFile

import anyio
import pytest
from anyio import to_process

from textrawl.connect.clients import hide_secrets
from textrawl.hooks.response import write_query
from textrawl.hooks.transcripts import read_texts
from textrawl.memory.documents import clean_text, read_file, read_file_within
from textrawl.memory.journal import read_bullets
from textrawl.memory.vault import read_note
from textrawl.models.llm import drop_thoughts, find_object
from textrawl.values.condensation import condense
from textrawl.values.leaks import find_secrets
from textrawl.values.text import clean_name, remove_hidden, split_text
from textrawl.values.transcripts import clean_message

LENGTH = 100_000
MARKS = (
    "a", " ", "\n", " \n", "`", "```a\n", "<", "</", "<!--", "&#", "[", "[chat:", " [chat:", "[a](",
    "*a **b _c ", "- ", "---\n", ">", "a@", "{", "\\", "'", '"a', "://", "<timestamp",
    "<timestamp>", "<hook_context>", "<system-reminder>", "<system-reminder a", "<user_query>",
    "<think>", "</timestamp>", "token", "token=", "eyJ-", "sk-", "4 ",
    "-----BEGIN PRIVATE KEY-----", "-", "e\u0301", "\u200d", "漢", "A's ", "🇹",
)  # fmt: skip
READERS: tuple[Callable[[str], object], ...] = (
    clean_message, write_query, hide_secrets, clean_text, drop_thoughts, find_object,
    lambda text: read_note(f"---\n{text}"), lambda text: read_bullets(f"- a{text}"), split_text,
    clean_name, remove_hidden, condense, find_secrets,
)  # fmt: skip

# Beginnings of tags and comments, which a page repeats without an end.
BEGINNINGS = ("<a ", "<a b='", "</a", "<!--", "<![CDATA[", "<!x", "<?x")


def read_page(text: str) -> None:
    with NamedTemporaryFile("w", suffix=".html") as file:
        file.write(text)
        file.flush()
        read_file(Path(file.name))


if __name__ == "__main__":
    for beginning in BEGINNINGS:
        for end in ("", ">", "'>"):
            read_page("<p>Tea at four.</p>" + (beginning * LENGTH)[:LENGTH] + end)
    for marks in MARKS:
        text = (marks * LENGTH)[:LENGTH]
        for read in READERS:
            read(text)
    sys.stdout.write("read")


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
