"""sync_push and sync_pull: what each program gets, and whose edit counts."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import anyio
import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mcp import Client

from tests.conftest import Connect, Era
from tests.support.clock import set_back
from tests.support.examples import EXAMPLES
from tests.support.tool_calls import refuse, structured
from tests.toolsets.sync.programs import Program, write_change

pytestmark = pytest.mark.anyio

WANTS, LIFE = "self/my_wants.md", "user/user_life.md"
A_FILE = {"category": "self", "filename": "a.md", "content": "x"}
EARLY, LATE = "2026-01-01T10:00Z", "2026-01-01T11:00Z"


@pytest.fixture
async def shared(connect: Connect, era: Era) -> Client:
    """A client with all that is shared."""
    return await connect(era, toolsets=["sync", "identity", "journal"])


async def test_a_program_gets_what_another_pushed(shared: Client) -> None:
    laptop, phone = Program(shared, "laptop"), Program(shared, "phone")
    laptop.edit(WANTS, "To learn Latvian.\n")

    pushed = await laptop.push()
    await phone.pull()

    assert (pushed["stored"], pushed.get("conflicts")) == (1, None)
    assert phone.copy == laptop.copy
    assert phone.known == laptop.known


async def test_a_pull_returns_only_what_changed_since_the_version(shared: Client) -> None:
    laptop = Program(shared, "laptop")
    laptop.edit(WANTS, "Tea.")
    first = await laptop.push()
    laptop.edit(LIFE, "Lives in Riga.")
    await laptop.push()

    known = first["newSyncToken"]["serverVersion"]
    since = await structured(shared, "sync_pull", instanceId="phone", lastSyncVersion=known)
    whole = await structured(shared, "sync_pull", instanceId="phone")

    assert [file["filename"] for file in since["identityFiles"]] == ["user_life.md"]
    assert [file["filename"] for file in whole["identityFiles"]] == ["my_wants.md", "user_life.md"]


@pytest.mark.parametrize(
    ("first", "second", "text"), [(EARLY, LATE, "phone"), (LATE, EARLY, "laptop")]
)
async def test_of_two_edits_at_the_same_time_the_later_one_counts_and_both_programs_see_it(
    shared: Client, owner: psycopg.Connection[Any], first: str, second: str, text: str
) -> None:
    laptop, phone = Program(shared, "laptop"), Program(shared, "phone")
    laptop.edit(WANTS, "laptop")
    phone.edit(WANTS, "phone")

    await laptop.push(first)
    answer = await phone.push(second)
    for program in (laptop, phone):
        await program.pull()

    winner = "incoming" if text == "phone" else "stored"
    assert answer["conflicts"] == [{"path": WANTS, "winner": winner, "other": "laptop"}]
    assert laptop.copy == phone.copy == {WANTS: text}
    kept = owner.execute("select content, lost from document_version order by version").fetchall()
    assert kept == [("laptop", False), ("phone", winner == "stored")]


@pytest.mark.parametrize(
    ("kind", "winner"),
    [("sillytavern", "stored"), ("sby", "incoming"), ("claude-code", "incoming")],
)
async def test_of_two_edits_of_the_same_moment_the_kind_of_the_program_decides(
    shared: Client, kind: str, winner: str
) -> None:
    laptop, phone = Program(shared, "laptop", "claude-code"), Program(shared, "phone", kind)
    for program in (laptop, phone):
        program.edit(WANTS, program.id)

    await laptop.push(EARLY)
    answer = await phone.push(EARLY)

    assert [conflict["winner"] for conflict in answer["conflicts"]] == [winner]


async def test_an_edit_of_what_nobody_else_changed_counts_whatever_its_time(shared: Client) -> None:
    laptop, phone = Program(shared, "laptop"), Program(shared, "phone")
    laptop.edit(WANTS, "first")
    await laptop.push(LATE)
    await phone.pull()
    phone.edit(WANTS, "second")

    answer = await phone.push(EARLY)

    assert answer.get("conflicts") is None
    await laptop.pull()
    assert laptop.copy == {WANTS: "second"}


async def test_an_instance_has_no_conflict_with_itself(shared: Client) -> None:
    laptop = Program(shared, "laptop")
    for text in ("first", "second"):
        laptop.known = 0  # as if the answer of the first push had been lost
        laptop.edit(WANTS, text)
        answer = await laptop.push(EARLY)

        assert (answer["stored"], answer.get("conflicts")) == (1, None)


async def test_the_token_of_a_push_skips_no_change_of_another_program(shared: Client) -> None:
    laptop, phone = Program(shared, "laptop"), Program(shared, "phone")
    laptop.edit(WANTS, "Tea.")
    await laptop.push()
    phone.edit(LIFE, "Riga.")

    await phone.push()
    await phone.pull()

    assert phone.copy == {WANTS: "Tea.", LIFE: "Riga."}


async def test_a_clock_that_is_ahead_wins_no_later_conflict(shared: Client) -> None:
    laptop, phone = Program(shared, "laptop"), Program(shared, "phone")
    laptop.edit(WANTS, "from the future")
    refused = await refuse(
        shared,
        "sync_push",
        instance={"id": "laptop"},
        identityChanges=[write_change(WANTS, "from the future", "2999-01-01T00:00Z")],
    )
    await laptop.push()
    phone.edit(WANTS, "now")

    answer = await phone.push()

    assert "future" in " ".join(refused)
    assert [conflict["winner"] for conflict in answer["conflicts"]] == ["incoming"]


async def test_a_change_after_the_clock_was_set_back_wins_over_a_time_that_is_to_come(
    shared: Client, owner: psycopg.Connection[Any]
) -> None:
    laptop, phone = Program(shared, "laptop"), Program(shared, "phone")
    laptop.edit(WANTS, "before")
    await laptop.push()
    set_back(owner, timedelta(days=365))
    phone.edit(WANTS, "after")

    answer = await phone.push()

    assert [conflict["winner"] for conflict in answer["conflicts"]] == ["incoming"]


async def test_a_deleted_file_is_deleted_in_all_copies_and_an_undo_brings_it_back(
    shared: Client, owner: psycopg.Connection[Any]
) -> None:
    laptop, phone = Program(shared, "laptop"), Program(shared, "phone")
    laptop.edit("custom/garden.md", "Beans.")
    await laptop.push()
    await phone.pull()
    before = owner.execute("select clock_timestamp()").fetchall()[0][0]
    phone.edit("custom/garden.md", None)
    await phone.push()

    await laptop.pull()
    assert laptop.copy == {}

    owner.execute("select undo_author('ada', %s)", (before,))
    await laptop.pull()
    assert laptop.copy == {"custom/garden.md": "Beans."}


async def test_an_entry_that_was_deleted_for_good_does_not_come_back_with_an_old_copy(
    shared: Client,
) -> None:
    entry = {"granularity": "weekly", "date": "2026-W19"}
    change = entry | {"content": "- a secret", "lastModified": EARLY}
    await structured(shared, "sync_push", instance={"id": "laptop"}, memoryChanges=[change])
    await structured(shared, "memory_delete", **entry)

    answer = await structured(shared, "sync_push", instance={"id": "phone"}, memoryChanges=[change])

    pulled = await structured(shared, "sync_pull", instanceId="phone")
    assert [conflict["winner"] for conflict in answer["conflicts"]] == ["deleted"]
    assert [(one["id"], one.get("content")) for one in pulled["memories"]] == [
        ("weekly-2026-W19", None)
    ]


@pytest.mark.parametrize(
    ("key", "shown"),
    [
        ({"granularity": "significant", "slug": "first-talk"}, {"slug": "first-talk"}),
        ({"granularity": "daily", "instanceId": "laptop"}, {"sourceInstance": "laptop"}),
    ],
)
async def test_a_pull_names_the_key_of_an_entry_that_was_deleted_for_good(
    shared: Client, key: dict[str, str], shown: dict[str, str]
) -> None:
    entry = {"date": "2026-05-12", **key}
    created = {"instanceId": "laptop", **entry, "content": "- a secret"}
    await structured(shared, "memory_create", **created)
    await structured(shared, "memory_delete", **entry)

    pulled = await structured(shared, "sync_pull", instanceId="phone")

    identified = {"id": f"{key['granularity']}-2026-05-12", "date": "2026-05-12"}
    named = {"granularity": key["granularity"], "deleted": True}
    assert pulled["memories"] == [identified | named | shown]


async def test_a_pushed_entry_is_a_journal_entry_and_a_fact(connect: Connect) -> None:
    client = await connect(toolsets=["sync", "journal", "memory"])
    change = {
        "granularity": "daily",
        "date": "2026-05-12",
        "content": "- We planted beans [chat:7]",
        "chatIds": ["7"],
    }
    await structured(client, "sync_push", instance={"id": "laptop"}, memoryChanges=[change])

    entry = await structured(client, "memory_read", granularity="daily", date="2026-05-12")
    found = await structured(client, "query_memory", mode="search", query="beans")

    assert (entry["sourceInstance"], entry["chatIds"]) == ("laptop", ["7"])
    assert [one["entityName"] for one in found["entities"]] == ["journal 2026-05-12 laptop"]


async def test_a_push_is_stored_whole_or_not_at_all(
    shared: Client, owner: psycopg.Connection[Any]
) -> None:
    refused = await refuse(
        shared,
        "sync_push",
        instance={"id": "laptop"},
        identityChanges=[write_change(WANTS, "Tea.")],
        memoryChanges=[{"granularity": "daily", "date": "2026-02-29", "content": "- a day"}],
    )

    assert "2026-02-29" in " ".join(refused)
    assert owner.execute("select count(*) from document").fetchone() == (0,)


async def test_bad_input_is_explained_and_changes_nothing(
    shared: Client, owner: psycopg.Connection[Any]
) -> None:
    push = {"instance": {"id": "laptop"}, "identityChanges": [write_change(WANTS, "Tea.")]}
    cases: tuple[tuple[dict[str, Any], str], ...] = (
        ({"lastSyncVersion": 7}, "lastSyncVersion"),
        ({"instance": {"id": "../etc"}}, "instance"),
        ({"instance": {"id": "laptop", "type": "fridge"}}, "type"),
        ({"identityChanges": [{**A_FILE, "filename": "../a.md"}]}, "filename"),
        ({"identityChanges": [{**A_FILE, "deleted": True}]}, "content"),
        ({"identityChanges": []}, "Nothing to push"),
    )
    for changes, reason in cases:
        refused = await refuse(shared, "sync_push", **push | changes)

        assert reason in " ".join(refused)
        assert owner.execute("select count(*) from document").fetchone() == (0,)


async def test_the_programs_are_known_after_a_restart(connect: Connect) -> None:
    first = await connect(toolsets=["sync"])
    await Program(first, "laptop", "claude-code").pull()
    pusher = Program(first, "phone")
    pusher.edit(WANTS, "Tea.")
    await pusher.push()

    status = await structured(await connect(toolsets=["sync"]), "sync_status")

    assert status["serverVersion"] == pusher.known
    assert [one["id"] for one in status["connectedInstances"]] == ["phone", "laptop"]


async def test_a_reader_pulls_and_is_not_noted(connect: Connect) -> None:
    await Program(await connect(toolsets=["sync"], read_only=True), "laptop").pull()

    status = await structured(await connect(toolsets=["sync"]), "sync_status")

    assert status["connectedInstances"] == []


MORNING = "2026-01-01T10:00Z"
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
        st.builds(Push, WHO, st.sampled_from([None, MORNING])),
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
