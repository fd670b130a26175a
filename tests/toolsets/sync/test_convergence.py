"""Random edits of three programs: one state at the end, and no text is lost."""

from dataclasses import dataclass
from typing import Any

import anyio
import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import Connect
from tests.support.examples import EXAMPLES
from tests.toolsets.sync.programs import Program

pytestmark = pytest.mark.anyio

EARLY = "2026-01-01T10:00Z"
PATHS = ("self/my_wants.md", "user/user_life.md", "custom/garden.md")


@dataclass(frozen=True)
class Edit:
    who: int
    path: str
    text: str | None


@dataclass(frozen=True)
class Pull:
    who: int


@dataclass(frozen=True)
class Push:
    who: int
    at: str | None


Step = Edit | Pull | Push
WHO = st.integers(0, 2)
STEPS = st.lists(
    st.one_of(
        st.builds(Edit, WHO, st.sampled_from(PATHS), st.sampled_from([None, "a", "b"])),
        st.builds(Pull, WHO),
        st.builds(Push, WHO, st.sampled_from([None, EARLY])),
    ),
    max_size=25,
)


async def run(programs: list[Program], steps: list[Step]) -> list[str]:
    """Do the steps, then let all programs push and pull. Return every text that was pushed."""
    pushed = list[str]()
    for number, step in enumerate(steps):
        program = programs[step.who]
        if isinstance(step, Edit):
            program.edit(step.path, step.text and f"{step.text}{number} of {program.id}")
        elif isinstance(step, Pull):
            await program.pull()
        elif program.changed:
            pushed += [text for text in program.changed.values() if text is not None]
            await program.push(step.at)
    for program in programs:
        if program.changed:
            pushed += [text for text in program.changed.values() if text is not None]
            await program.push()
    for program in programs:
        await program.pull()
    return pushed


@pytest.mark.slow
async def test_three_programs_agree_after_any_edits_and_every_pushed_text_is_kept(
    connect: Connect, owner: psycopg.Connection[Any]
) -> None:
    client = await connect(toolsets=["sync", "identity"])
    loop = anyio.from_thread.BlockingPortal  # steps run on this loop, hypothesis in a thread

    async def check(steps: list[Step]) -> None:
        owner.execute("delete from document; delete from document_tombstone")
        programs = [Program(client, name) for name in ("laptop", "phone", "desk")]
        pushed = await run(programs, steps)
        kept = owner.execute("select content from document_version").fetchall()
        assert programs[0].copy == programs[1].copy == programs[2].copy
        assert set(pushed) <= {text for (text,) in kept}

    async with loop() as portal:

        @settings(max_examples=2 * EXAMPLES)
        @given(steps=STEPS)
        def hold(steps: list[Step]) -> None:
            portal.call(check, steps)

        await anyio.to_thread.run_sync(hold)
