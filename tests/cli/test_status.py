"""What runs on a machine: `textrawl status`, and `textrawl stop`, which ends it."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.commands import Launch, Run, wait_for
from tests.support.hosts import find_hosts
from textrawl import __version__

pytestmark = pytest.mark.slow


def test_a_host_says_what_it_is_and_for_whom_and_is_ended_with_its_postgres(
    launch: Launch, run: Run, data_dir: Path, postmasters: Callable[[], list[int]]
) -> None:
    nothing = run("status", DATA_DIR=data_dir)
    client = launch("serve", DATA_DIR=data_dir)
    client.open()
    [host] = find_hosts(data_dir)

    [described] = json.loads(run("status", "--json", DATA_DIR=data_dir).out)
    shown = run("status", DATA_DIR=data_dir)
    stopped = run("stop", DATA_DIR=data_dir)
    again = run("stop", DATA_DIR=data_dir)

    assert nothing.complaint.startswith("Nothing runs")
    assert described["process"] == host.pid
    assert described["version"] == __version__
    assert described["clients"] == ["test 1"]
    assert 50 < described["megabytes"] < 400
    assert shown.out.startswith(f"{host.pid}  {__version__}  since ")
    assert shown.out.splitlines()[1].strip() == "test 1"
    assert (stopped.code, stopped.err) == (0, "Ended: 1\n")
    wait_for(lambda: not host.is_running())
    assert postmasters() == []
    assert again.complaint == "Nothing runs"


def test_a_server_over_http_is_named_and_not_ended(
    launch: Launch, run: Run, data_dir: Path
) -> None:
    launch("serve", "--http", "--port", "0", DATA_DIR=data_dir)
    wait_for(lambda: json.loads(run("status", "--json", DATA_DIR=data_dir).out or "[]"))

    refused = run("stop", DATA_DIR=data_dir)

    assert "over HTTP" in refused.complaint
    assert json.loads(run("status", "--json", DATA_DIR=data_dir).out)


def test_restoring_and_migrating_end_the_host_first_and_a_client_goes_on(
    launch: Launch, run: Run, data_dir: Path, tmp_path: Path
) -> None:
    run("backup", str(tmp_path / "backup"), DATA_DIR=data_dir)
    client = launch("serve", DATA_DIR=data_dir)
    client.open()
    [first] = find_hosts(data_dir)

    migrated = run("migrate", DATA_DIR=data_dir)
    ended = not first.is_running()
    client.say({"jsonrpc": "2.0", "id": 2, "method": "tools/list"})
    listed = client.hear()["result"]["tools"]
    wait_for(lambda: find_hosts(data_dir))
    [second] = find_hosts(data_dir)
    restored = run("restore", str(tmp_path / "backup"), DATA_DIR=data_dir)

    assert migrated.code == 0
    assert ended
    assert listed
    assert (restored.code, second.is_running()) == (0, False)
