"""A process that accepts a request and never answers it, such as one that is stopped."""

import socket
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.commands import Launch
from tests.support.hosts import end_hosts_of_test
from textrawl.host.entrance import find_address


@pytest.fixture
def silent(launch: Launch, data_dir: Path) -> Iterator[None]:
    """A memory with one fact, and a process of the same user that listens and says nothing."""
    assert launch("remember", "Ada", "likes tea", DATA_DIR=data_dir).end().code == 0
    end_hosts_of_test()
    address = find_address()
    address.folder.mkdir(parents=True, mode=0o700, exist_ok=True)
    with closing(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)) as listener:
        listener.bind(str(address.socket))
        listener.listen()
        yield


@pytest.mark.usefixtures("silent")
@pytest.mark.parametrize("command", ["recall tea", "digest"])
def test_a_silent_process_is_given_up_and_the_command_answers_itself(
    launch: Launch, data_dir: Path, command: str
) -> None:
    outcome = launch(*command.split(), DATA_DIR=data_dir).end()

    assert outcome.code == 0
    assert "likes tea" in outcome.out
    assert outcome.err == (
        f"textrawl: The process at {find_address().socket} is silent: this command "
        "opens the memory itself\n"
    )
