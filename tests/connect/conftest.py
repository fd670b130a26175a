"""Commands run in this process, as in tests/cli."""

from tests.support.commands import run

__all__ = ["run"]
