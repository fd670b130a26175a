"""A provider of an LLM for tests: real HTTP on loopback, with faults that can be switched.

    with LlmServer() as server:
        settings = read_settings(llm_provider="ollama", llm_base_url=server.url)
        server.write = lambda request: "- one line"
        server.refused = {"json_schema"}
        server.fail(Fault.RATE_LIMITED, times=1)

One server speaks OpenAI's /v1/chat/completions and Ollama's /api/chat.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.support.provider_server import AnyFault, Fault, LlmFault, ProviderServer


@dataclass(frozen=True)
class LlmRequest:
    """One request as the provider received it."""

    path: str
    body: dict[str, Any]
    authorization: str | None

    @property
    def system(self) -> str:
        """The text that says what to do."""
        return self.body["messages"][0]["content"]

    @property
    def user(self) -> str:
        """The text with the material."""
        return self.body["messages"][1]["content"]

    @property
    def options(self) -> set[str]:
        """The names of what a model or server may refuse."""
        form = self.body.get("response_format", {}).get("type")
        if isinstance(self.body.get("format"), dict):
            form = "json_schema"
        elif self.body.get("format") == "json":
            form = "json_object"
        return {*self.body, form} if form else set(self.body)


class LlmServer(ProviderServer[LlmRequest]):
    """A provider of an LLM on 127.0.0.1.

    `write` makes the text of an answer. `refused` names options that are answered with 400.
    """

    def __init__(self, write: Callable[[LlmRequest], str] = lambda request: request.user) -> None:
        self.write: Callable[[LlmRequest], str] = write
        self.refused: set[str] = set()
        super().__init__()

    def read_request(self, path: str, body: Any, key: str | None) -> LlmRequest | None:
        """A chat."""
        known = path in ("/v1/chat/completions", "/api/chat")
        return LlmRequest(path, body, key) if known else None

    def choose_fault(self, request: LlmRequest, fault: AnyFault | None) -> AnyFault | None:
        """A refusal of an option."""
        if self.refused & request.options:
            return Fault.TEXT_REFUSED
        return fault

    def find_status(self, fault: AnyFault) -> int | None:
        """The status of an answer with this fault."""
        return 404 if fault is LlmFault.NOT_FOUND else super().find_status(fault)

    def write_error(self, request: LlmRequest, fault: AnyFault) -> bytes:
        """The body of an error status."""
        message = "no"
        if fault is Fault.MODEL_MISSING:
            message = f"model '{request.body['model']}' not found"
        elif refused := sorted(self.refused & request.options):
            message = f"Unsupported parameter: '{refused[0]}'"
        ollama = request.path == "/api/chat"
        return json.dumps({"error": message if ollama else {"message": message}}).encode()

    def write_body(self, request: LlmRequest, fault: AnyFault | None) -> bytes:
        """The answer to a chat."""
        text = None if fault is LlmFault.NULL else self.write(request)
        text = " \n" if fault is LlmFault.BLANK else text
        reason = "length" if fault is LlmFault.CUT else "stop"
        message = {"role": "assistant", "content": text}
        if request.path == "/api/chat":
            counts = {"prompt_eval_count": len(request.user.split()), "eval_count": 7}
            answer = {"message": message, "done": True, "done_reason": reason, **counts}
            return json.dumps({} if fault is LlmFault.NO_CHOICE else answer).encode()
        choices = [{"index": 0, "message": message, "finish_reason": reason}]
        usage = {"prompt_tokens": len(request.user.split()), "completion_tokens": 7}
        body = {"choices": [] if fault is LlmFault.NO_CHOICE else choices, "usage": usage}
        return json.dumps(body).encode()
