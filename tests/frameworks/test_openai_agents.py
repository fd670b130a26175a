"""A session of the OpenAI Agents SDK is a log, with which every run can go on."""

from tests.frameworks.running import MARKS, Frameworks, frameworks

__all__ = ["frameworks"]

pytestmark = MARKS


async def test_a_session_holds_what_its_sqlite_session_holds_and_a_run_reads_it(
    frameworks: Frameworks,
) -> None:
    outcome = await frameworks.run("OpenAI Agents", "openai_agents_session.py", ending="Hello Ada.")

    read = [[item["content"] for item in turn.body["input"]] for turn in outcome.turns]
    assert read[0] == ["My name is Ada."]
    assert (read[1][0], read[1][1][0]["text"], read[1][2]) == (
        "My name is Ada.", "Hello Ada.", "What is my name?"
    )  # fmt: skip
