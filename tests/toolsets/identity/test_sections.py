"""Sections of identity files: what a change of a section touches, and what it leaves alone."""

from collections.abc import Callable

import anyio
import pytest
from hypothesis import given
from hypothesis import settings as configure
from hypothesis import strategies as st
from mcp import Client

from tests.conftest import Connect
from tests.support.examples import EXAMPLES
from tests.support.tool_calls import read, refuse
from tests.toolsets.identity.conftest import Ask
from textrawl.memory.identity import SectionRefused, add_to_section, rewrite_section

pytestmark = pytest.mark.anyio

FILE = {"category": "user", "filename": "user_life.md"}
FAMILY = "\n\n## Family\nTwo sisters.\n"
OLD = f"# Ada\n\n## Work\n- nurse{FAMILY}"
RIGA = f"# Ada\n\n## Work\n- nurse\n\n- in Riga{FAMILY}"
DOCTOR = f"# Ada\n\n## Work\n- doctor{FAMILY}"


ADDITIONS = (
    (OLD, "Work", "- in Riga", RIGA),
    (OLD, "Family", "A dog.\n", OLD + "\nA dog.\n"),
    (OLD, "Work", "## Work\n- in Riga", RIGA),
    (OLD, "## Work", "- in Riga", RIGA),
    # A section of level 3 ends at a heading of level 2, one of level 2 has those of level 3.
    ("### A\na\n## B\nb", "A", "n", "### A\na\n\nn\n\n## B\nb"),
    ("## A\na\n### C\nc\n## B\nb", "A", "n", "## A\na\n### C\nc\n\nn\n\n## B\nb"),
    ("## A\na\n# B\nb", "A", "n", "## A\na\n\nn\n\n# B\nb"),
    # CRLF and a missing last line end stay.
    ("## A\r\na\r\n\r\n## B\r\nb", "A", "n", "## A\r\na\r\n\r\nn\r\n\r\n## B\r\nb"),
    ("## A", "A", "n", "## A\nn"),
    # These are no headings of level 2 or 3.
    ("```\n## A\n```\n", "A", "n", "```\n## A\n```\n\n## A\nn\n"),
    ("~~~ md\n## A\n~~~\n## A\na", "A", "n", "~~~ md\n## A\n~~~\n## A\na\n\nn"),
    ("> ## A\n", "A", "n", "> ## A\n\n## A\nn\n"),
    ("    ## A\n", "A", "n", "    ## A\n\n## A\nn\n"),
    ("# A\n#### A\n", "A", "n", "# A\n#### A\n\n## A\nn\n"),
    ("## A b\n## a\n", "A", "n", "## A b\n## a\n\n## A\nn\n"),
    # A heading can be underlined, or have signs at its end.
    ("A\n---\na\n", "A", "n", "A\n---\na\n\nn\n"),
    ("## A ##\na\n", "A", "n", "## A ##\na\n\nn\n"),
    ("", "New", "n", "## New\nn\n"),
)  # fmt: skip


async def test_a_text_is_added_to_the_end_of_a_section(ask: Ask, look: Ask) -> None:
    for number, (before, section, content, after) in enumerate(ADDITIONS):
        file = FILE | {"filename": f"file{number}.md"}
        await ask("identity_write", **file, content=before)

        answer = await ask("identity_update_section", **file, section=section, content=content)

        assert answer == {"ok": True}
        assert await look("user", file["filename"]) == after
    assert (await ask("snapshot_list"))["snaps"] == []


async def test_a_section_is_rewritten_and_the_former_text_of_the_file_stays_as_a_snapshot(
    ask: Ask, look: Ask
) -> None:
    for before, section, content, after in (
        (OLD, "Work", "- doctor", DOCTOR),
        (OLD, "Work", "\n### Work\n\n- doctor\n\n", DOCTOR),
        (OLD, "Family", "", "# Ada\n\n## Work\n- nurse\n\n## Family\n\n"),
        (OLD, "Pets", "A cat.", OLD + "\n## Pets\nA cat.\n"),
        ("## A\n\na\n### C\nc\n\n## B", "A", "n", "## A\n\nn\n\n## B"),
    ):  # fmt: skip
        await ask("identity_write", **FILE, content=before)

        answer = await ask("identity_rewrite_section", **FILE, section=section, content=content)

        assert await look("user", "user_life.md") == after
        assert (await ask("snapshot_get", snapshotId=answer["snap"]))["c"] == before


async def test_a_section_of_a_file_that_does_not_exist_is_a_failure(
    client: Client, ask: Ask
) -> None:
    await ask("identity_write", **FILE | {"filename": "other.md"}, content="text")
    for tool in ("identity_update_section", "identity_rewrite_section"):
        result = await client.call_tool(tool, {**FILE, "section": "Work", "content": "x"})
        assert result.is_error
        assert result.structured_content == {
            "success": False,
            "message": "I have no file user/user_life.md: create it with identity_write.",
        }


