"""New keys, withdrawn keys, and an issuer that is down, slow or out of its mind."""

import time
from collections.abc import AsyncIterator

import pytest
from anyio import create_task_group, fail_after, to_thread

from tests.support.issuer import AUDIENCE, Fault, IdentityProvider, make_key, publish_key
from tests.support.providers import Clock
from textrawl.access.oauth import Issuer
from textrawl.errors import IssuerUnavailable

pytestmark = pytest.mark.anyio

_TIMEOUT = 0.3


@pytest.fixture
async def hasty(provider: IdentityProvider, clock: Clock) -> AsyncIterator[Issuer]:
    """The same, with little patience."""
    issuer = Issuer(provider.url, audience=AUDIENCE, timeout=_TIMEOUT, clock=clock)
    yield issuer
    await issuer.aclose()


async def test_a_new_key_is_accepted_without_a_restart(
    provider: IdentityProvider, issuer: Issuer, clock: Clock
) -> None:
    assert await issuer.verify(provider.issue())
    provider.rotate("second", "ES256")
    clock.now += 31

    assert await issuer.verify(provider.issue())
    assert provider.fetches == 2


async def test_a_new_key_is_accepted_by_all_who_come_with_it_at_once(
    provider: IdentityProvider, issuer: Issuer, clock: Clock
) -> None:
    assert await issuer.verify(provider.issue())
    provider.rotate("second", "ES256")
    clock.now += 31
    token = provider.issue()
    accepted: list[object] = []

    async def verify() -> None:
        accepted.append(await issuer.verify(token))

    async with create_task_group() as group:
        for _ in range(20):
            group.start_soon(verify)

    assert len([one for one in accepted if one]) == 20
    assert provider.fetches == 2


async def test_while_two_keys_are_published_tokens_of_both_are_accepted(
    provider: IdentityProvider, issuer: Issuer, clock: Clock
) -> None:
    old, before = provider.issue(), list(provider.keys)
    assert await issuer.verify(old)
    provider.rotate("second", "RS256")
    provider.keys += before
    clock.now += 301

    assert await issuer.verify(old)
    assert await issuer.verify(provider.issue())
    assert provider.fetches == 2


@pytest.mark.parametrize("name", ["first", None])
async def test_a_new_key_with_the_name_of_the_old_one_is_accepted_and_the_old_one_is_not(
    provider: IdentityProvider, issuer: Issuer, clock: Clock, name: str | None
) -> None:
    provider.keys[:] = [publish_key(provider.key, kid=name)]
    old = provider.issue(None, kid=name)
    assert await issuer.verify(old)
    provider.key = make_key("RS256", "another")
    provider.keys[:] = [publish_key(provider.key, kid=name)]
    clock.now += 31

    assert await issuer.verify(provider.issue(None, kid=name))
    assert await issuer.verify(old) is None
    assert provider.fetches == 2


async def test_a_thousand_wrong_signatures_cause_one_fetch_in_half_a_minute(
    provider: IdentityProvider, issuer: Issuer, clock: Clock
) -> None:
    token = provider.issue()
    assert await issuer.verify(token)
    clock.now += 31
    signature = provider.issue(provider.claims(sub="eve")).rpartition(".")[2]
    forged = f"{token.rpartition('.')[0]}.{signature}"

    for _ in range(1_000):
        assert await issuer.verify(forged) is None

    assert await issuer.verify(token)
    assert provider.fetches == 2


async def test_a_withdrawn_key_is_refused_after_five_minutes(
    provider: IdentityProvider, issuer: Issuer, clock: Clock
) -> None:
    old = provider.issue()
    assert await issuer.verify(old)
    provider.rotate("second", "RS256")

    clock.now += 299
    assert await issuer.verify(old)
    clock.now += 2
    assert await issuer.verify(old) is None


async def test_a_thousand_unknown_keys_cause_one_fetch_in_half_a_minute(
    provider: IdentityProvider, issuer: Issuer, clock: Clock
) -> None:
    assert await issuer.verify(provider.issue())
    clock.now += 31
    tokens = [provider.issue(None, kid=f"forged {number}") for number in range(1_000)]

    async def refuse(share: list[str]) -> None:
        for token in share:
            assert await issuer.verify(token) is None

    async with create_task_group() as group:
        for start in range(0, 1_000, 50):
            group.start_soon(refuse, tokens[start : start + 50])

    assert provider.fetches == 2


