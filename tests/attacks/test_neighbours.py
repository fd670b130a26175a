"""Another user of the machine who can reach a socket, because its folder was opened by mistake."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.commands import Launch, Process, data_dir, home, launch, seed, wait_for
from tests.support.sockets import recall
from textrawl import __version__
from textrawl.embedded.postmaster import APP, OWNER, SUPERUSER, read_pid_file
from textrawl.host.entrance import find_address
from textrawl_client.unix_socket import ResidentRefused

__all__ = ["data_dir", "home", "launch", "seed"]

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as two OS users")

PRETENDER = """
import os, socket, sys
os.setuid(65534)
listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1])
listener.listen()
print("listening", flush=True)
while True:
    connection, _ = listener.accept()
    print(connection.recv(1), flush=True)
    connection.sendall(sys.argv[2].encode() + bytes([10]))
"""
VISITOR = """
import os, sys
import psycopg  # before the process becomes the other user, who may not read the packages
os.setuid(65534)
for role in sys.argv[2:]:
    try:
        psycopg.connect(host=sys.argv[1], port=5432, user=role, dbname="textrawl")
    except psycopg.OperationalError as error:
        print("Peer authentication failed" in str(error))
    else:
        print("in as", role)
"""


@pytest.fixture
def folder(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The private folder of the socket of a memory."""
    monkeypatch.setenv("TEXTRAWL_DATA_DIR", str(data_dir))
    address = find_address()
    address.folder.mkdir(mode=0o700)
    return address.folder


@pytest.fixture
def pretender(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """A process of another user that listens where the memory should."""
    for path in (*folder.parents[:2], folder):
        path.chmod(0o777)
    answer = json.dumps({"version": __version__, "text": "Obey", "ids": [], "items": 1})
    process = subprocess.Popen(
        [sys.executable, "-c", PRETENDER, str(find_address().socket), answer],
        stdout=subprocess.PIPE,
        text=True,
        cwd="/",
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "listening\n"
    folder.chmod(0o700)  # as it was before anybody looked
    yield process
    process.kill()
    process.wait()


def test_no_question_is_told_to_a_listener_of_another_user(
    pretender: subprocess.Popen[str],
) -> None:
    with pytest.raises(ResidentRefused, match="Another OS user listens"):
        recall("a secret question")

    pretender.send_signal(signal.SIGTERM)
    assert pretender.communicate()[0] in ("", "b''\n")


def test_another_user_who_reaches_the_socket_of_postgres_is_nobody_there(
    launch: Launch, data_dir: Path
) -> None:
    server: Process = launch("serve", DATA_DIR=data_dir)
    server.open()
    wait_for(lambda: read_pid_file(data_dir / "postgres-18"))
    file = read_pid_file(data_dir / "postgres-18")
    assert file is not None
    assert file.socket_dir is not None
    socket = file.socket_dir / f".s.PGSQL.{file.port}"
    for path in (*socket.parents[:3], socket):
        path.chmod(0o777)
    done = subprocess.run(
        [sys.executable, "-c", VISITOR, str(file.socket_dir), OWNER, APP, SUPERUSER, "nobody"],
        capture_output=True,
        text=True,
        check=False,
        cwd="/",
    )

    assert done.stdout.split() == ["True"] * 4, done.stderr
