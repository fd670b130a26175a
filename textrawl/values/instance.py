"""The id of an instance, which is a program that shares documents with others."""

import re

_INSTANCE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:@-]{0,99}")


def check_instance(name: str) -> str:
    """Return the id of an instance. Raises ValueError for another text."""
    if not _INSTANCE.fullmatch(name):
        raise ValueError(
            "must be letters, digits and ._:@-, beginning with a letter or digit, at most 100 "
            "characters"
        )
    return name
