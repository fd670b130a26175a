"""Errors of requests that the explorer refuses."""

from textrawl.errors import TextrawlError


class FormRefused(TextrawlError):
    """A form that did not come from one of our pages, or that came too late."""

    title = "This form cannot be accepted"
    fix = "Go back, load the page again, and send the form once more"


class TooManyFailures(TextrawlError):
    """An address that sent too many invalid tokens."""

    title = "Too many failures"
    fix = "Wait a minute, then sign in again"
