"""Commands of the pages, run as a user runs them."""

from tests.support.commands import launch, run

__all__ = ["launch", "run"]
