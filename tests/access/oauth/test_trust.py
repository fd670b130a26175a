"""Which addresses, metadata and keys are trusted."""

from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa

from tests.support.certificates import make_certificate
from tests.support.issuer import AUDIENCE, IdentityProvider, make_key, publish_key, sign_token
from tests.support.providers import Clock
from textrawl.access.oauth import Issuer
from textrawl.errors import IssuerUnavailable, StartRefused

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("", "/.well-known/oauth-authorization-server"),
        ("", "/.well-known/openid-configuration"),
        ("/", "/.well-known/openid-configuration"),
        ("/realms/team", "/.well-known/oauth-authorization-server/realms/team"),
        ("/realms/team", "/.well-known/openid-configuration/realms/team"),
        ("/realms/team", "/realms/team/.well-known/openid-configuration"),
        ("/team/", "/team/.well-known/openid-configuration"),
    ],
)
async def test_metadata_is_found_wherever_providers_put_it(path: str, place: str) -> None:
    with IdentityProvider(path=path) as provider:
        keys = f"{path.rstrip('/')}/keys"
        provider.documents = {place: provider.metadata, keys: provider.documents[keys]}
        issuer = Issuer(provider.url, audience=AUDIENCE)

        assert await issuer.verify(provider.issue())
        await issuer.aclose()


@pytest.mark.parametrize(
    "metadata",
    [
        {"issuer": "https://login.example.org"},
        {"issuer": None},
        {"jwks_uri": None},
        {"jwks_uri": 7},
        {"jwks_uri": ""},
        {"jwks_uri": "/keys"},
        {"jwks_uri": "file:///etc/passwd"},
        {"jwks_uri": "http://192.0.2.1/keys"},
        {"jwks_uri": "http://127.0.0.1.example.org/keys"},
        {"jwks_uri": "http://localhost@192.0.2.1/keys"},
        {"jwks_uri": "http://[::1/keys"},
        {"jwks_uri": "http://127.0.0.1:99999/keys"},
        {"jwks_uri": "http://127.0.0.1:0/keys"},
        {"jwks_uri": "http://127.0.0.1:1/\x00"},
        {"jwks_uri": f"https://{'a' * 64}.invalid/keys"},
        {"jwks_uri": f"https://xn--{'a' * 64}.invalid/keys"},
        {"jwks_uri": "https://\ud800.invalid/keys"},
    ],
)
async def test_metadata_that_must_not_be_trusted_gives_no_keys(
    provider: IdentityProvider, issuer: Issuer, metadata: dict[str, object]
) -> None:
    provider.metadata.update(metadata)

    with pytest.raises(IssuerUnavailable):
        await issuer.verify(provider.issue())
    assert provider.fetches == 0


@pytest.mark.parametrize(
    "members",
    [
        {"use": "enc"},
        {"key_ops": ["encrypt"]},
        {"key_ops": "verify"},
        {"alg": "RS512"},
        {"alg": "RSA-OAEP"},
        {"alg": ["RS256"]},
        {"kty": "oct", "k": "c2VjcmV0"},
        {"kty": ["RSA"]},
        {"kty": "EC", "crv": "P-256"},
        {"crv": 7},
        {"n": "AQAB"},
        {"n": 7},
        {"n": None},
        {"e": "é"},
    ],
)
async def test_a_published_key_that_is_unfit_is_left_out_and_harms_no_other(
    provider: IdentityProvider, issuer: Issuer, members: dict[str, object]
) -> None:
    token = provider.issue()
    provider.rotate("second", "ES256")
    unfit = publish_key(make_key("RS256", "first"), kid="first") | members
    provider.keys[:0] = [unfit]

    assert await issuer.verify(provider.issue())
    assert await issuer.verify(token) is None


@pytest.mark.parametrize("keys", [None, {}, "keys", [], ["key", 7, None, []], [{}]])
async def test_a_key_set_without_keys_is_a_fault_of_the_issuer(
    provider: IdentityProvider, issuer: Issuer, keys: object
) -> None:
    provider.documents["/keys"] = {"keys": keys}

    with pytest.raises(IssuerUnavailable):
        await issuer.verify(provider.issue())


