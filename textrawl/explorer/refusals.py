"""Errors of requests that the explorer refuses."""

from textrawl.errors import TextrawlError


class FormRefused(TextrawlError):
    """A form that did not come from one of our pages, or that came too late."""

    title = "This form cannot be accepted"
    fix = "Go back, load the page again, and send the form once more"


class SignInRefused(TextrawlError):
    """A sign-in at the identity provider that ended without a session."""

    title = "You are not signed in"
    fix = "Sign in again. If this happens again, ask the administrator for a grant"


class TooManyFailures(TextrawlError):
    """An address that sent too many invalid tokens."""

    title = "Too many failures"
    fix = "Wait a minute, then sign in again"


class OwnerNeeded(TextrawlError):
    """A change that only the owner of the memory can make."""

    title = "Only the owner of the memory can do this"
    fix = "Use `textrawl token` or `textrawl explore` where the owner of the memory works"


class SentTwice(TextrawlError):
    """A form that makes something once, and that was sent again."""

    title = "This form was sent already, or it is too old"
    fix = "Nothing was done now. If something is missing, begin again"