async def test_while_the_issuer_is_down_known_keys_serve_for_a_day(
    provider: IdentityProvider, issuer: Issuer, clock: Clock
) -> None:
    assert await issuer.verify(provider.issue())
    provider.fail(Fault.DOWN)

    clock.now += 86_000
    assert await issuer.verify(provider.issue())
    clock.now += 500
    with pytest.raises(IssuerUnavailable):
        await issuer.verify(provider.issue())


async def test_while_the_issuer_is_down_an_unknown_key_is_not_called_wrong(
    provider: IdentityProvider, issuer: Issuer, clock: Clock
) -> None:
    assert await issuer.verify(provider.issue())
    provider.fail(Fault.DOWN)
    clock.now += 31

    with pytest.raises(IssuerUnavailable):
        await issuer.verify(provider.issue(None, kid="perhaps new"))
    assert await issuer.verify(provider.issue())


@pytest.mark.parametrize("fault", list(Fault))
async def test_without_keys_no_token_is_judged_and_soon_after_the_fault_all_are(
    provider: IdentityProvider, hasty: Issuer, clock: Clock, fault: Fault
) -> None:
    provider.redirect_to = f"{provider.url}/elsewhere"
    provider.documents["/elsewhere"] = provider.metadata
    provider.fail(fault)

    began = time.monotonic()
    with pytest.raises(IssuerUnavailable) as caught:
        await hasty.verify(provider.issue())
    took = time.monotonic() - began

    assert took < _TIMEOUT + 30
    assert "Retry in a few seconds" in caught.value.fix
    assert "/elsewhere" not in [request.path for request in provider.requests]
    provider.heal()
    clock.now += 6
    assert await hasty.verify(provider.issue())


@pytest.mark.parametrize("fault", [fault for fault in Fault if fault is not Fault.DOWN])
async def test_a_fault_of_the_key_set_alone_is_bounded_as_well(
    provider: IdentityProvider, hasty: Issuer, fault: Fault
) -> None:
    provider.redirect_to = f"{provider.url}/elsewhere"
    provider.documents["/elsewhere"] = {"keys": provider.keys}
    provider.fail(fault, path="/keys")

    with pytest.raises(IssuerUnavailable):
        await hasty.verify(provider.issue())

    assert provider.fetches == 1
    assert "/elsewhere" not in [request.path for request in provider.requests]


async def test_an_issuer_that_hangs_holds_up_nobody_whose_key_is_known(
    provider: IdentityProvider, issuer: Issuer, clock: Clock
) -> None:
    token = provider.issue()
    assert await issuer.verify(token)
    asked = len(provider.requests)
    provider.fail(Fault.HANG)
    clock.now += 301

    async with create_task_group() as group:
        group.start_soon(issuer.verify, token)  # this one asks for the keys again, and waits
        await to_thread.run_sync(provider.wait_for_requests, asked + 1)
        with fail_after(30):
            assert await issuer.verify(token)
        provider.heal()


async def test_who_hangs_up_does_not_end_the_fetch_for_the_others(
    provider: IdentityProvider, issuer: Issuer, clock: Clock
) -> None:
    assert await issuer.verify(provider.issue())
    provider.rotate("second", "ES256")
    clock.now += 31
    asked = len(provider.requests)

    async with create_task_group() as group:
        group.start_soon(issuer.verify, provider.issue(None, kid="forged"))
        await to_thread.run_sync(provider.wait_for_requests, asked + 1)
        group.cancel_scope.cancel()

    assert await issuer.verify(provider.issue())
    assert provider.fetches == 2


async def test_an_issuer_that_is_down_is_asked_every_five_seconds_at_most(
    provider: IdentityProvider, issuer: Issuer, clock: Clock
) -> None:
    provider.fail(Fault.FAILING)

    for _ in range(50):
        with pytest.raises(IssuerUnavailable):
            await issuer.verify(provider.issue())
    asked = len(provider.requests)
    clock.now += 5
    with pytest.raises(IssuerUnavailable):
        await issuer.verify(provider.issue())

    assert asked == 2  # two places where metadata may be
    assert len(provider.requests) == 4
