"""The commands `status` and `stop`."""

from datetime import datetime

from textrawl.cli.console import open_console, write_cell, write_error, write_json, write_message
from textrawl.cli.inputs import AsJson
from textrawl.environment import read_sources
from textrawl.host.entrance import choose_host
from textrawl.host.running import end_running, list_running


def status(as_json: AsJson = False) -> None:
    """Show which processes of yours have the memory open.

    Clients, commands and hooks share a process, which ends by itself some minutes after the last
    of them.
    """
    found = [described for _, described in list_running(choose_host(read_sources()).folder)]
    if as_json:
        write_json(found)
        return
    if not found:
        write_error("Nothing runs: a client, a command or a hook starts the process that it needs")
        return
    console = open_console()
    for one in found:
        since = datetime.fromisoformat(one["since"]).astimezone()
        console.print(
            write_cell(
                f"{one['process']}  {one['version']}  since {since:%Y-%m-%d %H:%M}  "
                f"{one['megabytes']} MB  clients: {len(one['clients'])}  {one['memory']}"
            ),
            soft_wrap=True,
        )
        for line in (*one["clients"], one["log"]):
            console.print(write_cell(f"  {line}"), soft_wrap=True)


def stop() -> None:
    """End the processes of yours that have the memory open.

    They first finish the calls that they have read. The next client, command or hook starts one.
    """
    ended = end_running(choose_host(read_sources()).folder)
    if ended:
        write_message(f"Ended: {ended}")
    else:
        write_error("Nothing runs")
