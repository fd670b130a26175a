"""Commands as a user runs them, and a provider of an LLM."""

from collections.abc import Iterator

import pytest

from tests.support.commands import run
from tests.support.llm_server import LlmServer

__all__ = ["llm_server", "run"]

ANSWER = "Here you are:\n- I drank tea [via:laptop]\n* I met Ben [chat:7]"


@pytest.fixture
def llm_server() -> Iterator[LlmServer]:
    """A provider of an LLM that answers every request with the same two bullets."""
    with LlmServer(lambda _: ANSWER) as server:
        yield server
