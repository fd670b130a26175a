"""`textrawl settings`: everything that can be configured, as a .env file."""

import sys

from textrawl.settings import describe_settings


def settings() -> None:
    """Show every setting, what it means and its default, as a .env file to start from."""
    sys.stdout.write(describe_settings())
