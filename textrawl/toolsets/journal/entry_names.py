"""The names of journal entries."""


def name_entry(path: str) -> str:
    """Return the id of the entry at `path`: its granularity and date."""
    return "-".join(path.split("/")[:2])
