"""Bearer tokens that must not be accepted, each made from a valid one by one change.

    FORGERIES["alg none"](provider, attacker)

`provider` is the issuer that is trusted, `attacker` another one, whose keys and addresses the
forgeries refer to.
"""

import hashlib
import hmac
import json
import time
from collections.abc import Callable
from typing import Any

from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from tests.support.issuer import AUDIENCE, IdentityProvider, encode_part, publish_key, sign_token

Forge = Callable[[IdentityProvider, IdentityProvider], str]


def write_token(header: object, claims: object, signature: bytes = b"") -> str:
    """A token with any signature at all."""
    return f"{encode_part(header)}.{encode_part(claims)}.{encode_part(signature)}"


def _share_secret(form: str) -> Forge:
    """The confusion of RS256 with HS256: the public key as the secret that both sides share."""

    def forge(provider: IdentityProvider, _: IdentityProvider) -> str:
        public = provider.key.public_key()
        if form == "JWK":
            secret = json.dumps(provider.keys[0]).encode()
        elif form == "DER":
            secret = public.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        else:
            secret = public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
        header = {"alg": "HS256", "kid": provider.name, "typ": "at+jwt"}
        text = f"{encode_part(header)}.{encode_part(provider.claims())}"
        return f"{text}.{encode_part(hmac.digest(secret, text.encode(), hashlib.sha256))}"

    return forge


def _claim(**changes: Any) -> Forge:
    """Well signed, with other claims."""
    return lambda provider, attacker: provider.issue(provider.claims(**changes))


def _date(name: str, seconds: int, form: type = int) -> Forge:
    """Well signed, with the claim `name` so many seconds from now."""

    def forge(provider: IdentityProvider, _: IdentityProvider) -> str:
        return provider.issue(provider.claims(**{name: form(int(time.time()) + seconds)}))

    return forge


def _sign(claims: Callable[[IdentityProvider], object]) -> Forge:
    """Well signed, with claims that no issuer would write; bytes are no JSON."""
    return lambda provider, attacker: provider.issue(claims(provider))


def _say(**header: Any) -> Forge:
    """Well signed, with another header."""
    return lambda provider, attacker: provider.issue(None, **header)


def _say_and_claim(header: dict[str, Any], **claims: Any) -> Forge:
    return lambda provider, attacker: provider.issue(provider.claims(**claims), **header)


def _sign_as_attacker(**header: Any) -> Forge:
    """Everything right but the key; a function is given the attacker."""

    def forge(provider: IdentityProvider, attacker: IdentityProvider) -> str:
        made = {k: value(attacker) if callable(value) else value for k, value in header.items()}
        whole = {"alg": attacker.algorithm, "kid": provider.name, "typ": "at+jwt", **made}
        return sign_token(provider.claims(), attacker.key, whole)

    return forge


def _unsigned(algorithm: object) -> Forge:
    header = {"alg": algorithm, "typ": "at+jwt"}
    return lambda provider, attacker: write_token(
        {**header, "kid": provider.name}, provider.claims(), b"x"
    )


def _alter(change: Callable[[str], str]) -> Forge:
    return lambda provider, attacker: change(provider.issue())


def _swap_signature(provider: IdentityProvider, _: IdentityProvider) -> str:
    text = provider.issue(provider.claims(sub="eve")).rpartition(".")[0]
    return f"{text}.{provider.issue().rpartition('.')[2]}"


def _drop_signature(provider: IdentityProvider, _: IdentityProvider) -> str:
    return provider.issue().rpartition(".")[0] + "."


def _detach(provider: IdentityProvider, _: IdentityProvider) -> str:
    head, _text, signature = provider.issue(None, b64=False, crit=["b64"]).split(".")
    return f"{head}..{signature}"


def _publish(attacker: IdentityProvider) -> dict[str, object]:
    return publish_key(attacker.key, kid="first")


def _name_keys(attacker: IdentityProvider) -> str:
    return f"{attacker.url}/keys"


