"""The delivery of the trail to webhooks.

The messages have the form of Standard Webhooks (standardwebhooks.com). A message has the same id in
each attempt, so a receiver can ignore what it has already.
"""

import hashlib
import hmac
import ipaddress
import logging
import re
import ssl
import time
from base64 import b64encode
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import cache
from http import HTTPStatus
from socket import SOCK_STREAM
from typing import NoReturn
from uuid import UUID, uuid4

import anyio
import httpx

from textrawl import __version__
from textrawl.access.principal import Directory
from textrawl.errors import NotAuthenticated, TextrawlError
from textrawl.memory.store import Store
from textrawl.memory.webhooks import Destination, MessageRow, Webhooks
from textrawl.values.word_lists import list_destinations

logger = logging.getLogger("textrawl")

_PAUSE = 1.0  # seconds between questions for new events
_MOST = 8  # webhooks to which this process delivers at the same time
_PATIENCE = 10.0  # seconds for one message, with its connection and its answer
_PROBE = 2.0  # seconds for a connection, if the name has several addresses
_RECORDING = 1.0  # seconds after which a delivery is recorded; a killed server repeats this much
_MOST_ANSWER = 65_536  # bytes of an answer that are read, so that the connection can be used again
_LONGEST_WAIT = 3600  # seconds that a receiver can ask for


class DeliveryFailed(Exception):
    """The reason why a message was not delivered. It never contains a text of the receiver.

    `wait` is the number of seconds that the receiver asks for. `gone` is true if it wants no more
    messages.
    """

    def __init__(self, reason: str, *, wait: int = 0, gone: bool = False) -> None:
        super().__init__(reason)
        self.wait = wait
        self.gone = gone


def sign(secret: bytes, message: str, timestamp: int, body: bytes) -> dict[str, str]:
    """Return the headers of a message: its id, the time in seconds, and the signature."""
    signed = b"%s.%d.%s" % (message.encode(), timestamp, body)
    signature = b64encode(hmac.new(secret, signed, hashlib.sha256).digest()).decode()
    return {
        "webhook-id": message,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": f"v1,{signature}",
    }


@dataclass(frozen=True)
class Receiver:
    """The receiver of a webhook, with a connection to an address that was checked."""

    hook: Destination
    url: httpx.URL
    client: httpx.AsyncClient

    async def post(self, message: str, body: str) -> None:
        """Deliver a message. Raises DeliveryFailed, also for a redirect."""
        content = body.encode()
        headers = sign(self.hook.secret, message, int(time.time()), content)
        try:
            with anyio.fail_after(_PATIENCE):
                request = self.client.build_request(
                    "POST",
                    self.url,
                    content=content,
                    headers=headers,
                    extensions={"sni_hostname": httpx.URL(self.hook.url).host},
                )
                response = await self.client.send(request, stream=True)
                try:
                    await _read_answer(response)
                finally:
                    await response.aclose()
        except TimeoutError:
            raise DeliveryFailed(f"no answer within {_PATIENCE:.0f} s") from None
        except httpx.ConnectError as error:
            raise DeliveryFailed(f"no connection to {self.hook.host}: {error}") from None
        except httpx.HTTPError as error:
            raise DeliveryFailed(type(error).__name__) from None
        if not response.is_success:
            _refuse(response)


async def _read_answer(response: httpx.Response) -> None:
    size = 0
    async for chunk in response.aiter_raw():
        size += len(chunk)
        if size > _MOST_ANSWER:
            return


def _refuse(response: httpx.Response) -> NoReturn:
    wait = re.fullmatch(r"[0-9]{1,9}", response.headers.get("retry-after", ""))
    raise DeliveryFailed(
        f"HTTP {response.status_code}",
        wait=min(int(wait[0]), _LONGEST_WAIT) if wait else 0,
        gone=response.status_code == HTTPStatus.GONE,
    )


