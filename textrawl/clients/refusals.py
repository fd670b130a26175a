"""Why a configuration file is left alone."""

from textrawl.errors import StartRefused


class NotUnderstood(ValueError):
    """A text is not of its format, or has another shape than expected. The message has the line."""


class FileRefused(StartRefused):
    """A file stays as it is. The message says why, and what to do."""