FORGERIES: dict[str, Forge] = {
    "alg none without signature": lambda p, a: write_token({"alg": "none"}, p.claims()),
    "alg none": _unsigned("none"),
    "alg None": _unsigned("None"),
    "alg missing": lambda p, a: write_token({"kid": p.name}, p.claims(), b"x"),
    "alg a list": _unsigned(["RS256"]),
    "alg unknown": _unsigned("RS1"),
    "HS256 with the public key as PEM": _share_secret("PEM"),
    "HS256 with the public key as DER": _share_secret("DER"),
    "HS256 with the public key as JWK": _share_secret("JWK"),
    "alg of another type of key": _unsigned("ES256"),
    "signature of another token": _swap_signature,
    "signature missing": _drop_signature,
    "signature of zeros": lambda p, a: (
        p.issue().rpartition(".")[0] + "." + encode_part(b"\0" * 256)
    ),
    "another issuer's key under the same kid": _sign_as_attacker(),
    "another issuer's key under its own kid": _sign_as_attacker(kid="attacker"),
    "another issuer's key without a kid": _sign_as_attacker(kid=None),
    "another issuer's valid token": lambda p, a: a.issue(),
    "jku of an attacker": _sign_as_attacker(jku=_name_keys),
    "jku of an attacker with its kid": _sign_as_attacker(jku=_name_keys, kid="attacker"),
    "x5u of an attacker": _sign_as_attacker(x5u=_name_keys, kid="attacker"),
    "jwk of an attacker": _sign_as_attacker(jwk=_publish),
    "jwk of an attacker without a kid": _sign_as_attacker(jwk=_publish, kid=None),
    "x5c of an attacker": _sign_as_attacker(x5c=["MIIB"]),
    "kid unknown": _say(kid="none such"),
    "kid that looks like a path": _say(kid="../../dev/null"),
    "kid a number": lambda p, a: write_token({"alg": "RS256", "kid": 7}, p.claims(), b"x"),
    "crit unknown": _say(crit=["exp"]),
    "crit that the library knows": _say(crit=["b64"], b64=True),
    "detached text": _detach,
    "iss wrong": lambda p, a: p.issue(p.claims(iss=a.url)),
    "iss with a slash": lambda p, a: p.issue(p.claims(iss=f"{p.url}/")),
    "iss a list": _sign(lambda p: p.claims(iss=[p.url])),
    "iss missing": _claim(iss=None),
    "aud wrong": _claim(aud="https://other.example.org"),
    "aud wrong by its end": _claim(aud=f"{AUDIENCE}/team"),
    "aud wrong by its case": _claim(aud=AUDIENCE.upper()),
    "aud a list without us": _claim(aud=["https://other.example.org", "account"]),
    "aud a list that holds no text": _claim(aud=[AUDIENCE, 7]),
    "aud an object": _claim(aud={AUDIENCE: True}),
    "aud missing": _claim(aud=None),
    "exp a second ago": _date("exp", -1),
    "exp now": _date("exp", 0),
    "exp missing": _claim(exp=None),
    "exp text": _date("exp", 600, str),
    "exp true": _claim(exp=True),
    "exp beyond our calendar": _claim(exp=10**12),
    "exp beyond the system's calendar": _claim(exp=10**18),
    "exp beyond all numbers": _claim(exp=10**30),
    "exp infinite": _claim(exp=float("inf")),
    "nbf to come": _date("nbf", 60),
    "iat to come": _date("iat", 60),
    "sub missing": _claim(sub=None),
    "sub empty": _claim(sub=""),
    "sub a number": _claim(sub=7),
    "sub too long": _claim(sub="a" * 201),
    "sub with a hidden character": _claim(sub="an\u200ba"),
    "sub with a line break": _claim(sub="ana\nroot"),
    "sub with half a character": _claim(sub="ana\ud800"),
    "bound to a key": _claim(cnf={"jkt": "x"}),
    "type of a logout token": _say(typ="logout+jwt"),
    "type a list": _say(typ=["at+jwt"]),
    "ID token by its lack of a scope": _say_and_claim({"typ": "JWT"}, scope=None, nonce="n"),
    "ID token without a type": _say_and_claim({"typ": None}, scope=None),
    "ID token by its at_hash": _say_and_claim({"typ": "JWT"}, at_hash="x"),
    "encrypted": lambda p, a: f"{encode_part({'alg': 'RSA-OAEP', 'enc': 'A256GCM'})}.a.b.c.d",
    "claims that are no object": _sign(lambda p: [p.claims()]),
    "claims that are no JSON": _sign(lambda p: json.dumps(p.claims()).encode()[:-1]),
    "claims nested without end": _sign(lambda p: b"[" * 5_000),
    "claims with a number without end": _sign(lambda p: b'{"exp": ' + b"9" * 5_000 + b"}"),
    "truncated by a character": _alter(lambda token: token[:-1]),
    "truncated by half": _alter(lambda token: token[: len(token) // 2]),
    "padded": _alter(lambda token: token + "=="),
    "with a space behind": _alter(lambda token: token + " "),
    "with a line break behind": _alter(lambda token: token + "\n"),
    "twice": _alter(lambda token: f"{token}, {token}"),
    "a part too many": _alter(lambda token: token + ".e30"),
    "too large": _claim(padding="x" * 8_192),
    "empty": lambda p, a: "",
    "dots": lambda p, a: "..",
    "garbage": lambda p, a: "\x00\ud800é.☃.💥",
    "one of our own tokens": lambda p, a: "trl_" + "a" * 48,
}
