"""Which tokens of an identity provider are accepted, and as what."""

import hashlib
import logging
import time
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1
from cryptography.hazmat.primitives.asymmetric.utils import (
    decode_dss_signature,
    encode_dss_signature,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from jwt.utils import base64url_decode, der_to_raw_signature, raw_to_der_signature

from tests.access.oauth.forgeries import FORGERIES, Forge
from tests.support.examples import EXAMPLES
from tests.support.issuer import AUDIENCE, IdentityProvider, encode_part
from textrawl.access.oauth import Issuer

pytestmark = pytest.mark.anyio

ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "EdDSA"]


@pytest.fixture(scope="module")
def provider() -> Iterator[IdentityProvider]:
    with IdentityProvider() as provider:
        yield provider


@pytest.fixture(scope="module")
def attacker() -> Iterator[IdentityProvider]:
    with IdentityProvider() as attacker:
        attacker.rotate("attacker", "RS256")
        yield attacker


@pytest.fixture
async def issuer(provider: IdentityProvider) -> AsyncIterator[Issuer]:
    issuer = Issuer(provider.url, audience=AUDIENCE)
    yield issuer
    await issuer.aclose()


@pytest.mark.parametrize("forge", FORGERIES.values(), ids=FORGERIES.keys())
async def test_a_forged_token_is_refused_and_nobody_else_is_asked(
    issuer: Issuer, provider: IdentityProvider, attacker: IdentityProvider, forge: Forge
) -> None:
    token = forge(provider, attacker)

    assert await issuer.verify(token) is None

    assert await issuer.verify(provider.issue()) is not None
    assert attacker.requests == []


@pytest.mark.parametrize("name", [name for name in FORGERIES if name.startswith(("alg", "HS256"))])
async def test_an_algorithm_that_is_not_allowed_does_not_even_cause_a_fetch(
    attacker: IdentityProvider, name: str
) -> None:
    with IdentityProvider(algorithm="EdDSA") as provider:
        issuer = Issuer(provider.url, audience=AUDIENCE)

        assert await issuer.verify(FORGERIES[name](provider, attacker)) is None
        await issuer.aclose()

        assert (provider.requests == []) == (name != "alg of another type of key")


async def test_the_issuer_never_sees_a_token(provider: IdentityProvider) -> None:
    provider.requests.clear()
    issuer = Issuer(provider.url, audience=AUDIENCE)
    token = provider.issue()

    assert await issuer.verify(token) is not None
    await issuer.verify(provider.issue(None, kid=token[-200:]))
    await issuer.aclose()

    seen = "".join(f"{request.path} {request.headers}" for request in provider.requests)
    assert provider.fetches == 1
    assert "eyJ" not in seen
    assert token[-200:] not in seen
    assert "authorization:" not in seen.lower()


async def test_no_refusal_writes_a_token_into_the_log(
    issuer: Issuer,
    provider: IdentityProvider,
    attacker: IdentityProvider,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO, logger="textrawl")
    tokens = [forge(provider, attacker) for forge in FORGERIES.values()]

    for token in tokens:
        await issuer.verify(token)

    messages = [record.getMessage() for record in caplog.records]
    assert len([line for line in messages if line.startswith("A token was refused: ")]) == len(
        tokens
    )
    assert not [line for line in messages if "eyJ" in line or "eve" in line or "none such" in line]


@pytest.mark.parametrize("algorithm", ALGORITHMS)
async def test_an_access_token_says_who_may_do_what_and_until_when(algorithm: str) -> None:
    with IdentityProvider(algorithm=algorithm) as provider:
        issuer = Issuer(provider.url, audience=AUDIENCE)
        expiry = int(time.time()) + 300

        token = provider.issue(provider.claims(sub="ana", scope="read forget", exp=expiry))
        identity = await issuer.verify(token)
        await issuer.aclose()

    assert identity is not None
    assert identity.actor == "ana"
    assert identity.scopes == {"read", "forget"}
    assert identity.expires_at == datetime.fromtimestamp(expiry, UTC)
    assert identity.digest == hashlib.sha256(token.rpartition(".")[0].encode()).digest()


SCOPES: list[tuple[dict[str, object], set[str]]] = [
    ({"scope": "openid read  write profile"}, {"read", "write"}),
    ({"scope": "textrawl:read memory:admin other:write"}, {"read", "admin"}),
    ({"scope": "READ reader read-only"}, set()),
    ({"scope": ""}, set()),
    ({"scope": 7}, set()),
    ({"scope": None}, set()),
    ({"scope": None, "scp": ["read", "textrawl:forget", 7, ["write"]]}, {"read", "forget"}),
    ({"scope": None, "scp": "read memory:write"}, {"read", "write"}),
]


@pytest.mark.parametrize(("claims", "scopes"), SCOPES)
async def test_of_the_scopes_only_ours_count(
    issuer: Issuer, provider: IdentityProvider, claims: dict[str, object], scopes: set[str]
) -> None:
    identity = await issuer.verify(provider.issue(provider.claims(**claims)))

    assert identity is not None
    assert identity.scopes == scopes


@pytest.mark.parametrize("kind", ["at+jwt", "AT+JWT", "application/at+jwt", "JWT", "jwt", None])
async def test_access_tokens_of_every_usual_type_are_accepted(
    issuer: Issuer, provider: IdentityProvider, kind: str | None
) -> None:
    assert await issuer.verify(provider.issue(None, typ=kind)) is not None


async def test_a_token_for_several_audiences_is_accepted_when_we_are_one(
    issuer: Issuer, provider: IdentityProvider
) -> None:
    assert await issuer.verify(provider.issue(provider.claims(aud=["account", AUDIENCE])))


