"""The shops as a group of the lab's world."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec

from tidemill.lab.faults import Fault, TimeOut, Timetable
from tidemill.lab.messages import HANGING, LabRequest, LabResponse
from tidemill.lab.world import RobotsTerms, World, WorldTerms
from tidemill.verticals.prices.lab.answer import CLOSED_PATH, answer
from tidemill.verticals.prices.lab.shop import Shop, build_shops, shop_source

EVERY_FEW_HOURS = "0 */4 * * *"
USUAL = WorldTerms()


class ShopSites:
    """Shops; a drawn timetable leaves them alone, but for what befalls everybody."""

    def __init__(self, shops: Iterable[Shop]) -> None:
        """Serve these shops."""
        self.shops: Mapping[str, Shop] = {shop.host: shop for shop in shops}

    @property
    def origins(self) -> Mapping[str, str]:
        """Every shop with the address that it stands at."""
        return {host: shop.origin for host, shop in self.shops.items()}

    @property
    def faulty_hosts(self) -> Sequence[str]:
        """None: faults of shops are put on a timetable by hand."""
        return ()

    def robots(self, host: str) -> RobotsTerms:
        """What a shop's robots.txt asks for."""
        del host
        return RobotsTerms(0, CLOSED_PATH)

    def respond(self, request: LabRequest, faults: tuple[Fault, ...], moment: datetime) -> LabResponse:
        """Answer a request to one of the shops."""
        if any(isinstance(fault, TimeOut) for fault in faults):
            return HANGING
        said = answer(self.shops[request.host], request.path.partition("?")[0], faults, moment)
        headers = {"content-type": said.kind, **dict(said.headers)}
        return LabResponse(status=said.status, headers=headers, body=said.page.encode())

    def sources(self, pace: Mapping[str, float], schedule: str | None) -> list[dict[str, Any]]:
        """Return every shop with its products."""
        return [shop_source(shop, pace, schedule or EVERY_FEW_HOURS) for shop in self.shops.values()]

    def moved_to(self, origins: Mapping[str, str]) -> "ShopSites":
        """Return the same shops at other addresses."""
        return ShopSites(msgspec.structs.replace(shop, origin=origins[host]) for host, shop in self.shops.items())


def build_shop_sites(count: int, terms: WorldTerms) -> ShopSites:
    """Draw so many shops; in a busy opening their prices move four times."""
    return ShopSites(build_shops(terms.seed, count, terms.start, step=terms.opening / 4))


def shop_world(shops: Iterable[Shop], faults: Timetable | None = None, terms: WorldTerms = USUAL) -> World:
    """A world of these shops alone."""
    return World(terms, [ShopSites(shops)], faults)
