"""Checks of a provider's HTTP response, before its client reads the body."""

from http import HTTPStatus

import httpx
import httpx2

from textrawl.llm.faults import LlmEndpoint
from textrawl.providers.answers import bound_body, check_answer

_EXPLAINED = (HTTPStatus.BAD_REQUEST, HTTPStatus.NOT_FOUND, HTTPStatus.UNPROCESSABLE_ENTITY)


async def check_response(endpoint: LlmEndpoint, response: httpx.Response | httpx2.Response) -> None:
    """Raise LlmFailed unless the status means success and the body is not compressed.

    The body of a refusal is read, because only its text tells an unknown model from a wrong
    address, and an unknown option from a text that is too long.
    """
    if response.status_code in _EXPLAINED:
        bound_body(endpoint, response)
        await response.aread()
        explained = endpoint.explain_body(response.status_code, response.text)
        if explained is not None:
            raise explained
    check_answer(endpoint, response)
