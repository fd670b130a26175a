"""A program runs where its framework is, and its failure is the test's."""

import pytest

from tests.clients.script import Step
from tests.frameworks.running import MARKS, Frameworks, frameworks

__all__ = ["frameworks"]

pytestmark = MARKS

AGENT = """
from agents import Agent, Runner, function_tool, set_tracing_disabled

@function_tool
def add(first: int, second: int) -> int:
    return first + second

set_tracing_disabled(True)
agent = Agent(name="agent", model="stand-in", tools=[add])
print(Runner.run_sync(agent, "What is 2 + 3?").final_output)
"""


async def test_the_model_of_a_program_plays_the_script_and_then_answers(
    frameworks: Frameworks,
) -> None:
    script = [Step("sum", "add", {"first": 2, "second": 3})]

    outcome = await frameworks.run_text("OpenAI Agents", AGENT, script=script, ending="It is 5.")

    assert outcome.output == "It is 5.\n"
    assert [turn.results for turn in outcome.turns] == [{}, {"sum": "5"}]


async def test_a_program_that_fails_fails_its_test_with_what_it_wrote(
    frameworks: Frameworks,
) -> None:
    with pytest.raises(AssertionError, match="no such memory"):
        await frameworks.run_text("OpenAI Agents", "raise SystemExit('no such memory')")
