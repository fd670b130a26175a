"""Certificates, checked schemas and plans of SQL, which tests would make again, made once."""

import json
import os
import ssl
from collections import deque
from collections.abc import Generator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from psycopg_pool import AsyncConnectionPool


@contextmanager
def repeat_nothing() -> Generator[None]:
    """Read the certificates of httpx and httpx2 once (18 ms), and check a schema once (5 ms)."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("ssl.create_default_context", "httpcore2.default_ssl_context"):
            package, function = name.split(".")
            patch.setattr(name, _remember(getattr(import_module(package), function)))
        patch.setattr(Draft202012Validator, "check_schema", _check_once())
        patch.setattr(AsyncConnectionPool, "__init__", _lend_the_last())
        yield


def _remember(read: Any) -> Any:
    """A function that reads the same certificates once. A test that names its own reads them."""
    contexts, usual = dict[tuple[Any, ...], ssl.SSLContext](), _find_certificates()

    def read_once(*arguments: Any, **options: Any) -> ssl.SSLContext:
        known = options.keys() <= {"cafile", "capath", "_trust_env"}
        if arguments or not known or _find_certificates() != usual:
            return read(*arguments, **options)
        key = (*options.items(),)
        return contexts.get(key) or contexts.setdefault(key, read(**options))

    return read_once


def _find_certificates() -> list[str | None]:
    return [os.environ.get(name) for name in ("SSL_CERT_FILE", "SSL_CERT_DIR")]


class _Stack(deque[Any]):
    """The free connections of a pool."""

    popleft = deque[Any].pop


def _lend_the_last() -> Any:
    """An `__init__` of a pool that lends the connection which came back last.

    Each connection plans each SQL function for itself (90 ms of processor time for a first call),
    and a pool takes turns. Calls at the same time have several connections as before.
    """
    initialize = AsyncConnectionPool.__init__

    def __init__(pool: Any, *arguments: Any, **options: Any) -> None:  # noqa: N807
        initialize(pool, *arguments, **options)
        pool._pool = _Stack(pool._pool)

    return __init__


def _check_once() -> Any:
    """A `check_schema` that knows the schemas which it has found to be good."""
    check, good = Draft202012Validator.check_schema, set[str]()

    def check_schema(schema: Any, **options: Any) -> None:
        text = json.dumps(schema, sort_keys=True)
        if text not in good or options:
            check(schema, **options)
            good.add(text)

    return check_schema
