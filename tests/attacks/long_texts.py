"""Reads long texts of repeated marks, as a process whose processor time the test limits."""

import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import NamedTemporaryFile

from textrawl.connect.clients import hide_secrets
from textrawl.hooks.response import write_query
from textrawl.memory.documents import clean_text, read_file
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
