"""Claude's memory tool keeps its files as items."""

from tests.clients.script import Step
from tests.frameworks.running import MARKS, Frameworks, frameworks

__all__ = ["frameworks"]

pytestmark = MARKS

NAME = "Claude's memory tool"
FILE = "/memories/tea.md"
SCRIPT = (
    Step("view", "memory", {"command": "view", "path": "/memories"}),
    Step("create", "memory", {"command": "create", "path": FILE, "file_text": "green tea\n"}),
    Step("again", "memory", {"command": "create", "path": FILE, "file_text": "green tea\n"}),
    Step("replace", "memory", {
        "command": "str_replace", "path": FILE, "old_str": "green", "new_str": "black",
    }),
)  # fmt: skip


async def test_commands_answer_and_leave_files_as_those_of_the_sdk_do(
    frameworks: Frameworks,
) -> None:
    await frameworks.run(NAME, "anthropic_commands.py")


async def test_the_tool_runner_works_on_files_whose_earlier_texts_are_kept(
    frameworks: Frameworks,
) -> None:
    outcome = await frameworks.run(NAME, "anthropic_agent.py", script=SCRIPT, ending="Noted.")

    for turn in (outcome.turns[4], outcome.turns[-1]):
        assert turn.results == {
            "view": "Here're the files and directories up to 2 levels deep in /memories, "
            "excluding hidden items:\n4K\t/memories",
            "create": f"File created successfully at: {FILE}",
            "again": f"File {FILE} already exists",
            "replace": "The memory file has been edited. Here is the snippet showing the change "
            "(with line numbers):\n     1\tblack tea\n     2\t",
        }
