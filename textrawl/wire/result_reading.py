"""Results of operations, read from JSON without loading pydantic, which takes 100 ms."""

from collections.abc import Callable
from dataclasses import is_dataclass
from datetime import datetime, timedelta
from functools import cache
from typing import Any, TypeVar, get_args, get_origin, get_type_hints
from uuid import UUID

Result = TypeVar("Result")

_find_fields = cache(get_type_hints)


def read_result(kind: type[Result], value: Any) -> Result:
    """Return `value`, which a process of this version wrote as JSON, as a value of `kind`."""
    return _read(kind, value)


def _read(kind: Any, value: Any) -> Any:
    arguments = get_args(kind)
    if value is None:
        return None
    if type(None) in arguments:
        return _read(arguments[0], value)
    if isinstance(kind, type) and is_dataclass(kind):
        fields = _find_fields(kind)
        return kind(**{name: _read(fields[name], member) for name, member in value.items()})
    if get_origin(kind) is list:
        return [_read(arguments[0], one) for one in value]
    make = _MAKERS.get(kind)
    return make(value) if make else value


_MAKERS: dict[Any, Callable[[str], Any]] = {datetime: datetime.fromisoformat, UUID: UUID}


def write_argument(value: object) -> object:
    """Return an argument of an operation as JSON."""
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    return str(value) if isinstance(value, UUID) else value
