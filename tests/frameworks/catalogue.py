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
        return (*self.pinned, *(_CLIENT if self.registry == "PyPI" else ()))

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
)  # fmt: skip


def find_framework(name: str) -> Framework:
    """Return the framework of this name."""
    [found] = [framework for framework in FRAMEWORKS if framework.name == name]
    return found
