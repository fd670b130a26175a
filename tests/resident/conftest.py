"""Processes that listen on a socket, each with a memory of its own."""

from tests.support.commands import data_dir, home, launch, postmasters, run, seed

__all__ = ["data_dir", "home", "launch", "postmasters", "run", "seed"]
