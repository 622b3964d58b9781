"""The world's sites as sources, in the form in which a sources file names them."""

from typing import Any

from tidemill.verticals.events.lab.makes import SELECTORS
from tidemill.verticals.events.lab.sites import Site
from tidemill.verticals.events.lab.world import World
from tidemill.verticals.prices.lab.shop import shop_source

DAILY = "0 6 * * *"
EVERY_FEW_HOURS = "0 */4 * * *"


def sources(
    world: World,
    *,
    interval_seconds: float = 2.0,
    burst: int = 1,
    parallel: int = 1,
    schedule: str = DAILY,
) -> list[dict[str, Any]]:
    """Every site with its adapter, its terms and its agenda pages, and every shop with its products."""
    pace = {"interval_seconds": interval_seconds, "burst": burst, "parallel": parallel}
    return [
        *(_source(site, pace, schedule) for site in world.sites.values()),
        *(shop_source(shop, pace, EVERY_FEW_HOURS if schedule == DAILY else schedule) for shop in world.shops.values()),
    ]


def _source(site: Site, pace: dict[str, float], schedule: str) -> dict[str, Any]:
    selectors = SELECTORS.get(site.make)
    return {
        "name": site.host.removesuffix(".test"),
        "vertical": "events",
        "base_url": site.origin,
        "adapter": "events.selectors" if selectors else "events.generic",
        "language": site.language,
        "time_zone": site.time_zone,
        "city": site.city,
        "latitude": site.latitude,
        "longitude": site.longitude,
        "tier": site.tier,
        "pace": dict(pace),
        "settings": {"selectors": dict(selectors)} if selectors else {},
        "targets": [{"url": site.origin + path, "schedule": schedule} for path in site.paths],
    }
