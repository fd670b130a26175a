"""Addresses of servers, and of the commands of their spaces."""

import pytest

from textrawl.values.names import write_commands_address

HOST = "https://memory.example.com"


def test_commands_have_one_address_whatever_endpoint_the_setting_names() -> None:
    for path in ("", "/", "/mcp", "/mcp/", "/mcp/t/graph"):
        assert write_commands_address(f"{HOST}{path}", None) == f"{HOST}/mcp/t/commands"
        assert write_commands_address(f"{HOST}{path}", "a team") == (
            f"{HOST}/mcp/t/commands/a%20team"
        )
    for path in ("/mcp/red", "/mcp/t/graph/red"):
        for space in (None, "red"):
            assert write_commands_address(f"{HOST}{path}", space) == f"{HOST}/mcp/t/commands/red"
    assert write_commands_address(f"{HOST}/ai/mcp", None) == f"{HOST}/ai/mcp/t/commands"


def test_an_address_of_another_space_or_of_something_else_is_refused() -> None:
    with pytest.raises(ValueError, match="already names the space red"):
        write_commands_address(f"{HOST}/mcp/red", "other")
    for path in ("/x", "/mcp/a/b", "/mcps"):
        with pytest.raises(ValueError, match="ends with /mcp"):
            write_commands_address(f"{HOST}{path}", None)
