"""Each command and hook that reads works with an own entity beside graphs of every kind."""

from pathlib import Path

import pytest

from tests.hooks.conftest import open_memory
from tests.hooks.sessions import Session
from tests.support.commands import Run

QUESTION = "Who leads QA at Acme?"
FACT = "leads QA at Acme"
FINDING = (
    ("recall", QUESTION),
    ("recall", "What do I lead?"),
    ("search", QUESTION),
    ("show", "Ada"),
    ("digest",),
    ("explain", QUESTION),
    ("export",),
)
"""Commands that print the fact."""
OTHERS = (
    ("stats",),
    ("doctor",),
    ("tidy",),
    ("log",),
    ("me",),
    ("review", "list"),
    ("entity", "same"),
    ("entity", "alias", "list"),
    ("space", "list"),
    ("grant", "list"),
    ("token", "list"),
    ("cost",),
)
# What a newcomer does, one step after the other.
STEPS = {
    "the first fact": (),
    "the order of docs/commands.md and docs/bring-what-you-have.md": (
        ("me", "Ada"),
        ("ingest", "{folder}/meals.md"),
    ),
    "a space of each kind": (
        ("space", "create", "handbook", "--tier", "public"),
        ("space", "create", "diary", "--tier", "sensitive"),
        ("space", "create", "werk", "--language", "german"),
        ("space", "create", "team"),
        ("space", "review", "team"),
    ),
    "no own entity any more": (("me", "--clear"),),
}


@pytest.mark.slow
def test_no_step_of_a_newcomer_breaks_a_command_or_hook_that_reads(
    seed: Path, run: Run, tmp_path: Path
) -> None:
    (tmp_path / "meals.md").write_text("Tea is served at four.\n", encoding="utf-8")
    broken = list[str]()
    with open_memory(seed) as values:
        for step, commands in STEPS.items():
            for words in commands:
                done = run(*(word.format(folder=tmp_path) for word in words), **values)
                assert done.code == 0, done.err
            for command in (*FINDING, *OTHERS):
                read = run(*command, **values)
                if read.code or (command in FINDING and FACT not in read.out):
                    broken.append(f"{command} after {step}: {read.err or read.out}")
            for client in ("claude-code", "codex"):
                session = Session(client, tmp_path, values, patient=True)
                begun = session.tell("start", source="startup")
                asked = session.tell("prompt", prompt=QUESTION)
                if FACT not in begun.text + asked.text or begun.code or asked.code:
                    broken.append(f"hook of {client} after {step}: {begun} {asked}")

    assert broken == []
