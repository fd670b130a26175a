"""Every framework that has an adapter, or that uses textrawl over MCP, with the versions tried."""

from dataclasses import dataclass

from tests.clients.installing import Registry

_CLIENT = ("httpx==0.28.1", "pydantic==2.14.4")  # what textrawl-client needs


@dataclass(frozen=True)
class Framework:
    """A framework: the heading of its section in docs/frameworks.md, and its pinned packages."""

    name: str
    pinned: tuple[str, ...]
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
    Framework("Claude's memory tool", ("anthropic==2.14.0",)),
    Framework("LangGraph", ("langgraph==1.2.24", "langmem==0.0.30")),
    Framework("OpenAI Agents", ("openai-agents==0.24.0",)),
)


def find_framework(name: str) -> Framework:
    """Return the framework of this name."""
    [found] = [framework for framework in FRAMEWORKS if framework.name == name]
    return found
