"""Passwords of database logins: made here, and told to Postgres only as what it keeps of them."""

import base64
import hashlib
import hmac
import secrets

_BYTES = 24
_SALT = 16
_ROUNDS = 4096  # as Postgres has it by default


def make_password() -> str:
    """A new password of 192 random bits, in characters that need no quotes anywhere."""
    return secrets.token_urlsafe(_BYTES)


def write_verifier(password: str, salt: bytes | None = None) -> str:
    """What Postgres stores for an ASCII `password` (SCRAM-SHA-256, RFC 5803).

    Given to it in place of the password, which is then in no statement that could be logged.
    """
    salt = salt or secrets.token_bytes(_SALT)
    salted = hashlib.pbkdf2_hmac("sha256", password.encode("ascii"), salt, _ROUNDS)
    stored = hashlib.sha256(hmac.digest(salted, b"Client Key", "sha256")).digest()
    server = hmac.digest(salted, b"Server Key", "sha256")
    told = [base64.b64encode(part).decode("ascii") for part in (salt, stored, server)]
    return f"SCRAM-SHA-256${_ROUNDS}:{told[0]}${told[1]}:{told[2]}"
