"""An identity provider at which people sign in: the authorization code flow, over real HTTP.

with SignInProvider() as provider:
    provider.token_claims["aud"] = "https://else.example/mcp"
    provider.answer_changes["iss"] = "https://evil.example"
"""

import base64
import json
from hashlib import sha256
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from tests.support.issuer import IdentityProvider

CLIENT_ID = "textrawl-explorer"


class SignInProvider(IdentityProvider):
    """`person` is signed in at the provider, which knows `client_id`.

    A client that registers itself takes its place. The other attributes replace what it would say.
    `answer_changes` is for the parameters of the redirect back, where None leaves one out.
    """

    def __init__(self) -> None:
        super().__init__()
        self.person = "ana"
        self.client_id = CLIENT_ID
        self.answer_changes: dict[str, str | None] = {}
        self.token_claims: dict[str, object] = {}
        self.token_answer: dict[str, object] = {}
        self.asked: list[dict[str, str]] = []
        self.exchanges: list[dict[str, str]] = []
        self._codes: dict[str, dict[str, str]] = {}
        self.metadata.update(
            authorization_endpoint=f"{self.url}/authorize",
            token_endpoint=f"{self.url}/token",
            registration_endpoint=f"{self.url}/register",
            response_types_supported=["code"],
            code_challenge_methods_supported=["S256"],
            authorization_response_iss_parameter_supported=True,
            scopes_supported=["openid", "textrawl:read", "textrawl:write"],
        )

    def answer(self, handler: Any) -> None:
        parts = urlsplit(str(handler.path))
        if parts.path == "/authorize":
            handler.send(302, b"", location=self._authorize(dict(parse_qsl(parts.query))))
        elif parts.path in ("/token", "/register") and handler.command == "POST":
            body = handler.rfile.read(int(handler.headers["content-length"])).decode()
            act = self._exchange if parts.path == "/token" else self._register
            status, document = act(body)
            handler.send(status, json.dumps(document).encode())
        else:
            super().answer(handler)

    def _authorize(self, asked: dict[str, str]) -> str:
        """Return the address that a browser is sent back to, with a new code."""
        self.asked.append(asked)
        code = f"code-{len(self.asked)}"
        if (asked["client_id"], asked["code_challenge_method"]) == (self.client_id, "S256"):
            self._codes[code] = asked
        given: dict[str, str | None] = {"code": code, "state": asked["state"], "iss": self.url}
        query = {
            key: value for key, value in (given | self.answer_changes).items() if value is not None
        }
        return f"{asked['redirect_uri']}?{urlencode(query)}"

    def _register(self, body: str) -> tuple[int, dict[str, object]]:
        """Make a client as RFC 7591 describes."""
        self.client_id = f"registered-{len(self.requests)}"
        return 201, {**json.loads(body), "client_id": self.client_id}

    def _exchange(self, body: str) -> tuple[int, dict[str, object]]:
        form = dict(parse_qsl(body))
        self.exchanges.append(form)
        asked = self._codes.pop(form.get("code", ""), None)  # a code is for one exchange
        challenge = base64.urlsafe_b64encode(sha256(form["code_verifier"].encode()).digest())
        if (
            asked is None
            or challenge.rstrip(b"=").decode() != asked["code_challenge"]
            or any(form[key] != asked[key] for key in ("redirect_uri", "client_id", "resource"))
        ):
            return 400, {"error": "invalid_grant"}
        claims = {"sub": self.person, "aud": asked["resource"], "scope": asked["scope"]}
        token = self.issue(self.claims(**claims | self.token_claims))
        return 200, {"access_token": token, "token_type": "Bearer", **self.token_answer}
