"""HTML from the templates in `pages/`.

Every value is escaped. A template that uses a missing value fails. Characters that people cannot
see are shown as escape sequences.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from starlette.responses import HTMLResponse

from textrawl.explorer.assets import find_address
from textrawl.explorer.site import ROOT
from textrawl.values.text import escape_hidden


def _show(value: object) -> object:
    """Return a value as pages show it. Markup of our templates stays as it is."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return escape_hidden(value)
    return value


def write_link(page: str, **parameters: object) -> str:
    """Return the address of a page. Parameters that are None or empty are left out.

    A list repeats its parameter.
    """
    given = {key: value for key, value in parameters.items() if value not in (None, "", False)}
    query = urlencode({key: 1 if value is True else value for key, value in given.items()}, True)
    return f"{ROOT}/{page}{'?' if query else ''}{query}"


def write_time(instant: datetime) -> str:
    """Return a time in UTC, to the minute."""
    return f"{instant.astimezone(UTC):%Y-%m-%d %H:%M}"


def write_age(instant: datetime) -> str:
    """Return how long ago a time was, in its largest whole unit."""
    seconds = (datetime.now(UTC) - instant).total_seconds()
    for unit, length in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if number := int(seconds // length):
            return f"{_count(number, unit)} ago"
    return "just now"


def _write_share(share: float) -> str:
    """Return a share in hundredths, as in the answers of the tools."""
    return f"{100 * share:.0f}"


def _count(number: int, thing: str) -> str:
    """Return a number with what it counts, such as 1 entity or 2 facts."""
    short = thing.endswith("y") and not thing.endswith("day")
    many = f"{thing[:-1]}ies" if short else f"{thing}s"
    return f"{number:,} {thing if number == 1 else many}"


def _build_environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("textrawl.explorer", "pages"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_show,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    functions: dict[str, Any] = {"link": write_link, "asset": find_address}
    filters: dict[str, Any] = {
        "time": write_time,
        "age": write_age,
        "hundredths": _write_share,
        "number": _count,
    }
    environment.globals.update(functions)
    environment.filters.update(filters)
    return environment


_ENVIRONMENT = _build_environment()


def render(template: str, values: Mapping[str, Any], status: int = 200) -> HTMLResponse:
    """Return a page made of a template."""
    return HTMLResponse(write(template, values), status)


def write(template: str, values: Mapping[str, Any]) -> str:
    """Return the text of a page made of a template."""
    return _ENVIRONMENT.get_template(template).render(values)
