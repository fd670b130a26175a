"""What another server has to know of a client, if the server of the client ends."""

import json
from typing import Any

from textrawl.server.relay import Conversation, Repetition

READS = frozenset({"query_memory"})


class Talk:
    """A conversation with its messages as objects."""

    def __init__(self) -> None:
        self.hidden = set[int | str]()
        self._conversation = Conversation(self._hides, self.hidden, READS)

    def say(self, **members: Any) -> Any:
        """What the server gets of a message of the client."""
        return self._pass(self._conversation.send, members)

    def call(self, identity: int, tool: str) -> None:
        self.say(id=identity, method="tools/call", params={"name": tool})

    def hear(self, **members: Any) -> Any:
        """What the client gets of a message of the server."""
        return self._pass(self._conversation.receive, members)

    def begin_again(self, *unsent: dict[str, Any]) -> tuple[list[Any], list[Any]]:
        found: Repetition = self._conversation.begin_again(map(_encode, unsent))
        lines, answers = ([json.loads(line) for line in each] for each in found)
        for line in found.lines:
            self._conversation.send(line)
        return lines, answers

    @property
    def owes(self) -> bool:
        return self._conversation.owes

    @property
    def asks(self) -> bool:
        return self._conversation.asks

    def _hides(self, identity: int | str) -> bool:
        hidden = identity in self.hidden
        self.hidden.discard(identity)
        return hidden

    def _pass(self, method: Any, members: dict[str, Any]) -> Any:
        line = method(_encode(members))
        return None if line is None else json.loads(line)


def _encode(members: dict[str, Any]) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **members}).encode()


def names(messages: list[Any]) -> list[tuple[Any, Any]]:
    return [(message.get("method"), message.get("id")) for message in messages]


def test_reads_are_repeated_and_writes_are_answered_as_unknown() -> None:
    talk = Talk()
    talk.call(1, "query_memory")
    talk.call(2, "remember_fact")
    talk.call(3, "forget_entity")
    talk.call(4, "remember_fact")
    talk.say(id=5, method="tools/list")
    talk.say(id=6, method="subscriptions/listen", params={})
    talk.hear(id=3, result={})
    talk.call(7, "query_memory")
    talk.say(method="notifications/cancelled", params={"requestId": 7})

    lines, answers = talk.begin_again({"id": 4, "method": "tools/call", "params": {}})

    assert [line["id"] for line in lines] == [1, 4, 5, 6]
    [unknown] = answers
    assert (unknown["id"], unknown["error"]["code"]) == (2, -32603)
    assert "query_memory" in unknown["error"]["message"]


def test_an_answer_of_the_client_that_was_not_sent_does_not_repeat_a_write_with_its_id() -> None:
    talk = Talk()
    talk.call(1, "remember_fact")

    lines, answers = talk.begin_again({"id": 1, "result": {"action": "accept"}})

    assert (lines, [answer["id"] for answer in answers]) == ([], [1])


def test_another_server_learns_the_handshake_and_the_subscriptions_whose_answers_are_dropped() -> (
    None
):
    talk = Talk()
    talk.say(id=1, method="initialize", params={"protocolVersion": "2025-11-25"})
    talk.hear(id=1, result={})
    talk.say(method="notifications/initialized")
    for identity, uri in ((2, "memory://one"), (3, "memory://two")):
        talk.say(id=identity, method="resources/subscribe", params={"uri": uri})
        talk.hear(id=identity, result={})
    talk.say(id=4, method="resources/unsubscribe", params={"uri": "memory://one"})
    talk.hear(id=4, result={})
    talk.begin_again()

    lines, _ = talk.begin_again()  # the second server ends too, before it has answered

    assert [line["method"] for line in lines] == [
        "initialize", "notifications/initialized", "resources/subscribe",
    ]  # fmt: skip
    assert lines[2]["params"] == {"uri": "memory://two"}
    assert {lines[0]["id"], lines[2]["id"]} <= talk.hidden
    assert talk.hear(id=lines[0]["id"], result={}) is None
    assert talk.hear(id=lines[2]["id"], result={}) is None


def test_a_handshake_without_an_answer_comes_before_the_notification_of_its_end() -> None:
    talk = Talk()
    talk.say(id="greeted", method="initialize", params={})
    talk.say(method="notifications/initialized")
    talk.call(1, "query_memory")

    lines, _ = talk.begin_again()

    assert names(lines) == [
        ("initialize", "greeted"), ("notifications/initialized", None), ("tools/call", 1),
    ]  # fmt: skip


def test_a_users_answer_to_one_server_is_never_taken_for_an_answer_to_another() -> None:
    talk = Talk()
    talk.call(1, "forget_entity")
    first = talk.hear(id=0, method="elicitation/create", params={})
    talk.begin_again()
    talk.call(2, "forget_entity")
    second = talk.hear(id=0, method="elicitation/create", params={})

    late = talk.say(id=first["id"], result={"action": "accept"})
    asks = talk.asks
    right = talk.say(id=second["id"], result={"action": "decline"})

    assert first["id"] != second["id"]
    assert (late, asks) == (None, True)
    assert (right["id"], right["result"]["action"], talk.asks) == (0, "decline", False)


def test_texts_that_are_no_messages_are_passed_on_as_they_are() -> None:
    conversation = Conversation(lambda _: False, set())
    for line in (b"not json", b"[1]", b'"x"', b"\xff", b'{"id":{},"method":"ping"}', b"{" * 9999):
        assert conversation.send(line) == line
        assert conversation.receive(line) == line
    assert conversation.begin_again([]) == Repetition([], [])
