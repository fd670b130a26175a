"""An identity provider, and what verifies its tokens, at a time that a test sets."""

from collections.abc import AsyncIterator, Iterator

import pytest

from tests.support.issuer import AUDIENCE, IdentityProvider
from tests.support.providers import Clock
from textrawl.access.oauth import Issuer


@pytest.fixture
def provider() -> Iterator[IdentityProvider]:
    with IdentityProvider() as provider:
        yield provider


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def issuer(provider: IdentityProvider, clock: Clock) -> AsyncIterator[Issuer]:
    issuer = Issuer(provider.url, audience=AUDIENCE, clock=clock)
    yield issuer
    await issuer.aclose()
