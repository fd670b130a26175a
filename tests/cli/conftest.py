"""Commands as a user runs them."""

from tests.support.commands import data_dir, home, launch, postmasters, run, seed

__all__ = ["data_dir", "home", "launch", "postmasters", "run", "seed"]
