"""Public keys of a key set (RFC 7517), each with the algorithms that it is allowed to verify."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import jwt

_LEAST_RSA_BITS = 2_048

_ALGORITHMS = {
    ("RSA", None): ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    ("EC", "P-256"): ("ES256",),
    ("EC", "P-384"): ("ES384",),
    ("OKP", "Ed25519"): ("EdDSA",),
}
"""Allowed algorithms by key type and curve.

No algorithm is symmetric, because a public key must never be used as a shared secret.
"""

ALGORITHMS = frozenset(name for names in _ALGORITHMS.values() for name in names)
"""All allowed algorithms."""

_PUBLIC_MEMBERS = ("kty", "crv", "n", "e", "x", "y")


@dataclass(frozen=True)
class Key:
    """One public key. `id` is its kid, or None."""

    id: str | None
    algorithms: frozenset[str]
    public: Any


def read_keys(document: Mapping[str, object]) -> tuple[Key, ...]:
    """Return the keys of a key set that are allowed to verify signatures. Ignore other keys."""
    members = document.get("keys")
    if not isinstance(members, list):
        return ()
    return tuple(
        key
        for member in cast("list[object]", members)
        if isinstance(member, dict) and (key := _read_key(cast("dict[str, object]", member)))
    )


def _read_key(member: dict[str, object]) -> Key | None:
    algorithms = _choose_algorithms(member)
    if not algorithms or not _is_for_signatures(member):
        return None
    # Take only the public half, because the private half may have been published by mistake.
    public_half = {name: member[name] for name in _PUBLIC_MEMBERS if name in member}
    try:
        public = jwt.PyJWK(public_half, algorithm=algorithms[0]).key
    except jwt.PyJWTError:
        return None
    if member["kty"] == "RSA" and public.key_size < _LEAST_RSA_BITS:
        return None
    name = member.get("kid")
    return Key(name if isinstance(name, str) else None, frozenset(algorithms), public)


def _choose_algorithms(member: dict[str, object]) -> tuple[str, ...]:
    """Return the algorithms of the key's type, or only the algorithm that the issuer names."""
    kind, curve, only = member.get("kty"), member.get("crv"), member.get("alg")
    if not isinstance(kind, str) or not isinstance(curve, str | None):
        return ()
    allowed = _ALGORITHMS.get((kind, curve), ())
    return allowed if only is None else tuple(name for name in allowed if name == only)


def _is_for_signatures(member: dict[str, object]) -> bool:
    operations = member.get("key_ops", ["verify"])
    return (
        member.get("use", "sig") == "sig"
        and isinstance(operations, list)
        and "verify" in operations
    )
