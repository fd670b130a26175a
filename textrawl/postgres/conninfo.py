"""Connection strings of libpq, and libpq's message for a failed connection."""

from psycopg import OperationalError, ProgrammingError
from psycopg.conninfo import conninfo_to_dict, make_conninfo

_LISTS = ("host", "hostaddr", "port")  # each can have one value for each host
HOST_ATTEMPTS = 4  # hosts that can be tried within the time limit of a call


class ConninfoInvalid(ValueError):
    """The error for a text that is not a connection string of libpq."""


def read_conninfo(conninfo: str) -> dict[str, str]:
    """Return the parts of a connection string or URL. Raises ConninfoInvalid."""
    try:
        parts = conninfo_to_dict(conninfo)
    except ProgrammingError as error:
        raise ConninfoInvalid(str(error)) from error
    return {name: str(value) for name, value in parts.items() if value is not None}


def write_conninfo(conninfo: str = "", **parts: str) -> str:
    """Return `conninfo` with some parts replaced."""
    return make_conninfo(conninfo, **parts)


def has_several_hosts(conninfo: str) -> bool:
    """Return whether `conninfo` names several servers, of which one is the primary."""
    try:
        parts = read_conninfo(conninfo)
    except ConninfoInvalid:
        return False
    return "," in parts.get("host", "") + parts.get("hostaddr", "") + parts.get("port", "")


def limit_attempt(conninfo: str, timeout: float) -> float:
    """Return the part of a time limit that each host gets for a login, in seconds."""
    return timeout / HOST_ATTEMPTS if has_several_hosts(conninfo) else timeout


def split_hosts(conninfo: str) -> list[str]:
    """Return a conninfo for each host that `conninfo` names, which leads to any kind of server."""
    parts = read_conninfo(conninfo)
    lists = {name: parts.pop(name).split(",") for name in _LISTS if name in parts}
    parts["target_session_attrs"] = "any"
    return [
        write_conninfo(**parts, **{name: one[place % len(one)] for name, one in lists.items()})
        for place in range(max(map(len, lists.values()), default=1))
    ]


def put_first(conninfo: str, place: int) -> str:
    """Return `conninfo` with the host at `place` as the first that is tried."""
    parts = read_conninfo(conninfo)
    for name in _LISTS:
        values = parts.get(name, "").split(",")
        if len(values) > 1:
            values.insert(0, values.pop(place))
            parts[name] = ",".join(values)
    return write_conninfo(**parts)


def describe_failure(error: BaseException | None) -> str | None:
    """Return the first line of libpq's message for a failed connection, or None."""
    lines = str(error).splitlines() if isinstance(error, OperationalError) else []
    return lines[0] if lines else None
