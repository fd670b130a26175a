"""The way back from an error: the page on which a person followed a link or sent a form."""

import re
from urllib.parse import urlsplit

from starlette.requests import Request

from textrawl.explorer.rendering import write_link
from textrawl.explorer.site import ROOT

_PAGE = re.compile(rf"{ROOT}/(?!sign-in)[a-z-]+")
_SUBJECT = (
    "name", "fact", "alias", "other", "source", "target", "actor", "token", "author", "since",
    "others", "space",
)  # fmt: skip
"""Fields of forms that their pages take as parameters too."""
_LONGEST = 2000


def find_way_back(request: Request) -> str | None:
    """Return the address of the page before, or None. It is always a page of the explorer."""
    before, here = _find_referrer(request), request.url
    # A page that a form led to has no parameters in its address, and cannot be asked for again.
    if before and before not in (here.path, f"{here.path}?{here.query}"):
        return before
    form = request.scope.get("form")
    page = here.path.rpartition("/")[2]
    back = write_link(page, **{name: form.get(name) for name in _SUBJECT}) if form else None
    return back if back and len(back) <= _LONGEST else None


def _find_referrer(request: Request) -> str | None:
    """Return the address that the browser names, without its host, which has to be ours."""
    named = request.headers.get("referer", "")
    if not (named.isascii() and named.isprintable() and len(named) <= _LONGEST):
        return None
    try:
        came = urlsplit(named)
    except ValueError:
        return None
    host = request.headers.get("host", "").lower()
    if came.netloc.lower() != host or not _PAGE.fullmatch(came.path):
        return None
    return f"{came.path}?{came.query}" if came.query else came.path
