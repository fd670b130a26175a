"""The address of a Git repository, in the one form that all ways to write it have.

This module uses only the standard library, because hooks and pipes read it.
"""

import re
from urllib.parse import unquote, urlsplit

REPOSITORY_HEADER = "Textrawl-Repository"  # of a request over HTTP
LONGEST_REPOSITORY = 300
_SCP = re.compile(r"(?:[^@/]+@)?(?P<host>\[[^]/]+]|[^:/\[\]]+):(?!//)(?P<path>.+)")
_KNOWN = re.compile(r"[\w.:\[\]-]+(?:/[\w.~+@-]+)+")
_KEY = re.compile(r"(?:commit|folder):[0-9a-f]{8,64}(?:#[\w.~+@-]+)?|" + _KNOWN.pattern)
MOST_KEYS = 12
_PORTS = {"http": 80, "https": 443, "git": 9418}


def normalise_remote(url: str) -> str | None:
    """Return `host/path` of a remote, or None for a path of this machine or an unknown form.

    The user, the password, the port of SSH, `.git` and capitals do not count: hosts of repositories
    do not tell names by capitals. A password never gets into a memory.
    """
    url = url.strip()
    if "::" in url.partition("[")[0]:  # a helper, which Git would run
        return None
    try:
        host, path = _split(url)
    except ValueError:
        return None
    path = "/".join(part for part in unquote(path).split("/") if part).removesuffix(".git")
    found = f"{host}/{path}".lower()
    known = _KNOWN.fullmatch(found) and len(found) <= LONGEST_REPOSITORY
    return found if known and not {".", ".."} & {*path.split("/")} else None


def _split(url: str) -> tuple[str, str]:
    """Return the host and the path of a remote. Raises ValueError."""
    if "://" not in url:
        if found := _SCP.fullmatch(url):
            return found["host"], found["path"]
        first, _, path = url.partition("/")
        return (first, path) if "." in first.strip(".") else ("", "")
    parts = urlsplit(url)
    if parts.scheme == "file" or not parts.hostname:
        return "", ""
    kept = parts.port is not None and parts.scheme in _PORTS and parts.port != _PORTS[parts.scheme]
    return f"{parts.hostname}:{parts.port}" if kept else parts.hostname, parts.path


def clean_keys(text: str | None) -> str | None:
    """Return the keys of a repository in one text, without those that no session has, or None."""
    keys = (text or "").split()[:MOST_KEYS]
    return (
        " ".join(key for key in keys if _KEY.fullmatch(key) and len(key) <= LONGEST_REPOSITORY)
        or None
    )


def read_repository(given: str) -> str | None:
    """Return the keys of the repository that a person or a client names in any way, or None."""
    return clean_keys(normalise_remote(given) or given)


def clean_name(name: str) -> str:
    """Return the name of a folder as it stands behind a first commit."""
    return re.sub(r"[^\w.~+@-]+", "-", name.removesuffix(".git").lower()).strip("-")[:100]
