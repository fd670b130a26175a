"""The stylesheet and the scripts, served from this package."""

from functools import cache
from hashlib import sha256
from importlib.resources import files

from starlette.requests import Request
from starlette.responses import Response

from textrawl.explorer.site import ROOT

_KINDS = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
_CACHED = "private, max-age=31536000, immutable"


@cache
def read_assets() -> dict[str, bytes]:
    """Return the content of each file by its name."""
    folder = files("textrawl.explorer") / "static"
    return {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}


@cache
def find_address(name: str) -> str:
    """Return the address of a file. It changes with the content, so browsers can keep the file."""
    return f"{ROOT}/static/{sha256(read_assets()[name]).hexdigest()[:12]}/{name}"


async def answer_asset(request: Request) -> Response:
    """Answer with a file, or with 404 for any other name."""
    name = request.path_params["name"]
    if name not in read_assets():
        return Response(status_code=404)
    kind = _KINDS[name.rpartition(".")[2]]
    return Response(read_assets()[name], media_type=kind, headers={"cache-control": _CACHED})
