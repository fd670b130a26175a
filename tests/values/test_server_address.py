"""The address of a server over HTTP, and the addresses of its spaces."""

import pytest

from textrawl.values.names import read_server_address, write_space_address


@pytest.mark.parametrize("url", ["https://memory.example.com", "https://memory.example.com/mcp/"])
def test_a_space_has_its_own_address(url: str) -> None:
    address = read_server_address(url).geturl()
    assert write_space_address(address, "a team") == "https://memory.example.com/mcp/a%20team"


@pytest.mark.parametrize("path", ["/mcp/team", "/mcp/x/graph"])
def test_an_address_that_names_a_space_leaves_no_choice(path: str) -> None:
    with pytest.raises(ValueError, match="end it with /mcp"):
        write_space_address(f"https://memory.example.com{path}", "other")
