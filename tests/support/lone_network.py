"""A network that has nothing but a resolver: `python lone_network.py RECORD PROGRAM WORDS...`.

`unshare --net --mount` starts it. The resolver writes each name that it is asked for into the file
RECORD, and knows none. A packet to an address that is not of this machine is written down too.
"""

import fcntl
import socket
import struct
import subprocess
import sys
import tempfile
from pathlib import Path
from threading import Thread

_SET_FLAGS, _UP_AND_RUNNING = 0x8914, 0x41
_NO_SUCH_NAME = b"\x81\x83"


def open_loopback() -> None:
    """Switch the network's only device on."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as door:
        fcntl.ioctl(door, _SET_FLAGS, struct.pack("16sh14x", b"lo", _UP_AND_RUNNING))


def read_name(question: bytes) -> str:
    """The name in a question to a resolver."""
    labels, place = list[str](), 12
    while length := question[place]:
        labels.append(question[place + 1 : place + 1 + length].decode())
        place += 1 + length
    return ".".join(labels)


def answer_questions(door: socket.socket, record: Path) -> None:
    """Write names down, until the process ends."""
    while True:
        question, sender = door.recvfrom(4096)
        with record.open("a", encoding="utf-8") as file:
            file.write(f"{read_name(question)}\n")
        door.sendto(question[:2] + _NO_SUCH_NAME + question[4:], sender)


def count_lost_packets() -> int:
    """The number of packets that this network had no way for."""
    names, values = Path("/proc/net/snmp").read_text(encoding="ascii").splitlines()[:2]
    return int(dict(zip(names.split(), values.split(), strict=True))["OutNoRoutes"])


def main(record: Path, words: list[str]) -> int:
    """Run a program in this network, and return its exit code."""
    open_loopback()
    with tempfile.NamedTemporaryFile("w", suffix=".conf") as file:
        file.write("nameserver 127.0.0.1\n")
        file.flush()
        Path(file.name).chmod(0o644)
        subprocess.run(["mount", "--bind", file.name, "/etc/resolv.conf"], check=True)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as door:
        door.bind(("127.0.0.1", 53))
        record.touch()
        Thread(target=answer_questions, args=(door, record), daemon=True).start()
        code = subprocess.run(words, check=False).returncode
        if lost := count_lost_packets():
            with record.open("a", encoding="utf-8") as written:
                written.write(f"{lost} packets to addresses\n")
    return code


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
