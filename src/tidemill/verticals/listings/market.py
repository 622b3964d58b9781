"""A market: one city's homes for rent, how often they are looked at, and when they are left alone."""

import re
from collections.abc import Mapping
from datetime import datetime, timedelta

import msgspec

from tidemill.core.freshness import ConfidenceDecay, decay_problem
from tidemill.core.urls import BadUrl, canonicalize

TIERS: Mapping[str, int] = {"hot": 6, "standard": 12, "cool": 24}
"""Hours between two scrapes, by tier."""

BROKEN_AFTER = 3
"""Failed scrapes in a row after which a market is left alone but for one fresh try a day."""

TEMPLATE = "market_url"
"""The setting of a source that makes it cover markets: its search page's address, with names in braces."""

STATES = frozenset(
    "AL AK AZ AR CA CO CT DE DC FL GA HI ID IL IN IA KS KY LA ME MD MA MI MN MS MO MT NE NV NH NJ NM NY NC ND OH OK OR "  # noqa: SIM905 - a table to read
    "PA PR RI SC SD TN TX UT VT VA WA WV WI WY".split()
)
_ID = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,48}[a-z0-9])?")
MOST_HOURS, MOST_LISTINGS = 24 * 14, 100_000


OUTSIDE_NAMES = {
    "enabled": "is_enabled",
    "max_listings": "max_listings_per_scrape",
    "frequency_hours": "scrape_frequency_hours",
}
"""The names under which the table and the API have what is shorter here."""


class Market(msgspec.Struct, frozen=True, kw_only=True, rename=OUTSIDE_NAMES):
    """A row of `market_configs`; `frequency_hours` of its own goes before its tier's."""

    id: str
    display_name: str
    city: str
    state: str
    tier: str = "standard"
    enabled: bool = True
    max_listings: int = 100
    frequency_hours: int | None = None
    last_scrape_at: datetime | None = None
    last_scrape_status: str | None = None
    consecutive_failures: int = 0
    created_at: datetime | None = None

    @property
    def every(self) -> timedelta:
        """How often it is scraped."""
        return timedelta(hours=self.frequency_hours or TIERS.get(self.tier, TIERS["standard"]))

    @property
    def is_broken(self) -> bool:
        """Whether its breaker is open."""
        return self.consecutive_failures >= BROKEN_AFTER

    @property
    def parameters(self) -> dict[str, str]:
        """What a source's URL template may be filled in with."""
        return {
            "market": self.id,
            "city": self.city,
            "state": self.state,
            "city_slug": slug(self.city),
            "state_slug": self.state.lower(),
            "max_listings": str(self.max_listings),
        }

    def due_at(self) -> datetime | None:
        """When its next scrape is due; None if it was never scraped, which is: now."""
        return None if self.last_scrape_at is None else self.last_scrape_at + self.every


def market_problems(market: Market, decay: ConfidenceDecay) -> list[str]:
    """Everything about a market that cannot be meant, in words for whoever typed it."""
    found = []
    if not _ID.fullmatch(market.id):
        found.append(f"id {market.id!r}: write small letters, digits and dashes, such as 'new-haven'")
    for name, value in (("display_name", market.display_name), ("city", market.city)):
        if not value.strip() or len(value) > 100 or not value.isprintable():  # noqa: PLR2004 - no name is that long
            found.append(f"{name}: write 1 to 100 characters that can be printed")
    if market.state not in STATES:
        found.append(f"state {market.state!r}: write the two letters of a state, such as 'NY'")
    if market.tier not in TIERS:
        found.append(f"tier {market.tier!r}: there are {', '.join(TIERS)}")
    if market.frequency_hours is not None and not 1 <= market.frequency_hours <= MOST_HOURS:
        found.append(
            f"scrape_frequency_hours {market.frequency_hours}: write 1 to {MOST_HOURS}, or leave it to the tier"
        )
    if not 1 <= market.max_listings <= MOST_LISTINGS:
        found.append(f"max_listings_per_scrape {market.max_listings}: write 1 to {MOST_LISTINGS}")
    if not found and (problem := decay_problem(decay, market.tier, market.every)) is not None:
        found.append(problem)
    return found


def slug(name: str) -> str:
    """A city as addresses spell it: `new-york-city`."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def filled(template: str, market: Market) -> str:
    """A URL template with the market's parameters filled in; unknown names in braces are left as they are."""
    parameters = market.parameters
    return re.sub(r"\{(\w+)\}", lambda found: parameters.get(found[1], found[0]), template)


def template_problem(template: object) -> str:
    """What is wrong with a source's `market_url`, in words for whoever wrote it; '' if nothing is."""
    if not isinstance(template, str):
        return "write the address of a search page, such as https://homes.example/{state_slug}/{city_slug}/"
    names = ", ".join(SEEDED[0].parameters)
    if left := re.findall(r"\{(\w*)\}", filled(template, SEEDED[0])):
        return f"no market has a {left[0]!r}; the names in braces are {names}"
    if filled(template, SEEDED[0]) == filled(template, SEEDED[1]):
        return f"it is the same address for every market; name the market in braces: {names}"
    try:
        canonicalize(filled(template, SEEDED[0]))
    except BadUrl as error:
        return f"it makes no address that can be asked: {error}"
    return ""


def _east_coast() -> tuple[Market, ...]:
    rows = (
        ("nyc", "New York City", "New York", "NY", "hot"),
        ("boston", "Boston", "Boston", "MA", "hot"),
        ("dc", "Washington DC", "Washington", "DC", "hot"),
        ("philadelphia", "Philadelphia", "Philadelphia", "PA", "hot"),
        ("pittsburgh", "Pittsburgh", "Pittsburgh", "PA", "standard"),
        ("baltimore", "Baltimore", "Baltimore", "MD", "standard"),
        ("newark", "Newark", "Newark", "NJ", "standard"),
        ("jersey-city", "Jersey City", "Jersey City", "NJ", "standard"),
        ("cambridge", "Cambridge", "Cambridge", "MA", "standard"),
        ("arlington-va", "Arlington, VA", "Arlington", "VA", "standard"),
        ("bryn-mawr", "Bryn Mawr", "Bryn Mawr", "PA", "cool"),
        ("hoboken", "Hoboken", "Hoboken", "NJ", "cool"),
        ("stamford", "Stamford", "Stamford", "CT", "cool"),
        ("new-haven", "New Haven", "New Haven", "CT", "cool"),
        ("providence", "Providence", "Providence", "RI", "cool"),
        ("richmond", "Richmond", "Richmond", "VA", "cool"),
        ("charlotte", "Charlotte", "Charlotte", "NC", "cool"),
        ("raleigh", "Raleigh", "Raleigh", "NC", "cool"),
        ("hartford", "Hartford", "Hartford", "CT", "cool"),
    )
    return tuple(
        Market(id=key, display_name=name, city=city, state=state, tier=tier) for key, name, city, state, tier in rows
    )


SEEDED = _east_coast()
"""The 19 markets that every installation begins with."""
