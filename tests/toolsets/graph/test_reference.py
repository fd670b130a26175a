"""Who knows the reference memory server finds it again, with nothing lost."""

import sys

import anyio
import pytest
from mcp import Client

from tests.conftest import TOKEN, Connect
from tests.toolsets.calls import ask as recall
from tests.toolsets.calls import count, remember
from tests.toolsets.graph.reference import ask, call, check_server, read, text_of

pytestmark = pytest.mark.anyio

SERVE = ["-m", "textrawl", "serve"]


def name_environment(database_url: str) -> dict[str, str]:
    return {
        "DATABASE_URL": database_url, "ACCESS_TOKEN": TOKEN, "TOOLSETS": "graph",
        "LOG_LEVEL": "ERROR",
    }  # fmt: skip


async def test_the_checks_that_the_reference_passes_pass_over_stdio(database_url: str) -> None:
    await check_server(sys.executable, SERVE, name_environment(database_url))
