"""The entry of a client as text, for people who copy it."""

from textrawl.clients.addition import Addition
from textrawl.clients.edits import make


def write_entry(addition: Addition) -> str:
    """Return a file that has only this addition, in the format of the client."""
    text, _ = make("", addition)
    return text.rstrip("\n")
