"""docs/frameworks.md: what stands under each heading runs as it is, and prints what is below it."""

import pytest

from tests.clients.script import Step
from tests.frameworks.catalogue import FRAMEWORKS, find_framework
from tests.frameworks.running import Frameworks, frameworks
from tests.support.pages import ROOT, read_sections

__all__ = ["frameworks"]

SECTIONS = read_sections(ROOT / "docs/frameworks.md")
TEA = "/memories/tea.md"
KEEP = Step("keep", "remember_fact", {
    "entityName": "Ada", "entityType": "person", "observation": "likes green tea",
})  # fmt: skip
OVER_MCP = ("Pydantic AI", "mcp-use", "Vercel AI SDK")
SCRIPTS: dict[str, tuple[Step, ...]] = {
    "Claude's memory tool": (
        Step("create", "memory", {"command": "create", "path": TEA, "file_text": "green tea"}),
        Step("replace", "memory", {
            "command": "str_replace", "path": TEA, "old_str": "green", "new_str": "black",
        }),
    ),
    "LangGraph": (Step("keep", "manage_memory", {"content": "likes green tea"}),),
    "Agno": (
        Step(f"call_{1:035d}", "update_user_memory", {"task": "likes green tea"}),
        Step(f"call_{2:035d}", "add_memory", {"memory": "likes green tea"}),
    ),
    **dict.fromkeys(OVER_MCP, (KEEP,)),
}  # fmt: skip
"""What the model of a section's program calls before it answers."""


def test_the_page_has_a_section_for_every_framework() -> None:
    assert [framework.name for framework in FRAMEWORKS if framework.name not in SECTIONS] == []


@pytest.mark.anyio
@pytest.mark.frameworks
@pytest.mark.timeout(900)
@pytest.mark.usefixtures("uncovered")
@pytest.mark.parametrize("name", [framework.name for framework in FRAMEWORKS])
async def test_the_lines_of_the_page_print_what_it_shows(name: str, frameworks: Frameworks) -> None:
    program, shown = SECTIONS[name]
    assert program.language == ("python" if find_framework(name).registry == "PyPI" else "js")

    outcome = await frameworks.run_text(
        name, program.body, script=SCRIPTS.get(name, ()), ending="Noted."
    )

    assert outcome.output.endswith(shown.body)  # CrewAI prints its panels before it
    if name in OVER_MCP:
        assert "Error" not in outcome.turns[-1].results["keep"]
