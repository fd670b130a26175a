"""An identity provider for tests: real HTTP on loopback, real keys, with faults to switch.

with IdentityProvider() as provider:
    issuer = Issuer(provider.url, audience=AUDIENCE)
    token = provider.issue(provider.claims(sub="ana", scope="read"))
    provider.rotate("next", "ES256")
    provider.fail(Fault.HANG)
    provider.heal()
"""

import base64
import json
import ssl
import threading
import time
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self, cast

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm

AUDIENCE = "https://memory.example.org/mcp"

PrivateKey = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey


class Fault(StrEnum):
    """What may be wrong with an issuer."""

    DOWN = "refuses connections"
    HANG = "takes the request and never answers"
    DRIP = "answers a byte now and then"
    FAILING = "500"
    REDIRECT = "sends to another address"
    HTML = "text that is no JSON"
    OTHER_JSON = "JSON that is no object"
    DEEP_JSON = "JSON of many levels"
    HUGE = "a body of 1 MB"
    TRUNCATED = "the connection ends in the middle of the body"


_BODIES = {
    Fault.HTML: b"<html>Sign in</html>",
    Fault.OTHER_JSON: b"[1, 2, 3]",
    Fault.DEEP_JSON: b"[" * 100_000,
}


@dataclass(frozen=True)
class Request:
    """One request as the issuer received it."""

    path: str
    headers: str


@cache
def make_key(algorithm: str, name: str) -> PrivateKey:
    """A key for `algorithm`, the same for one name through a whole run: RSA keys take time."""
    match algorithm[:2]:
        case "RS" | "PS":
            return rsa.generate_private_key(public_exponent=65_537, key_size=2_048)
        case "ES":
            curve = {"ES256": ec.SECP256R1, "ES384": ec.SECP384R1}[algorithm]
            return ec.generate_private_key(curve())
        case _:
            return ed25519.Ed25519PrivateKey.generate()


def publish_key(key: PrivateKey, **members: object) -> dict[str, object]:
    """The public half as a JWK, with `members` added."""
    public = key.public_key()
    if isinstance(public, rsa.RSAPublicKey):
        jwk = RSAAlgorithm.to_jwk(public, as_dict=True)
    elif isinstance(public, ec.EllipticCurvePublicKey):
        jwk = ECAlgorithm.to_jwk(public, as_dict=True)
    else:
        jwk = OKPAlgorithm.to_jwk(public, as_dict=True)
    return {**{name: jwk[name] for name in jwk if name != "key_ops"}, **members}


