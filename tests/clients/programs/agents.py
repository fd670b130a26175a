"""Libraries for agents: a few lines of ours make an agent of each, whose model is the stand-in."""

from tests.clients.programs.program import Driver

AI_SDK = Driver(
    "AI SDK", "2.0.99",
    ("@ai-sdk/mcp@2.0.99", "ai@7.0.173", "@ai-sdk/openai-compatible@3.0.92"),
    shows="text", instructions=False, user="cannot be asked", script="ai_sdk.mjs",
)  # fmt: skip
OPENAI_AGENTS = Driver(
    "OpenAI Agents SDK",
    "0.24.0",
    ("openai-agents==0.24.0",),
    shows="text",
    instructions=False,
    user="cannot be asked",
    registry="PyPI",
    script="openai_agents.py",
)
LANGCHAIN = Driver(
    "LangChain MCP adapters", "0.3.2",
    ("langchain-mcp-adapters==0.3.2", "langchain==1.4.7", "langchain-openai==1.7.3"),
    shows="text", instructions=False, user="cannot be asked",
    registry="PyPI", script="langchain_agent.py",
)  # fmt: skip
PYDANTIC_AI = Driver(
    "Pydantic AI",
    "2.68.0",
    ("pydantic-ai-slim[mcp,openai]==2.68.0",),
    shows="structured",
    instructions=False,
    user="cannot be asked",
    registry="PyPI",
    script="pydantic_agent.py",
)
