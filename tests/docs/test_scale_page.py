"""docs/scale.md: its commands make a standby and promote it, and distribute a memory."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tenacity import Retrying, stop_after_delay, wait_fixed

from tests.support.cluster import CitusCluster
from tests.support.folders import open_folder
from tests.support.pages import ROOT, read_commands
from tests.support.replicas import Node, let_replicas_in
from textrawl.embedded.cluster import run_embedded
from textrawl.embedded.paths import ClusterPaths, find_account
from textrawl.embedded.postmaster import SUPERUSER, stop

PAGE = ROOT / "docs/scale.md"


def run(command: str, programs: Path, **environment: str) -> str:
    """Run a command of the page as the OS user of Postgres."""
    account = find_account()
    options = account.process_options()
    options["env"] = {"PATH": f"{programs}:/usr/bin:/bin", "LC_ALL": "C", **environment}
    done = subprocess.run(
        ["/bin/sh", "-c", command],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        **options,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.anyio
async def test_the_commands_make_a_synchronous_standby_and_promote_it() -> None:
    role, copy, start, feedback, promote, synchronise = read_commands(PAGE)[:6]
    with open_folder() as folder:
        await let_replicas_in(folder / "primary")
        rules = folder / "primary/postgres-18/rules.conf"
        rules.write_text("local all,replication all trust\n", encoding="utf-8")
        async with run_embedded(folder / "primary") as cluster:
            standby = folder / "standby"
            standby.mkdir()
            find_account().chown(standby)
            paths = ClusterPaths(standby, 18)
            place = {"PGHOST": str(cluster.socket_dir), "PGUSER": "postgres"}
            run(role, cluster.bin_path, **place)
            copy = copy.replace("10.0.0.1", str(cluster.socket_dir))
            run(copy.replace("/srv/standby", str(paths.pgdata)), cluster.bin_path)
            quiet = f"-o '-k {standby}' -l {standby}/log"
            run(start.replace("/srv/standby", f"{paths.pgdata} {quiet}"), cluster.bin_path)
            node = Node(paths, cluster.bin_path, (str(standby), cluster.port))
            try:
                run(feedback, cluster.bin_path, PGHOST=str(standby), PGUSER="postgres")
                run(synchronise, cluster.bin_path, **place)
                primary = Node(paths, cluster.bin_path, (place["PGHOST"], cluster.port))
                for attempt in Retrying(stop=stop_after_delay(60), wait=wait_fixed(0.05)):
                    with attempt:
                        query = "select sync_state from pg_stat_replication"
                        assert primary.execute(query) == [("sync",)]
                run(promote.replace("/srv/standby", str(paths.pgdata)), cluster.bin_path)
                assert node.execute("select pg_is_in_recovery()") == [(False,)]
            finally:
                await stop(paths.pgdata)


@pytest.mark.citus
@pytest.mark.slow
def test_the_commands_distribute_a_memory_over_a_cluster(citus: CitusCluster) -> None:
    set_host, add_workers, migrate = read_commands(PAGE)[6:9]
    program = Path(sys.executable).parent / "textrawl"
    with citus.create_database("vector", "citus") as name:
        here = citus.coordinator
        place = {"PGHOST": here.host, "PGPORT": str(here.port), "PGUSER": SUPERUSER}
        for command in (set_host, add_workers):
            run(readdress(command, citus, name), here.programs, **place)
        # The login of servers is there already, because all databases of a server share it.
        words = migrate.replace(" --login", " --cells 2").split()[1:]
        url = {"TEXTRAWL_DATABASE_URL": here.dsn(SUPERUSER, name)}
        done = subprocess.run(
            [program, *words[1:]], env=os.environ | url, capture_output=True, text=True, check=False
        )

        assert done.returncode == 0, done.stderr
        with here.open(name) as connection:
            cells = connection.execute("select count(*) from textrawl_content.list_cells()")
            assert cells.fetchone() == (2,)


def readdress(command: str, citus: CitusCluster, database: str) -> str:
    """A command of the page for the servers of a cluster of the tests."""
    for number, node in enumerate(citus.nodes, start=1):
        command = command.replace(f"'10.0.0.{number}', 5432", f"'{node.host}', {node.port}")
    return command.replace("-d textrawl", f"-d {database}")
