"""The hosts and addresses to which webhooks may lead."""

import ipaddress
from collections.abc import Sequence

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
    if str(ip) not in map(_strip_port, hosts) and not _is_public(ip):
        return f"{ip} is not public: TEXTRAWL_WEBHOOK_HOSTS has to name this address too"
    return None


def _strip_port(host: str) -> str:
    return host.rsplit("]", 1)[0].lstrip("[") if "]" in host else host.partition(":")[0]


def _is_public(ip: Address) -> bool:
    if isinstance(ip, ipaddress.IPv4Address):
        return ip.is_global
    return ip.is_global and ip in _UNICAST and not any(ip in network for network in _TUNNELS)


def _unwrap(ip: Address) -> Address:
    """Return the IPv4 address that an IPv6 address leads to, or the address itself."""
    carried = any(ip in network for network in _CARRIERS if network.version == ip.version)
    if not carried or int(ip) <= 1:  # the unspecified and the loopback address
        return ip
    return ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