async def test_a_clock_that_is_a_little_ahead_does_not_spoil_new_tokens(
    issuer: Issuer, provider: IdentityProvider
) -> None:
    soon = int(time.time()) + 3

    assert await issuer.verify(provider.issue(provider.claims(iat=soon, nbf=soon))) is not None


async def test_a_clock_that_is_further_ahead_is_named_in_the_log(
    issuer: Issuer, provider: IdentityProvider, caplog: pytest.LogCaptureFixture
) -> None:
    later = int(time.time()) + 60

    assert await issuer.verify(provider.issue(provider.claims(iat=later))) is None
    assert await issuer.verify(provider.issue(provider.claims(nbf=later))) is None

    assert [record.levelname for record in caplog.records] == ["WARNING"] * 2
    assert "compare the clocks of this machine and of the issuer" in caplog.text


async def test_the_metadata_document_of_a_client_is_not_fetched(
    issuer: Issuer, provider: IdentityProvider, attacker: IdentityProvider
) -> None:
    """A client may have the address of a document as its name, and choose what it says."""
    there = f"{attacker.url}/client.json"

    token = provider.issue(provider.claims(client_id=there, azp=there))

    assert await issuer.verify(token) is not None
    assert attacker.requests == []


async def test_the_headers_that_bring_keys_are_not_looked_at(
    issuer: Issuer, provider: IdentityProvider, attacker: IdentityProvider
) -> None:
    there = f"{attacker.url}/keys"

    token = provider.issue(None, jku=there, x5u=there, jwk=attacker.keys[0])

    assert await issuer.verify(token) is not None
    assert attacker.requests == []


@pytest.mark.parametrize(
    ("claims", "actor"),
    [
        ({"email": "ana@example.org", "email_verified": True}, "ana@example.org"),
        ({"email": "ana@example.org"}, "ana@example.org"),
        ({"email": "ana@example.org", "email_verified": False}, None),
        ({"email": "ana@example.org", "email_verified": "false"}, None),
        ({}, None),
    ],
)
async def test_an_address_names_the_actor_unless_it_is_not_verified(
    provider: IdentityProvider, claims: dict[str, object], actor: str | None
) -> None:
    issuer = Issuer(provider.url, audience=AUDIENCE, actor_claim="email")

    identity = await issuer.verify(provider.issue(provider.claims(**claims)))
    await issuer.aclose()

    assert (identity and identity.actor) == actor


@pytest.fixture(scope="module")
def portal() -> Iterator[BlockingPortal]:
    with start_blocking_portal() as portal:
        yield portal


@pytest.fixture(scope="module", params=["RS256", "ES256", "EdDSA"])
def valid(request: pytest.FixtureRequest, portal: BlockingPortal) -> Iterator[tuple[Issuer, str]]:
    """An issuer that has its keys, and a token that it accepts."""
    with IdentityProvider(algorithm=request.param) as provider:
        issuer = Issuer(provider.url, audience=AUDIENCE)
        token = provider.issue(provider.claims(exp=int(time.time()) + 3_600))
        assert portal.call(issuer.verify, token) is not None
        yield issuer, token
        portal.call(issuer.aclose)


def test_no_token_with_one_bit_flipped_is_accepted(
    valid: tuple[Issuer, str], portal: BlockingPortal
) -> None:
    issuer, token = valid
    flipped = [
        token[:place] + chr(ord(token[place]) ^ (1 << bit)) + token[place + 1 :]
        for place in range(len(token))
        for bit in range(8)
    ]

    async def verify_all() -> list[str]:
        return [one for one in flipped if await issuer.verify(one) is not None]

    assert len(flipped) == 8 * len(token)
    assert portal.call(verify_all) == []


EDITS = st.lists(
    st.tuples(
        st.floats(0, 1),
        st.sampled_from(["replace", "insert", "delete", "swap"]),
        st.one_of(st.sampled_from("ABgwZ019-_.="), st.characters()),
    ),
    min_size=1,
    max_size=3,
)


def edit_token(token: str, edits: list[tuple[float, str, str]]) -> str:
    for where, kind, character in edits:
        place = int(where * (len(token) - 1))
        before, here, after = token[:place], token[place : place + 1], token[place + 1 :]
        token = {
            "replace": before + character + after,
            "insert": before + character + here + after,
            "delete": before + after,
            "swap": before + after[:1] + here + after[1:],
        }[kind]
    return token


def test_no_edited_token_is_accepted(valid: tuple[Issuer, str], portal: BlockingPortal) -> None:
    issuer, token = valid

    @settings(max_examples=5 * EXAMPLES)
    @given(EDITS)
    def check(edits: list[tuple[float, str, str]]) -> None:
        edited = edit_token(token, edits)
        assert (portal.call(issuer.verify, edited) is None) == (edited != token)

    check()


async def test_a_rewritten_ecdsa_signature_is_still_the_same_token() -> None:
    """With r and s, n - s is valid too: revoking by a hash of the whole would miss that one."""
    order = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
    with IdentityProvider(algorithm="ES256") as provider:
        issuer = Issuer(provider.url, audience=AUDIENCE)
        token = provider.issue()
        text, _, signature = token.rpartition(".")
        curve = SECP256R1()
        raw = base64url_decode(signature)
        r, s = decode_dss_signature(raw_to_der_signature(raw, curve))
        rewritten = der_to_raw_signature(encode_dss_signature(r, order - s), curve)

        first = await issuer.verify(token)
        second = await issuer.verify(f"{text}.{encode_part(rewritten)}")
        await issuer.aclose()

    assert first is not None
    assert second is not None
    assert rewritten != raw
    assert first.digest == second.digest
