"""LangGraph's own tests of stores, as its source distribution has them, with our store."""

import os
import sys
from pathlib import Path

import langgraph.store.memory
import pytest

from textrawl_client import SyncClient
from textrawl_client.adapters.langgraph import TextrawlStore

SOURCES = next(Path(os.environ["SOURCES"]).glob("langgraph_checkpoint-*"))
memory = SyncClient()


class FreshStore(TextrawlStore):
    """A store that is empty at first, as a new InMemoryStore is."""

    def __init__(self, **options):
        memory.items.delete(("langgraph",))
        super().__init__(memory, **options)


class Count:
    """Counts the tests that passed."""

    passed = total = 0

    def pytest_runtest_logreport(self, report):
        """Count a test."""
        if report.when == "call":
            self.total += 1
            self.passed += report.passed


langgraph.store.memory.InMemoryStore = FreshStore
sys.path.insert(0, str(SOURCES))
count = Count()
options = ["-q", "-c", os.devnull, "-p", "no:cacheprovider", "-o", "asyncio_mode=auto"]
options += ["-o", "asyncio_default_fixture_loop_scope=function", "-W", "ignore"]
code = pytest.main([*options, str(SOURCES / "tests/test_store.py")], plugins=[count])
print(f"{count.passed} of {count.total} of LangGraph's own tests")
sys.exit(code)