async def test_a_key_that_is_too_short_to_be_safe_is_not_used(
    provider: IdentityProvider, issuer: Issuer
) -> None:
    short = rsa.generate_private_key(public_exponent=65_537, key_size=1_024)  # noqa: S505
    provider.keys.append(publish_key(short, kid="short"))
    header = {"alg": "RS256", "kid": "short", "typ": "at+jwt"}

    assert await issuer.verify(sign_token(provider.claims(), short, header)) is None
    assert await issuer.verify(provider.issue())


async def test_a_private_key_that_was_published_is_used_as_the_public_one(
    provider: IdentityProvider, issuer: Issuer
) -> None:
    provider.keys[0] |= {"d": "AQAB", "p": "AQAB", "q": "AQAB"}

    assert await issuer.verify(provider.issue())


async def test_a_token_that_names_no_key_is_accepted_while_one_alone_comes_into_question(
    provider: IdentityProvider, issuer: Issuer, clock: Clock
) -> None:
    provider.keys.append(publish_key(make_key("ES256", "other"), kid="other"))
    token = provider.issue(None, kid=None)
    assert await issuer.verify(token)

    provider.keys.append(publish_key(make_key("RS256", "third"), kid="third"))
    clock.now += 301
    assert await issuer.verify(token) is None


async def test_a_name_with_two_keys_is_that_of_neither_but_for_different_algorithms(
    provider: IdentityProvider, issuer: Issuer, clock: Clock
) -> None:
    elliptic = make_key("ES256", "other")
    provider.keys.append(publish_key(elliptic, kid="first"))
    header = {"alg": "ES256", "kid": "first", "typ": "at+jwt"}
    assert await issuer.verify(provider.issue())
    assert await issuer.verify(sign_token(provider.claims(), elliptic, header))

    provider.keys.append(publish_key(make_key("RS256", "third"), kid="first"))
    clock.now += 301
    assert await issuer.verify(provider.issue()) is None


@pytest.mark.parametrize(
    "url",
    [
        "http://login.example.org",
        "http://127.0.0.1.example.org",
        "http://192.0.2.1",
        "ftp://127.0.0.1",
        "login.example.org",
        "https://",
        "https://user@login.example.org",
        "https://login.example.org/?tenant=1",
        "https://login.example.org/#team",
        "https://login.example.org:port",
        "https://login.example.org:0",
        f"https://xn--{'a' * 64}",
        "",
    ],
)
def test_an_issuer_that_cannot_be_trusted_over_the_network_is_refused_at_the_start(
    url: str,
) -> None:
    with pytest.raises(StartRefused, match="TEXTRAWL_OAUTH_ISSUER must be an https address"):
        Issuer(url, audience=AUDIENCE)


@pytest.mark.parametrize(
    "url", ["https://login.example.org/team", "http://localhost:8080", "http://[::1]:8080/"]
)
async def test_an_issuer_over_https_or_on_this_machine_is_taken(url: str) -> None:
    await Issuer(url, audience=AUDIENCE).aclose()


async def test_over_https_a_certificate_that_nobody_vouches_for_is_refused(tmp_path: Path) -> None:
    context = make_certificate(tmp_path / "certificate.pem", "127.0.0.1")
    with IdentityProvider(tls=context) as provider:
        issuer = Issuer(provider.url, audience=AUDIENCE)

        with pytest.raises(IssuerUnavailable):
            await issuer.verify(provider.issue())
        await issuer.aclose()

        assert provider.requests == []


async def test_over_https_keys_are_taken_from_https_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clock: Clock
) -> None:
    certificate = tmp_path / "certificate.pem"
    context = make_certificate(certificate, "127.0.0.1")
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with IdentityProvider(tls=context) as provider, IdentityProvider() as plain:
        plain.keys[:] = provider.keys
        issuer = Issuer(provider.url, audience=AUDIENCE, clock=clock)
        assert await issuer.verify(provider.issue())
        provider.metadata["jwks_uri"] = f"{plain.url}/keys"
        clock.now += 100_000

        with pytest.raises(IssuerUnavailable):
            await issuer.verify(provider.issue())
        await issuer.aclose()

        assert plain.requests == []