@cache
def load_certificates() -> ssl.SSLContext:
    """Load the trusted certificates once, which takes 20 ms. SSL_CERT_FILE can name them."""
    return httpx.create_ssl_context()


@asynccontextmanager
async def open_receiver(hook: Destination, hosts: Sequence[str]) -> AsyncGenerator[Receiver]:
    """Find and check the address of a receiver. Raises DeliveryFailed.

    All connections lead to this address, so a name that changes its address leads nowhere else. No
    proxy is used, because a proxy would look up the name itself.
    """
    if hook.host not in list_destinations(hosts):
        raise DeliveryFailed(f"TEXTRAWL_WEBHOOK_HOSTS does not name {hook.host}")
    url = httpx.URL(hook.url)
    address = await _find_address(url.host, int(hook.host.rpartition(":")[2]), hosts)
    verify = load_certificates() if url.scheme == "https" else False
    async with httpx.AsyncClient(
        verify=verify,
        timeout=_PATIENCE,
        follow_redirects=False,
        trust_env=False,
        limits=httpx.Limits(max_connections=1),
        headers={
            "host": url.netloc.decode("ascii"),
            "content-type": "application/json",
            "user-agent": f"textrawl/{__version__}",
            "accept-encoding": "identity",
        },
    ) as client:
        yield Receiver(hook, url.copy_with(host=address), client)


async def _find_address(host: str, port: int, hosts: Sequence[str]) -> str:
    """Return an address of a host, if all its addresses are allowed."""
    try:
        with anyio.fail_after(_PATIENCE):
            found = await anyio.getaddrinfo(host, port, type=SOCK_STREAM)
    except (OSError, TimeoutError, UnicodeError):
        raise DeliveryFailed(f"the name {host} cannot be looked up") from None
    addresses = [str(row[4][0]) for row in found]
    for address in addresses:
        if fault := find_fault(address, host, hosts):
            raise DeliveryFailed(fault)
    for address in addresses[:-1]:  # of a name such as localhost, often only one listens
        with suppress(OSError, TimeoutError), anyio.fail_after(_PROBE):
            await (await anyio.connect_tcp(address, port)).aclose()
            return address
    return addresses[-1]


class WebhookDelivery:
    """Delivers the events of the spaces in which the server's own token has the scope `admin`.

    All servers of a memory share this work. The server that claims a webhook delivers the events
    of that webhook in their order, one after the other.
    """

    def __init__(
        self, memory: Store, hosts: Sequence[str], directory: Directory, space: str | None = None
    ) -> None:
        self._memory = memory
        self._directory = directory
        self._space = space
        self._webhooks = Webhooks(memory.database, memory.credential)
        self._hosts = hosts
        self._destinations = list_destinations(hosts)
        self._running = 0

    async def run(self) -> None:
        """Deliver until cancelled. A round that fails is repeated."""
        logged = ""
        async with anyio.create_task_group() as deliveries:
            while True:
                try:
                    claim, free = uuid4(), _MOST - self._running
                    space = await self._find_space()
                    for hook in await self._webhooks.claim(claim, self._destinations, free, space):
                        self._running += 1
                        deliveries.start_soon(self._deliver, hook, claim)
                    logged = ""
                except TextrawlError as error:
                    if str(error) != logged:
                        logger.warning("Webhooks wait: %s", error)
                    logged = str(error)
                await anyio.sleep(_PAUSE)

    async def _find_space(self) -> int | None:
        """Return the only space of this server, or None if it has all of its token."""
        if self._space is None:
            return None
        principal = await self._directory.find(self._memory.credential)
        if principal is None:
            raise NotAuthenticated
        return principal.pin(self._space).spaces[0].id

    async def _deliver(self, hook: Destination, claim: UUID) -> None:
        try:
            await self._deliver_claimed(hook, claim)
        except TextrawlError as error:
            logger.info("The webhook %s waits: %s", hook.id, error)
        finally:
            self._running -= 1

    async def _deliver_claimed(self, hook: Destination, claim: UUID) -> None:
        """Deliver all events that are there. `after` is the last one that needs no attempt."""
        after: str | None = None
        try:
            async with open_receiver(hook, self._hosts) as receiver:
                while rows := await self._webhooks.read_next(hook, claim, after):
                    end = time.monotonic() + _RECORDING
                    for row in rows:
                        await _post(receiver, row)
                        after = row.cursor
                        if time.monotonic() > end:
                            break
        except DeliveryFailed as fault:
            paused = await self._webhooks.record_fault(
                hook, claim, str(fault), after=after, wait=fault.wait, gone=fault.gone
            )
            level = logging.WARNING if paused else logging.INFO
            logger.log(level, "The webhook %s waits: %s", hook.id, fault)


