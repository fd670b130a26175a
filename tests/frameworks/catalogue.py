"""Every framework that has an adapter, or that uses textrawl over MCP, with the versions tried."""

from dataclasses import dataclass

from tests.clients.installing import Registry

_CLIENT = ("httpx==0.28.1", "pydantic==2.14.4")  # what textrawl-client needs


@dataclass(frozen=True)
class Framework:
    """A framework: the heading of its section in docs/frameworks.md, and its pinned packages.

    `adapters` are the modules of textrawl_client.adapters that import it.
    """

    name: str
    pinned: tuple[str, ...]
    adapters: tuple[str, ...] = ()
    registry: Registry = "PyPI"

    @property
    def packages(self) -> tuple[str, ...]:
        """What is installed: the framework, and what textrawl-client needs beside it."""
        needed = _CLIENT if self.registry == "PyPI" else ()
        pinned = {package.partition("==")[0] for package in self.pinned}
        return (*self.pinned, *(one for one in needed if one.partition("==")[0] not in pinned))

    @property
    def version(self) -> str:
        """The version of the first package."""
        return self.pinned[0].replace("==", "@").rpartition("@")[2]


FRAMEWORKS = (
    Framework(
        "Claude's memory tool", ("anthropic==2.14.0",), ("anthropic", "anthropic_files")
    ),
    Framework(
        "LangGraph",
        (
            "langgraph==1.2.24", "langgraph-checkpoint==4.3.2", "langmem==0.0.30",
            "langchain==1.5.2", "pytest==9.2.0", "pytest-asyncio==1.5.0", "pytest-mock==3.17.0",
        ),
        ("langgraph",),
    ),
    Framework("OpenAI Agents", ("openai-agents==0.24.0",), ("openai_agents",)),
    Framework("Google ADK", ("google-adk==2.13.0", "aiosqlite==0.22.1"), ("adk",)),
    Framework("mem0", ("mem0ai==2.2.1",), ("mem0", "mem0_filters", "mem0_values", "pages")),
    Framework(
        "LlamaIndex",
        ("llama-index-core==0.14.25", "llama-index-llms-openai-like==0.8.1"),
        ("llamaindex",),
    ),
    Framework(
        "AutoGen", ("autogen-agentchat==0.7.5", "autogen-ext[openai]==0.7.5"), ("autogen",)
    ),
    Framework(
        "Agno",
        (
            "agno==3.1.10", "openai==3.57.0", "sqlalchemy==2.1.9", "greenlet==3.5.6",
            "aiosqlite==0.22.1",
        ),
        ("agno",),
    ),
    Framework(
        "CrewAI",
        ("crewai==1.15.30", "pydantic==2.12.5"),  # it takes no pydantic from 2.13 on
        ("crewai",),
    ),
    Framework("Pydantic AI", ("pydantic-ai-slim[mcp,openai]==2.68.0",)),
    Framework("smolagents", ("smolagents[mcp,openai]==1.26.0", "mcp==1.30.0")),  # it takes mcp<2
    Framework("mcp-use", ("mcp-use==1.7.1", "langchain-openai==1.7.4")),
    Framework(
        "Vercel AI SDK",
        ("ai@7.0.173", "@ai-sdk/mcp@2.0.99", "@ai-sdk/openai@4.0.118"),
        registry="npm",
    ),
)  # fmt: skip


def find_framework(name: str) -> Framework:
    """Return the framework of this name."""
    [found] = [framework for framework in FRAMEWORKS if framework.name == name]
    return found