class IdentityProvider:
    """An issuer on 127.0.0.1; a context manager. Its port stays the same while it is down.

    `path` is part of its name, as with providers of many tenants; `tls` makes it speak https.
    `documents` holds what is served
    by path; `keys` what its key set holds; `requests` what was received, oldest first.
    """

    def __init__(
        self, *, path: str = "", algorithm: str = "RS256", tls: ssl.SSLContext | None = None
    ) -> None:
        self.requests: list[Request] = []
        self.keys: list[dict[str, object]] = []
        self.redirect_to = ""
        self._faults: dict[str, Fault] = {}
        self._everywhere: Fault | None = None
        self._lock = threading.Condition()
        self._released = threading.Event()
        self._http: _Http | None = None
        self._port = 0
        self._tls = tls
        self._listen()
        self.url = f"{'https' if tls else 'http'}://127.0.0.1:{self._port}{path}"
        self.metadata: dict[str, object] = {
            "issuer": self.url,
            "jwks_uri": f"{self.url.rstrip('/')}/keys",
        }
        self.documents: dict[str, object] = {
            f"/.well-known/oauth-authorization-server{path}": self.metadata,
            f"{path.rstrip('/')}/keys": {"keys": self.keys},
        }
        self.rotate("first", algorithm)

    @property
    def fetches(self) -> int:
        """How often the key set was asked for."""
        return sum(1 for request in self.requests if request.path.endswith("/keys"))

    def rotate(self, name: str, algorithm: str, **members: object) -> None:
        """Sign with a new key from now on, and publish no other."""
        self.name, self.algorithm = name, algorithm
        self.key = make_key(algorithm, name)
        self.keys[:] = [publish_key(self.key, kid=name, **members)]

    def claims(self, **changes: object) -> dict[str, object]:
        """Claims of a valid access token; `changes` replace them, None takes one away."""
        now = int(time.time())
        claims: dict[str, object] = {
            "iss": self.url,
            "aud": AUDIENCE,
            "sub": "ana",
            "scope": "read write",
            "client_id": "agent",
            "jti": "1",
            "iat": now,
            "exp": now + 600,
            **changes,
        }
        return {name: value for name, value in claims.items() if value is not None}

    def issue(self, claims: object = None, **header: object) -> str:
        """A token signed with the present key; `header` is added to what it says by itself."""
        return sign_token(
            self.claims() if claims is None else claims,
            self.key,
            {"alg": self.algorithm, "kid": self.name, "typ": "at+jwt", **header},
        )

    def fail(self, fault: Fault, *, path: str | None = None) -> None:
        """Answer with `fault` until `heal`: everywhere, or at `path`."""
        if path is not None:
            self._faults[path] = fault
            return
        self._everywhere = fault
        if fault is Fault.DOWN:
            self._stop()

    def heal(self) -> None:
        """Answer well again; requests that hang are let go without an answer."""
        self._everywhere = None
        self._faults.clear()
        self._released.set()
        self._released = threading.Event()
        if self._http is None:
            self._listen()

    def wait_for_requests(self, count: int) -> None:
        """Block until `count` requests were received, ten seconds at most."""
        with self._lock:
            assert self._lock.wait_for(lambda: len(self.requests) >= count, timeout=60)

    def answer(self, handler: "_Handler") -> None:
        """Answer one request; called from its thread."""
        with self._lock:
            self.requests.append(Request(handler.path, str(handler.headers)))
            self._lock.notify_all()
            released = self._released
        fault = self._everywhere or self._faults.get(handler.path)
        document = self.documents.get(handler.path)
        if fault is Fault.HANG:
            released.wait()
        elif fault is Fault.REDIRECT:
            handler.send(302, b"", location=self.redirect_to)
        elif fault is Fault.FAILING:
            handler.send(500, json.dumps(document).encode())
        elif document is None:
            handler.send(404, b"{}")
        elif fault is Fault.HUGE:
            handler.send(200, json.dumps(document).encode() + b" " * 1_000_000)
        else:
            _send_document(handler, json.dumps(document).encode(), fault, released)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._released.set()
        self._stop()

    def _listen(self) -> None:
        self._http = _Http(self._port, self, self._tls)
        self._port = self._http.server_port

    def _stop(self) -> None:
        http, self._http = self._http, None
        if http is not None:
            http.stop()


def encode_part(part: object) -> str:
    """JSON, or bytes as they are, as base64url."""
    raw = part if isinstance(part, bytes) else json.dumps(part).encode()
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def sign_token(claims: object, key: PrivateKey, header: dict[str, Any]) -> str:
    """A token with exactly this header, but for members that are None, and exactly these claims.

    PyJWT would not write much of what an attacker does.
    """
    spoken = {name: value for name, value in header.items() if value is not None}
    text = f"{encode_part(spoken)}.{encode_part(claims)}"
    signature = jwt.get_algorithm_by_name(header["alg"]).sign(text.encode(), key)
    return f"{text}.{encode_part(signature)}"


def _send_document(
    handler: "_Handler", body: bytes, fault: Fault | None, released: threading.Event
) -> None:
    if fault is Fault.TRUNCATED:
        handler.send(200, body[: len(body) // 2], length=len(body))
    elif fault is Fault.DRIP:
        handler.send(200, b"", length=len(body))
        for byte in body:
            if released.wait(0.02):
                return
            handler.wfile.write(bytes([byte]))
    else:
        handler.send(200, _BODIES[fault] if fault else body)


class _Http(ThreadingHTTPServer):
    daemon_threads = False  # joined at the close, so that no thread or socket outlives a test
    request_queue_size = 128

    def __init__(self, port: int, owner: IdentityProvider, tls: ssl.SSLContext | None) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.owner = owner
        if tls is not None:
            self.socket = tls.wrap_socket(
                self.socket, server_side=True, do_handshake_on_connect=False
            )
        self._thread = threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing of clients that do not trust the certificate."""

    def stop(self) -> None:
        self.shutdown()
        self._thread.join()
        self.server_close()


class _Handler(BaseHTTPRequestHandler):
    """HTTP/1.0: no kept connection goes on being served after the server is down."""

    def do_GET(self) -> None:
        try:
            cast("_Http", self.server).owner.answer(self)
        except ConnectionError:
            self.close_connection = True

    def do_POST(self) -> None:
        self.do_GET()

    def send(
        self, status: int, body: bytes, *, length: int | None = None, location: str | None = None
    ) -> None:
        """Send a whole answer; `length` is what Content-Length claims, if not the truth."""
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body) if length is None else length))
        if location is not None:
            self.send_header("location", location)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: stderr belongs to the test."""
