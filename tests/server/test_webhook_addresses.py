"""Only addresses that the settings name get webhooks, and none that is private."""

from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from tests.support.certificates import make_certificate
from tests.support.webhook_receiver import WebhookReceiver
from textrawl.memory.webhooks import Destination
from textrawl.server import webhooks
from textrawl.server.webhooks import DeliveryFailed, find_fault, load_certificates, open_receiver
from textrawl.values.word_lists import list_destinations, read_hosts

pytestmark = pytest.mark.anyio

# Addresses to which a name of the setting could lead.
HOSTILE = (
    "127.0.0.1", "127.8.8.8", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1",
    "100.64.0.1", "169.254.169.254", "169.254.170.2", "168.63.129.16", "100.100.100.200",
    "192.0.0.192", "0.0.0.0", "0.1.2.3", "224.0.0.1", "239.255.255.250", "240.0.0.1",  # noqa: S104
    "255.255.255.255", "198.18.0.1", "192.0.2.1", "198.51.100.7", "203.0.113.9",
    "::", "::1", "::2", "::7f00:1", "::ffff:127.0.0.1", "::ffff:10.0.0.1",
    "::ffff:169.254.169.254", "::ffff:0:10.0.0.1", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe",
    "64:ff9b:1::a00:1", "2002:7f00:1::", "2002:a9fe:a9fe::1", "2001:0:7f00:1::",
    "fe80::1", "fe80::1%eth0", "fc00::1", "fd00:ec2::254", "fd20:ce::254", "fd12:3456::1",
    "fec0::1", "ff02::1", "2001:db8::1", "100::1",
)  # fmt: skip
# No setting can open these: metadata services, and addresses of nobody or of everybody.
NEVER = (
    "169.254.169.254", "::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe", "168.63.129.16",
    "100.100.100.200", "fd00:ec2::254", "0.0.0.0", "::", "255.255.255.255", "fe80::1", "ff02::1",  # noqa: S104
)  # fmt: skip


def test_no_name_leads_to_an_address_that_is_private_or_of_a_metadata_service() -> None:
    assert len(HOSTILE) >= 40
    name, hosts = "hooks.example.com", ["hooks.example.com", "localhost", "127.0.0.1:9000"]
    assert [a for a in HOSTILE if find_fault(a, name, hosts) is None] == []
    named = [f"[{a}]:443" if ":" in a else a for a in NEVER]
    assert [a for a in NEVER if find_fault(a, a, named) is None] == []
    for public in ("93.184.216.34", "2606:2800:220:1::1", "::ffff:93.184.216.34"):
        assert find_fault(public, name, hosts) is None
    assert find_fault("192.168.1.10", "n8n.lan", ["n8n.lan", "192.168.1.10:5678"]) is None
    assert find_fault("fd12:3456::1", "hooks.lan", ["hooks.lan", "[fd12:3456::1]"]) is None
    assert find_fault("127.0.0.1", "localhost", ["localhost:9000"]) is None
    assert find_fault("127.0.0.2", "127.0.0.1", ["127.0.0.1:9000"]) is not None


def test_a_host_of_the_setting_opens_one_port() -> None:
    given = "Hooks.Example.com, localhost, 127.0.0.1:9000, [::1]:8443"
    assert list_destinations(read_hosts(given)) == [
        "hooks.example.com:443", "localhost:443", "localhost:80", "127.0.0.1:9000", "[::1]:8443",
    ]  # fmt: skip
    for wrong in ("https://a.example", "a/b", "*.example.com", "a:0", "a:65536", "u@a", "a b"):
        with pytest.raises(ValueError, match="not a host"):
            read_hosts(wrong)


def name(url: str, host: str) -> Destination:
    return Destination(1, uuid4(), url, host, b"s" * 32)


async def post(hook: Destination, hosts: list[str]) -> None:
    async with open_receiver(hook, hosts) as receiver:
        await receiver.post("1", "{}")


@pytest.fixture
def lookups(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names that are looked up. One that changes its address leads to the receiver once."""
    asked: list[str] = []

    def look_up(host: Any, port: Any, *_: Any, **__: Any) -> list[Any]:
        asked.append(host.decode() if isinstance(host, bytes) else host)
        address = "127.0.0.1" if len(asked) == 1 else "169.254.169.254"
        return [(2, 1, 6, "", (address, port))]

    monkeypatch.setattr("socket.getaddrinfo", look_up)
    return asked


async def test_connections_lead_to_the_address_that_was_checked(lookups: list[str]) -> None:
    with WebhookReceiver() as receiver:
        host = f"localhost:{receiver.port}"
        await post(name(f"http://{host}/hook", host), [host])
        assert receiver.messages[0].headers["host"] == host
        assert lookups == ["localhost"]
        with pytest.raises(DeliveryFailed, match=r"169\.254\.169\.254"):
            await post(name(f"http://{host}/hook", host), [host])
        with pytest.raises(DeliveryFailed, match="does not name"):
            await post(name(f"http://{host}/hook", host), ["other.example"])
        assert len(receiver.messages) == 1


async def test_a_receiver_that_does_not_answer_or_answers_without_end_is_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(webhooks, "_PATIENCE", 0.2)
    with WebhookReceiver() as receiver:
        hook, hosts = name(receiver.url, receiver.host), [receiver.host]
        receiver.status, receiver.more = 200, {"content-length": "5000000000"}
        with pytest.raises(DeliveryFailed, match="no answer"):
            await post(hook, hosts)
        for wait, seconds in (("9" * 5000, 0), ("-1", 0), ("²", 0), ("120", 120), ("99999", 3600)):
            receiver.status, receiver.more = 503, {"retry-after": wait}
            with pytest.raises(DeliveryFailed, match="HTTP 503") as refused:
                await post(hook, hosts)
            assert refused.value.wait == seconds
    with pytest.raises(DeliveryFailed, match=f"no connection to {receiver.host}: "):
        await post(hook, hosts)


async def test_a_certificate_has_to_be_of_the_name_and_not_of_the_address(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "certificate.pem"))
    for host, accepted in (("localhost", 1), ("other.example", 0)):
        load_certificates.cache_clear()
        with WebhookReceiver(
            context=make_certificate(tmp_path / "certificate.pem", host)
        ) as receiver:
            place = f"localhost:{receiver.port}"
            hook = name(f"https://{place}/hook", place)
            if accepted:
                await post(hook, [place])
            else:
                with pytest.raises(DeliveryFailed, match=r"certificate is not valid|mismatch"):
                    await post(hook, [place])
            assert len(receiver.messages) == accepted
    load_certificates.cache_clear()
