"""The check of the workers of a distributed memory by `textrawl doctor`."""

from textrawl.distribution.inspection import ClusterState, inspect_cluster
from textrawl.examination.findings import Finding, record_errors

_MOST_LAG = 2.0  # seconds that a change of the directory waits for the workers
_AWAY = (
    "{} does not answer, so calls for its spaces fail: start it, and let the login of "
    "TEXTRAWL_DATABASE_URL connect to it as to the coordinator"
)
_LATE = (
    "{} does not copy new spaces, tokens and grants: look for errors of its subscription "
    "textrawl_directory in its log"
)
_FAULTS = (
    "{} on {}, so calls for its spaces fail: if no `textrawl cluster` is running, run `textrawl "
    "migrate --distributed` as a superuser of the cluster"
)


async def try_cluster(conninfo: str, timeout: float, findings: list[Finding]) -> None:
    """Report the workers and their cells, if the memory is distributed."""
    with record_errors(findings, "cluster"):
        state = await inspect_cluster(conninfo, timeout=timeout, most_lag=_MOST_LAG)
        if state is None:
            return
        faults = _write_faults(state)
        findings.extend(Finding("cluster", "broken", fault) for fault in faults)
        if not faults:
            names = ", ".join(node.address for node in state.cells.nodes)
            findings.append(Finding("cluster", "ok", f"{len(state.cells.cells)} cells on {names}"))


def _write_faults(state: ClusterState) -> list[str]:
    away = [_AWAY.format(node.address) for node in state.findings.away]
    broken = [
        _FAULTS.format(f"{fault.schema} is {fault.kind}", fault.node.address)
        for fault in state.findings.faults
        if fault.cell is not None
    ]
    return [*away, *broken, *(_LATE.format(node.address) for node in state.late)]
