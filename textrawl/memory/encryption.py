"""The keys of encrypted graphs, and what they encrypt: AES-256-GCM with one random key a graph.

Every ciphertext begins with its nonce. The data that it belongs to are authenticated with it, so a
row that is copied to another place cannot be decrypted there.
"""

import os
from typing import Literal, Self
from uuid import UUID

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.hmac import HMAC
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from textrawl.errors import DecryptionFailed

KEY_BYTES = 32
_NONCE_BYTES = 12
_CONTEXT = b"textrawl 1 "  # with the version of what is authenticated and derived

Part = Literal["head", "content"]


class GraphKey:
    """The secret of a graph, with the keys that are derived from it (HKDF-SHA-256, RFC 5869).

    `id` is derived too, so it tells keys apart without a secret.
    """

    def __init__(self, secret: bytes) -> None:
        if len(secret) != KEY_BYTES:
            raise ValueError(f"a key has {KEY_BYTES} bytes")
        self.secret = secret
        self.id = UUID(bytes=_derive(secret, b"id")[:16])
        self._cipher = AESGCM(_derive(secret, b"documents"))
        self._digests = _derive(secret, b"digests")

    @classmethod
    def generate(cls) -> Self:
        """Return a new random key."""
        return cls(os.urandom(KEY_BYTES))

    def name_document(self, path: str) -> UUID:
        """Return the id of the document with this path, a keyed digest."""
        return UUID(bytes=self._digest(b"path", path.encode())[:16])

    def digest_file(self, sha256: str) -> bytes:
        """Return the keyed digest of a file with this hash."""
        return self._digest(b"file", sha256.encode())

    def encrypt(self, part: Part, document: UUID, digest: bytes, text: bytes) -> bytes:
        """Return the nonce and the ciphertext of a part of a document."""
        nonce = os.urandom(_NONCE_BYTES)
        return nonce + self._cipher.encrypt(nonce, text, self._bind(part, document, digest))

    def decrypt(self, part: Part, document: UUID, digest: bytes, ciphertext: bytes) -> bytes:
        """Return the text of a part of a document. Raises DecryptionFailed."""
        try:
            return self._cipher.decrypt(
                ciphertext[:_NONCE_BYTES],
                ciphertext[_NONCE_BYTES:],
                self._bind(part, document, digest),
            )
        except (InvalidTag, ValueError):
            raise DecryptionFailed(str(document)) from None

    def wrap(self, owner: bytes) -> bytes:
        """Return this key encrypted with the key of its owner."""
        nonce = os.urandom(_NONCE_BYTES)
        cipher = AESGCM(_derive(owner, b"wrap"))
        return nonce + cipher.encrypt(nonce, self.secret, _CONTEXT + self.id.bytes)

    @classmethod
    def unwrap(cls, owner: bytes, key: UUID, wrapped: bytes) -> Self | None:
        """Return a key that `wrap` encrypted, or None for another owner or another key."""
        cipher = AESGCM(_derive(owner, b"wrap"))
        try:
            secret = cipher.decrypt(
                wrapped[:_NONCE_BYTES], wrapped[_NONCE_BYTES:], _CONTEXT + key.bytes
            )
        except (InvalidTag, ValueError):
            return None
        return cls(secret)

    def _bind(self, part: Part, document: UUID, digest: bytes) -> bytes:
        # The key is that of one graph. The digest ties the head to the content of the same version.
        return _CONTEXT + part.encode() + self.id.bytes + document.bytes + digest

    def _digest(self, purpose: bytes, data: bytes) -> bytes:
        mac = HMAC(self._digests, SHA256())
        mac.update(purpose + b"\0" + data)
        return mac.finalize()


def _derive(secret: bytes, purpose: bytes) -> bytes:
    kdf = HKDF(algorithm=SHA256(), length=KEY_BYTES, salt=None, info=_CONTEXT + purpose)
    return kdf.derive(secret)