async def _post(receiver: Receiver, row: MessageRow) -> None:
    if row.body is not None:
        number = row.cursor.rpartition(":")[2]
        await receiver.post(f"{receiver.hook.id}-{number}", row.body)


TEST_BODY = '{"type": "memory.test", "timestamp": "%s", "data": {}}'


async def post_test(hook: Destination, hosts: Sequence[str], now: str) -> None:
    """Post a message of the type memory.test. Raises DeliveryFailed."""
    async with open_receiver(hook, hosts) as receiver:
        await receiver.post(f"{hook.id}-test-{uuid4()}", TEST_BODY % now)


# Addresses of metadata services, of hosts that hold credentials, and of nobody. They are refused
# even if the setting names them. 168.63.129.16 of Azure is the only one that looks public.
_NEVER = tuple(
    ipaddress.ip_network(network)
    for network in (
        "0.0.0.0/8", "169.254.0.0/16", "168.63.129.16", "100.100.100.200", "192.0.0.192",
        "224.0.0.0/3", "::", "fe80::/10", "fd00:ec2::254", "fd20:ce::254", "ff00::/8",
    )
)  # fmt: skip
# IPv6 addresses that hold an IPv4 address in their last 32 bits: mapped, compatible, and NAT64.
_CARRIERS = tuple(
    ipaddress.ip_network(n) for n in ("::ffff:0:0/96", "::/96", "64:ff9b::/96", "::ffff:0:0:0/96")
)
# Tunnels and translators lead to IPv4 addresses that cannot be read here.
_TUNNELS = tuple(ipaddress.ip_network(n) for n in ("2002::/16", "2001::/32"))
_UNICAST = ipaddress.ip_network("2000::/3")  # all public IPv6 addresses that were ever assigned

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


def find_fault(address: str, host: str, hosts: Sequence[str]) -> str | None:
    """Return the reason not to connect to an address of `host`, or None.

    An address has to be public, or `hosts` of the setting have to name it. No name but `localhost`
    leads to a loopback address.
    """
    ip = _unwrap(ipaddress.ip_address(address.partition("%")[0]))
    if any(ip in network for network in _NEVER if network.version == ip.version):
        return f"{ip} can never be the address of a receiver"
    if ip.is_loopback:
        own = host in {"localhost", str(ip)}
        return None if own else f"{ip} is this machine, and {host} is a name of another one"
    named = [
        one.rsplit("]", 1)[0].lstrip("[") if "]" in one else one.partition(":")[0] for one in hosts
    ]
    is_public = ip.is_global
    if isinstance(ip, ipaddress.IPv6Address):
        is_public &= ip in _UNICAST and not any(ip in network for network in _TUNNELS)
    if str(ip) not in named and not is_public:
        return f"{ip} is not public: TEXTRAWL_WEBHOOK_HOSTS has to name this address too"
    return None


def _unwrap(ip: Address) -> Address:
    """Return the IPv4 address that an IPv6 address leads to, or the address itself."""
    carried = any(ip in network for network in _CARRIERS if network.version == ip.version)
    if not carried or int(ip) <= 1:  # the unspecified and the loopback address
        return ip
    return ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
