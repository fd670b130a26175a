"""Memories of other frameworks on items: each has the framework's own one as its oracle."""

from typing import Any

from tests.clients.script import Step
from tests.frameworks.running import MARKS, Frameworks, frameworks

__all__ = ["frameworks"]

pytestmark = MARKS


async def test_an_agent_of_adk_loads_what_its_user_said_and_nobody_else(
    frameworks: Frameworks,
) -> None:
    load = Step("remember", "load_memory", {"query": "office city"})  # Gemini's answers have no ids

    await frameworks.run("Google ADK", "adk.py", script=[load], ending="In Bern.")


async def test_programs_for_mem0_run_with_only_the_import_changed(frameworks: Frameworks) -> None:
    outcome = await frameworks.run("mem0", "mem0.py", ending="You love tea.")

    [*_, last] = outcome.turns
    assert "- I love green tea" in _read_prompt(last.body)


async def test_an_agent_of_llamaindex_reads_messages_of_another_session(
    frameworks: Frameworks,
) -> None:
    outcome = await frameworks.run("LlamaIndex", "llamaindex.py", ending="In Bern.")

    [turn] = outcome.turns
    assert "user: My office is in Bern" in _read_prompt(turn.body)


async def test_an_assistant_of_autogen_reads_what_answers_its_task(frameworks: Frameworks) -> None:
    outcome = await frameworks.run("AutoGen", "autogen.py", ending="In Bern.")

    [turn] = outcome.turns
    assert "1. The office is in Bern" in _read_prompt(turn.body)


async def test_an_agent_of_agno_stores_a_memory_and_reads_it_in_another_session(
    frameworks: Frameworks,
) -> None:
    script = [
        Step(_name_call(1), "update_user_memory", {"task": "Remember: drinks green tea"}),
        Step(_name_call(2), "add_memory", {"memory": "Drinks green tea", "topics": ["tea"]}),
    ]

    outcome = await frameworks.run("Agno", "agno.py", script=script)

    asked = [_read_prompt(turn.body) for turn in outcome.turns if "What do I" in str(turn.body)]
    assert asked
    assert all("- Drinks green tea" in prompt for prompt in asked)


async def test_an_agent_of_crewai_recalls_what_another_crew_remembered(
    frameworks: Frameworks,
) -> None:
    outcome = await frameworks.run("CrewAI", "crewai.py", ending="In Bern.")

    assert "The office is in Bern" in _read_prompt(outcome.turns[0].body)


def _read_prompt(body: dict[str, Any]) -> str:
    return "\n".join(str(message["content"]) for message in body["messages"])


def _name_call(number: int) -> str:
    """Agno keeps only ids that are as long as those of OpenAI."""
    return f"call_{number:035d}"
