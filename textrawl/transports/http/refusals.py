"""Answers to requests that go no further."""

from starlette.responses import JSONResponse


def build_refusal(
    status: int, error: str, description: str, *, wait: int | None = None, close: bool = False
) -> JSONResponse:
    """An answer that says what is wrong; `wait` (seconds) says when to try again.

    `close` ends the connection, which is needed where the rest of the request was not read.
    """
    headers = {} if wait is None else {"retry-after": str(wait)}
    if close:
        headers["connection"] = "close"
    body = {"error": error, "error_description": description}
    return JSONResponse(body, status_code=status, headers=headers)
