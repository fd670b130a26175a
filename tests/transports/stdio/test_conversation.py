"""What another host has to know of a client, if the host of the client ends."""

import json
from typing import Any

from textrawl.host.conversation import Conversation
from textrawl.host.description_file import read_packaged

READS = frozenset({"query_memory"})
HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "a", "version": "1"},
}


class Talk:
    """A conversation with its messages as objects. Everything that is said to a host is sent."""

    def __init__(self) -> None:
        self.conversation = Conversation({"initialize": {}, **read_packaged()}, READS)

    def say(self, *, sent: bool = True, **members: Any) -> Any:
        """What the host gets of a message of the client."""
        request = self.conversation.send(encode(members))
        if request is None:
            return None
        request.sent = sent
        return json.loads(request.line)

    def call(self, identity: int, tool: str, *, sent: bool = True) -> None:
        self.say(id=identity, method="tools/call", params={"name": tool}, sent=sent)

    def hear(self, **members: Any) -> Any:
        """What the client gets of a message of the host."""
        line = self.conversation.receive(encode(members))
        return None if line is None else json.loads(line)

    def lose(self) -> list[Any]:
        """The answers that the client gets when its host ends."""
        return [json.loads(answer) for answer in self.conversation.lose()]

    def begin(self) -> list[Any]:
        """What the next host gets first."""
        requests = self.conversation.begin(READS)
        for request in requests:
            request.sent = True
        return [json.loads(request.line) for request in requests]


def encode(members: dict[str, Any]) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **members}).encode()


def names(messages: list[Any]) -> list[tuple[Any, Any]]:
    return [(message.get("method"), message.get("id")) for message in messages]


def test_reads_are_repeated_and_writes_are_answered_as_unknown() -> None:
    talk = Talk()
    talk.call(1, "query_memory")
    talk.call(2, "remember_fact")
    talk.call(3, "forget_entity")
    talk.call(4, "remember_fact", sent=False)
    talk.say(id=5, method="tools/list")
    talk.say(id=6, method="subscriptions/listen", params={})
    talk.hear(id=3, result={})
    talk.call(7, "query_memory")
    talk.say(method="notifications/cancelled", params={"requestId": 7})

    answers, lines = talk.lose(), talk.begin()

    assert [line["id"] for line in lines] == [1, 4, 5, 6]
    [unknown] = answers
    assert (unknown["id"], unknown["error"]["code"]) == (2, -32603)
    assert "query_memory" in unknown["error"]["message"]


def test_a_read_that_three_hosts_did_not_survive_is_answered_with_an_error() -> None:
    talk = Talk()
    talk.call(1, "query_memory")

    lost = list[Any]()
    for _ in range(3):
        lost.append([answer["id"] for answer in talk.lose()])
        talk.begin()

    assert lost == [[], [], [1]]
    assert talk.begin() == []


def test_what_is_asked_before_the_first_host_is_sent_to_it_in_order() -> None:
    talk = Talk()
    hello = {"id": "h", "method": "initialize", "params": HELLO}
    greeting = talk.conversation.greet(encode(hello))
    talk.say(method="notifications/initialized", sent=False)
    talk.call(1, "remember_fact", sent=False)
    talk.say(id=1, method="ping", params={"_meta": {}}, sent=False)
    talk.say(id=None, method="ping", sent=False)

    lines = talk.begin()

    assert greeting is not None
    assert names(lines)[1:] == [
        ("notifications/initialized", None), ("tools/call", 1), ("ping", 1), ("ping", None),
    ]  # fmt: skip
    assert talk.hear(id=lines[0]["id"], result={}) is None
    assert talk.conversation.owes


def test_a_client_learns_that_the_list_it_got_early_was_old() -> None:
    talk = Talk()
    talk.conversation.greet(encode({"id": 1, "method": "initialize", "params": HELLO}))
    for number, method in ((2, "tools/list"), (3, "prompts/list")):
        talk.conversation.greet(encode({"id": number, "method": method}))
    same = json.loads(read_packaged()["prompts/list"]["2025-11-25"])

    _, tools, prompts = talk.begin()

    assert talk.hear(id=tools["id"], result={"tools": []}) == {
        "jsonrpc": "2.0", "method": "notifications/tools/list_changed",
    }  # fmt: skip
    assert talk.hear(id=prompts["id"], result=same) is None


def test_another_host_learns_the_handshake_and_the_subscriptions_whose_answers_are_dropped() -> (
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
    talk.begin()

    lines = talk.begin()  # the second host ends too, before it has answered

    assert [line["method"] for line in lines] == [
        "initialize", "notifications/initialized", "resources/subscribe",
    ]  # fmt: skip
    assert lines[2]["params"] == {"uri": "memory://two"}
    assert talk.hear(id=lines[0]["id"], result={}) is None
    assert talk.hear(id=lines[2]["id"], result={}) is None


def test_a_handshake_without_an_answer_comes_before_the_notification_of_its_end() -> None:
    talk = Talk()
    talk.say(id="greeted", method="initialize", params={})
    talk.say(method="notifications/initialized")
    talk.call(1, "query_memory")

    assert names(talk.begin()) == [
        ("initialize", "greeted"), ("notifications/initialized", None), ("tools/call", 1),
    ]  # fmt: skip


def test_a_users_answer_to_one_host_is_never_taken_for_an_answer_to_another() -> None:
    talk = Talk()
    talk.begin()
    talk.call(1, "forget_entity")
    first = talk.hear(id=0, method="elicitation/create", params={})
    talk.lose()
    talk.begin()
    talk.call(2, "forget_entity")
    second = talk.hear(id=0, method="elicitation/create", params={})

    late = talk.say(id=first["id"], result={"action": "accept"})
    asks = talk.conversation.asks
    right = talk.say(id=second["id"], result={"action": "decline"})

    assert first["id"] != second["id"]
    assert (late, asks) == (None, True)
    assert (right["id"], right["result"]["action"]) == (0, "decline")
    assert not talk.conversation.asks


def test_texts_that_are_no_messages_are_passed_on_as_they_are() -> None:
    conversation = Conversation({})
    for line in (b"not json", b"[1]", b'"x"', b"\xff", b'{"id":{},"method":"ping"}', b"{" * 9999):
        request = conversation.send(line)
        assert request is not None
        assert request.line == line
        assert conversation.receive(line) == line
