"""The address guard: never reach loopback, private, link-local or metadata addresses, whatever a page or source says.

It judges twice. Before a request it judges the address as written: scheme, credentials, port and literal IPs. At the
moment of connecting it judges the address that the socket would go to, so that no DNS answer gets past it.
"""

import re
import socket
from collections.abc import Iterable
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

import msgspec

from tidemill.core.urls import BadUrl, address_of, host_of, origin_of

# Ports on which something else than a web server listens (the Fetch standard's list, in part): a request there is
# an attempt to talk to that something.
OTHER_SERVICES = frozenset({
    1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110,
    111, 113, 115, 117, 119, 123, 135, 137, 138, 139, 143, 161, 179, 389, 427, 445, 465, 512, 513, 514, 515, 526, 530,
    531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3306, 3659, 4045,
    4190, 5060, 5061, 5432, 6000, 6379, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080, 11211,
})  # fmt: skip

_DEFAULT_PORT = {"http": 80, "https": 443}

# Public by the numbers and yet not the public web.
_NEVER_PUBLIC_V4 = (
    IPv4Network("192.0.0.0/24"),  # protocol assignments, and Oracle's metadata service
    IPv4Network("192.88.99.0/24"),  # 6to4 relays
    IPv4Network("168.63.129.16/32"),  # Azure's metadata and DNS service
)
_GLOBAL_UNICAST_V6 = IPv6Network("2000::/3")
_NEVER_PUBLIC_V6 = (
    IPv6Network("2001::/23"),  # Teredo and other protocol assignments: tunnels to addresses we cannot judge
    IPv6Network("3fff::/20"),  # documentation
)
_NAT64 = IPv6Network("64:ff9b::/96")

Address = IPv4Address | IPv6Address


class RefusedAddress(PermissionError):
    """No socket is opened to this address; the message is always the same, so that several refusals read as one."""

    def __init__(self) -> None:
        """Explain to a person why."""
        super().__init__("the address is not of the public web, and the settings do not allow it")


class Allowance(msgspec.Struct, frozen=True):
    """One address that may be reached although it is not public: a network or a host, on one port or on all."""

    network: IPv4Network | IPv6Network | None
    host: str
    port: int | None

    @classmethod
    def parse(cls, text: str) -> "Allowance":
        """Read `127.0.0.0/8`, `127.0.0.12:8080`, `[::1]:8080`, `intranet.example` or `intranet.example:81`."""
        name, port = _without_port(text.strip())
        try:
            return cls(ip_network(name, strict=False), "", port)
        except ValueError:
            host = "" if "/" in name else _host_or_empty(name)
        if host and "." not in host and host != "localhost" and port is None:  # a slip of the pen, most likely
            host = ""
        if not host:
            msg = (
                f"{text!r} allows nothing: write a network (10.0.0.0/8), an address, a host name (intranet.example), "
                "or a host name without dots and its port (intranet:8080)"
            )
            raise ValueError(msg)
        return cls(None, host, port)

    def covers(self, host: str, address: Address | None, port: int) -> bool:
        """Whether this host, or its address, on this port is the one allowed."""
        if self.port not in {None, port}:
            return False
        if self.network is None:
            return host == self.host
        return address is not None and address in self.network


class AddressGuard:
    """Judges addresses as they are written and as they are connected to."""

    def __init__(self, allow: Iterable[str] = ()) -> None:
        """Refuse everything that is not the public web, but for what `allow` names (see `Allowance.parse`)."""
        self._allowances = tuple(Allowance.parse(text) for text in allow)
        self._cached_reason = lru_cache(maxsize=4096)(self._reason_to_refuse_origin)

    def reason_to_refuse(self, href: str) -> str:
        """Return why a normalised address may not be requested, or '' when it may as far as its spelling tells."""
        return self._cached_reason(origin_of(href))

    def allows(self, host: str, address: str, port: int) -> bool:
        """Whether a socket may be opened to `address` on behalf of `host`."""
        resolved = _unmapped(ip_address(address))
        return is_public(resolved) or self._is_allowed(host, resolved, port)

    def open_socket(self, host: str, address_info: tuple[int, int, int, str, tuple[str | int, ...]]) -> socket.socket:
        """Open a socket for `host`, or raise RefusedAddress if it would connect to a forbidden address."""
        family, kind, protocol, _, target = address_info
        if not self.allows(host, str(target[0]), int(target[1])):
            raise RefusedAddress
        return socket.socket(family=family, type=kind, proto=protocol)

    def _is_allowed(self, host: str, address: Address | None, port: int) -> bool:
        return any(allowance.covers(host, address, port) for allowance in self._allowances)

    def _reason_to_refuse_origin(self, origin: str) -> str:
        scheme, _, authority = origin.partition("://")
        if scheme not in _DEFAULT_PORT:
            return f"only http and https are fetched, not {scheme.partition(':')[0]}"
        if "@" in authority:
            return "the address carries credentials"
        host = host_of(origin)
        port = int(authority.rpartition(":")[2]) if _has_port(authority) else _DEFAULT_PORT[scheme]
        address = address_of(host)
        if self._is_allowed(host, None if address is None else _unmapped(address), port):
            return ""
        if address is not None and not is_public(address):
            return f"{host} is not an address of the public web, and the settings do not allow it"
        if port in OTHER_SERVICES:
            return f"port {port} is not a web server's"
        return "" if host.strip(".") else "the address has no host"


@lru_cache(maxsize=4096)
def is_public(address: Address) -> bool:
    """Whether this is an address of the public web, and so are the addresses embedded in it."""
    if isinstance(address, IPv4Address):
        return address.is_global and not address.is_multicast and not any(address in net for net in _NEVER_PUBLIC_V4)
    if address.ipv4_mapped is not None:
        return is_public(address.ipv4_mapped)
    if address in _NAT64:
        return is_public(IPv4Address(int(address) & 0xFFFF_FFFF))
    if address.sixtofour is not None:
        return is_public(address.sixtofour)
    if address not in _GLOBAL_UNICAST_V6 or any(address in network for network in _NEVER_PUBLIC_V6):
        return False
    return address.is_global


def _unmapped(address: Address) -> Address:
    """Return the IPv4 address inside an IPv4-mapped IPv6 one: that is where the packets go."""
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return address if mapped is None else mapped


def _has_port(authority: str) -> bool:
    return ":" in authority.rpartition("]")[2]


def _host_or_empty(name: str) -> str:
    try:
        return host_of(f"http://{name}/")
    except BadUrl:
        return ""


def _without_port(text: str) -> tuple[str, int | None]:
    bracketed = re.fullmatch(r"\[([^]]+)\](?::(\d+))?", text)
    plain = re.fullmatch(r"([^:]+):(\d+)", text)
    found = bracketed or plain
    return (text, None) if found is None else (found[1], int(found[2]) if found[2] else None)
