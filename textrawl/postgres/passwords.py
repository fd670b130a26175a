"""Passwords of database logins. Postgres gets only their SCRAM verifiers."""

import base64
import hashlib
import hmac
import secrets

_BYTES = 24
_SALT = 16
_ROUNDS = 4096  # the default of Postgres


def make_password() -> str:
    """Return a new password of 192 random bits. Its characters never need quotes or encoding."""
    return secrets.token_urlsafe(_BYTES)


def write_verifier(password: str, salt: bytes | None = None) -> str:
    """Return the SCRAM-SHA-256 verifier (RFC 5803) of an ASCII `password`.

    Postgres accepts a verifier instead of a password. Postgres can log statements, so no statement
    contains the password.
    """
    salt = salt or secrets.token_bytes(_SALT)
    salted = hashlib.pbkdf2_hmac("sha256", password.encode("ascii"), salt, _ROUNDS)
    stored = hashlib.sha256(hmac.digest(salted, b"Client Key", "sha256")).digest()
    server = hmac.digest(salted, b"Server Key", "sha256")
    texts = [base64.b64encode(part).decode("ascii") for part in (salt, stored, server)]
    return f"SCRAM-SHA-256${_ROUNDS}:{texts[0]}${texts[1]}:{texts[2]}"
