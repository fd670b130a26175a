"""Every program that is known. Those of QUICK are run in CI as well."""

from tests.clients.programs.agents import AI_SDK, LANGCHAIN, OPENAI_AGENTS, PYDANTIC_AI
from tests.clients.programs.claude_code import CLAUDE_CODE
from tests.clients.programs.codex import CODEX
from tests.clients.programs.copilot_cli import COPILOT_CLI
from tests.clients.programs.gemini_cli import GEMINI_CLI
from tests.clients.programs.opencode import OPENCODE
from tests.clients.programs.python_sdk import PYTHON_SDK_1_2, PYTHON_SDK_1_27
from tests.clients.programs.qwen_code import QWEN_CODE
from tests.clients.programs.typescript_sdk import TYPESCRIPT_SDK

PROGRAMS = (
    CLAUDE_CODE, CODEX, GEMINI_CLI, COPILOT_CLI, OPENCODE, QWEN_CODE,
    AI_SDK, OPENAI_AGENTS, LANGCHAIN, PYDANTIC_AI,
    TYPESCRIPT_SDK, PYTHON_SDK_1_2, PYTHON_SDK_1_27,
)  # fmt: skip
QUICK = (GEMINI_CLI, TYPESCRIPT_SDK, PYTHON_SDK_1_2)
