"""The check of the standby by `textrawl doctor`."""

from textrawl.examination.findings import Finding, record_errors
from textrawl.postgres.inspection import ServerPair, compare_servers
from textrawl.postgres.standby import MOST_LAG
from textrawl.settings import Settings

_NO_STANDBY = (
    "TEXTRAWL_DATABASE_READ_URL leads to {}, which is not a standby, so the primary answers all "
    "calls: write the address of a standby, or unset it"
)
_OTHER_SYSTEM = (
    "{} does not follow the primary {}, or has another database or login, so the primary answers "
    "all calls: write the address of a standby of this primary, with the same database and login"
)
_OTHER_TIMELINE = (
    "{} does not show yet that it follows {}, which was promoted, so the primary answers all "
    "calls: run `checkpoint` on {}, and make it anew with pg_basebackup if this changes nothing"
)
_BEHIND = (
    "{} is more than {:.0f} s behind the primary {}, so the primary answers all calls: look at "
    "`select * from pg_stat_replication` on the primary"
)


async def try_standby(settings: Settings, findings: list[Finding]) -> None:
    """Report both servers and the lag. A fault of the standby fails no call, so it is a note."""
    if settings.database_url is None or settings.database_read_url is None:
        return
    primary, standby = settings.database_url, settings.database_read_url
    found: list[Finding] = []
    with record_errors(found, "standby"):
        servers = await compare_servers(
            primary.get_secret_value(),
            standby.get_secret_value(),
            timeout=settings.database_timeout,
            most_lag=MOST_LAG,
        )
        found.append(_judge(servers))
    findings += [
        Finding("standby", "note", f"{one.message}. The primary answers all calls")
        if one.verdict == "broken"
        else one
        for one in found
    ]


def _judge(servers: ServerPair) -> Finding:
    standby, primary = servers.standby, servers.primary
    if not servers.related:
        fault = _OTHER_SYSTEM.format(standby, primary)
    elif not servers.in_recovery:
        fault = _NO_STANDBY.format(standby)
    elif not servers.follows:
        fault = _OTHER_TIMELINE.format(standby, primary, standby)
    elif servers.lag is None:
        fault = _BEHIND.format(standby, MOST_LAG, primary)
    else:
        message = f"{standby} replayed the newest write of {primary} within"
        return Finding("standby", "ok", f"{message} {servers.lag * 1000:.0f} ms")
    return Finding("standby", "note", fault)