async def test_an_open_block_that_would_swallow_headings_is_refused(
    client: Client, ask: Ask, look: Ask
) -> None:
    for before, content in (
        ("## Work\nx\n## Family\n", "```\nopen"),
        ("## Work\n## B", "<!-- open"),
        ("```\nopen", "x"),
    ):
        await ask("identity_write", **FILE, content=before)

        refused = await refuse(
            client, "identity_update_section", **FILE, section="Work", content=content
        )

        assert refused[0] == "Open block"
        assert await look("user", "user_life.md") == before


async def test_a_section_has_the_name_of_one_line(client: Client) -> None:
    for section in ("", "##", " # ", "a\nb", "\u202e", "x" * 201):
        refused = await refuse(
            client, "identity_update_section", **FILE, section=section, content="x"
        )
        assert refused[0] == "Invalid argument"


async def test_changes_of_one_section_at_the_same_time_are_all_kept(
    connect: Connect, ask: Ask, look: Ask
) -> None:
    await ask("identity_write", **FILE, content=OLD)
    clients = [await connect(toolsets=["identity"]) for _ in range(4)]

    async def add(client: Client, number: int) -> None:
        for step in range(3):
            content = f"- note {number}.{step}"
            arguments = {**FILE, "section": "Work", "content": content}
            read(await client.call_tool("identity_update_section", arguments))

    async with anyio.create_task_group() as group:
        for number, client in enumerate(clients):
            group.start_soon(add, client, number)

    text = await look("user", "user_life.md") or ""
    notes = sorted(line for line in text.splitlines() if line.startswith("- note"))
    assert notes == sorted(f"- note {number}.{step}" for number in range(4) for step in range(3))


# Blocks of Markdown that end before the next line. None has a heading `A` of level 2 or 3.
CLOSED = st.sampled_from(
    ["text\n", "```\n## A\n```\n", "~~~ md\n# T\n## A\n~~~\n", "> ## A\n", "- ## A\n", "    ## A\n",
     "#### A\n", "<!--\n## A\n-->\n", "two\nlines\n", "##A\n", "\\## A\n", "* * *\n", "\n"]
)  # fmt: skip
HEADINGS = ("# A\n", "## A b\n", "### a\n", "B\n---\n", "T\n===\n")
PIECES = [
    "## A\n", "### A\n", "# T\n", "text\n", "\n", "- item\n", "```\n", "> q\n", "---\n", "<div>\n",
    "<!--\n", "-->\n", "    code\n", "~~~\n", "\t", "end",
]  # fmt: skip
WILD = st.lists(st.sampled_from(PIECES), max_size=8).map("".join)


def join(blocks: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Some blocks, each with a blank line after it."""
    return st.lists(blocks, max_size=5).map(lambda found: "".join(f"{one}\n" for one in found))


PARTS = st.tuples(
    join(CLOSED | st.sampled_from(HEADINGS)),
    st.sampled_from(["## A\n", "## A ##\n", "A\n---\n", "### A\n"]),
    join(CLOSED),
    st.just("") | st.builds("{}{}".format, st.sampled_from(["# A\n", "## B\n"]), WILD),
)
"""The text before a section, its heading, its text, and the text after it."""


@given(
    parts=PARTS,
    content=WILD,
    line_end=st.sampled_from(["\n", "\r\n", "\r"]),
    change=st.sampled_from([add_to_section, rewrite_section]),
)
@configure(max_examples=10 * EXAMPLES)
@pytest.mark.slow
def test_a_change_of_a_section_never_touches_the_text_outside_it(
    parts: tuple[str, ...], content: str, line_end: str, change: Callable[[str, str, str], str]
) -> None:
    before, heading, body, rest = (part.replace("\n", line_end) for part in parts)
    try:
        after = change(before + heading + body + rest, "A", f"{content}\n\nMARK")
    except SectionRefused:
        return

    assert after.startswith(before + heading)
    assert after.endswith(rest)
    section = after[len(before + heading) : len(after) - len(rest)]
    assert "MARK" in section
    assert (change is rewrite_section) or section.startswith(body.rstrip())


@given(text=join(CLOSED), content=WILD, end=st.sampled_from(["", "end", "\r\n"]))
def test_a_new_section_never_touches_the_text_before_it(text: str, content: str, end: str) -> None:
    for change in (add_to_section, rewrite_section):
        after = change(text + end, "A", content)
        assert after.startswith(text + end)
        assert "## A" in after.removeprefix(text + end)
