"""Host names to addresses: the configured names first, then DNS; the guard judges every answer."""

import socket
from collections.abc import Mapping

from aiohttp import DefaultResolver
from aiohttp.abc import AbstractResolver, ResolveResult

from tidemill.core.urls import address_of
from tidemill.fetching.guard import AddressGuard, RefusedAddress


class GuardedResolver(AbstractResolver):
    """Resolves the configured names itself, asks DNS for the others, and leaves out what the guard refuses."""

    def __init__(self, guard: AddressGuard, names: Mapping[str, str], dns: AbstractResolver | None = None) -> None:
        """`names` maps a host to an address or an `address:port`; `dns` is the system's own unless given."""
        self._guard = guard
        self._names = {name.lower(): target for name, target in names.items()}
        self._dns = dns

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """Return the addresses of `host` that may be connected to; raise RefusedAddress when there are only others."""
        target = self._names.get(host.rstrip(".").lower())
        found = await self._ask_dns(host, port, family) if target is None else [_mapped(host, target, port)]
        kept = [answer for answer in found if self._guard.allows(host, answer["host"], answer["port"])]
        if found and not kept:
            raise RefusedAddress
        return kept

    async def close(self) -> None:
        """Close the DNS channel."""
        if self._dns is not None:
            await self._dns.close()

    async def _ask_dns(self, host: str, port: int, family: socket.AddressFamily) -> list[ResolveResult]:
        if self._dns is None:
            self._dns = DefaultResolver()
        return await self._dns.resolve(host, port, family)


def _mapped(host: str, target: str, port: int) -> ResolveResult:
    address = address_of(target)
    if address is None:
        name, _, own_port = target.rpartition(":")
        address, port = address_of(name.strip("[]")), int(own_port)
    family = socket.AF_INET6 if address is not None and address.version == 6 else socket.AF_INET  # noqa: PLR2004
    return ResolveResult(hostname=host, host=str(address), port=port, family=family, proto=0, flags=0)
