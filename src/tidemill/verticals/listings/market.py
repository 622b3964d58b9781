"""A market: one city's homes for rent, how often they are looked at, and when they are left alone."""

import re
import unicodedata
from collections.abc import Mapping
from datetime import datetime, timedelta

import msgspec

from tidemill.core.freshness import ConfidenceDecay, decay_problem
from tidemill.core.urls import BadUrl, canonicalize
from tidemill.reading.currencies import currency_problem

TIERS: Mapping[str, int] = {"hot": 6, "standard": 12, "cool": 24}
"""Hours between two scrapes, by tier."""

BROKEN_AFTER = 3
"""Failed scrapes in a row after which a market is left alone but for one fresh try a day."""

MARKETS, EVERY_MARKET = "markets", "all"
"""The setting of a source that says which markets it covers, and its value for every one that there ever is."""

TEMPLATE = "market_url"
"""The setting of a source that makes it cover markets: its search page's address, with names in braces."""

STATES = frozenset(
    "AL AK AZ AR CA CO CT DE DC FL GA HI ID IL IN IA KS KY LA ME MD MA MI MN MS MO MT NE NV NH NJ NM NY NC ND OH OK OR "  # noqa: SIM905 - a table to read
    "PA PR RI SC SD TN TX UT VT VA WA WV WI WY".split()
)
HOME_COUNTRY, HOME_CURRENCY = "US", "USD"
AREA_ENDS = ";"
MOST_AREA = 60
_COUNTRY = re.compile(r"[A-Z]{2}")
_AREA = re.compile(r"[^;\s][^;\x00-\x1f]{0,59}")
_UMLAUTS = {"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"}
_ID = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,48}[a-z0-9])?")
MOST_HOURS, MOST_LISTINGS = 24 * 14, 100_000


OUTSIDE_NAMES = {
    "enabled": "is_enabled",
    "max_listings": "max_listings_per_scrape",
    "frequency_hours": "scrape_frequency_hours",
}
"""The names under which the table and the API have what is shorter here."""


class Market(msgspec.Struct, frozen=True, kw_only=True, rename=OUTSIDE_NAMES):
    """A row of `market_configs`; `frequency_hours` of its own goes before its tier's.

    `state` is its region: two letters in the United States, a name or nothing elsewhere. `country` is two letters, and
    rents are in `currency`. `area` names what belongs to it beside its city: other towns, and beginnings of postal
    codes.
    """

    id: str
    display_name: str
    city: str
    state: str
    country: str = HOME_COUNTRY
    currency: str = HOME_CURRENCY
    area: tuple[str, ...] = ()
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
            "state_slug": slug(self.state),
            "max_listings": str(self.max_listings),
            "region": self.state,
            "country": self.country,
            "currency": self.currency,
            "area": AREA_ENDS.join(self.area),
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
    found += _place_problems(market)
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


def _place_problems(market: Market) -> list[str]:
    """What is wrong with where a market is, and with what its rents are in."""
    found = []
    if not _COUNTRY.fullmatch(market.country):
        found.append(f"country {market.country!r}: write the two letters of a country, such as 'DE'")
    elif market.country == HOME_COUNTRY and market.state not in STATES:
        found.append(f"state {market.state!r}: write the two letters of a state, such as 'NY'")
    if len(market.state) > 100 or not market.state.isprintable():  # noqa: PLR2004 - no name is that long
        found.append("state: write a region's name, or nothing")
    if problem := currency_problem(market.currency):
        found.append(f"currency {market.currency!r}: {problem}")
    if len(market.area) > MOST_AREA or not all(_AREA.fullmatch(each) for each in market.area):
        found.append(f"area: write up to {MOST_AREA} towns or beginnings of postal codes, such as Brookline and 024")
    return found


def slug(name: str) -> str:
    """A city as addresses spell it: `new-york-city`, `koeln`."""
    spelled = "".join(_UMLAUTS.get(letter, letter) for letter in name.lower())
    plain = unicodedata.normalize("NFKD", spelled).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")


def filled(template: str, market: Market) -> str:
    """A URL template with the market's parameters filled in; unknown names in braces are left as they are."""
    parameters = market.parameters
    return re.sub(r"\{(\w+)\}", lambda found: parameters.get(found[1], found[0]), template)


def markets_problem(value: object) -> str:
    """What is wrong with the list of markets that a source covers; '' if nothing is."""
    if value == EVERY_MARKET or (isinstance(value, list) and value and all(isinstance(one, str) for one in value)):
        return ""
    return f"write the ids of the markets that it covers, such as [boston, nyc], or {EVERY_MARKET}"


def covers(chosen: object, market: Market) -> bool:
    """Whether a source covers a market: all of them, or those it names. One from before it could choose covers all."""
    return chosen is None or chosen == EVERY_MARKET or (isinstance(chosen, list) and market.id in chosen)


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
        Market(id=key, display_name=name, city=city, state=state, tier=tier, area=AREAS[key])
        for key, name, city, state, tier in rows
    )


AREAS: Mapping[str, tuple[str, ...]] = {
    "nyc": (
        "100", "101", "102", "103", "104", "110", "111", "112", "113", "114", "116", "New York City", "Manhattan",
        "Brooklyn", "Queens", "Bronx", "The Bronx", "Staten Island", "Long Island City", "Astoria", "Flushing",
        "Forest Hills", "Jamaica", "Ridgewood", "Sunnyside", "Woodside", "Elmhurst", "Jackson Heights", "Rego Park",
        "Bayside", "Corona", "Kew Gardens", "Woodhaven", "Ozone Park", "Far Rockaway",
    ),
    "boston": (
        "021", "022", "Allston", "Brighton", "Dorchester", "Roxbury", "Jamaica Plain", "South Boston", "East Boston",
        "Charlestown", "Roslindale", "West Roxbury", "Hyde Park", "Mattapan", "Back Bay", "Brookline", "024",
    ),
    "dc": ("200", "202", "203", "204", "205", "Washington DC", "Washington, D.C."),
    "philadelphia": ("191",),
    "pittsburgh": ("152",),
    "baltimore": ("212",),
    "newark": ("071",),
    "jersey-city": ("073",),
    "cambridge": ("02138", "02139", "02140", "02141", "02142"),
    "arlington-va": ("222",),
    "bryn-mawr": ("19010",),
    "hoboken": ("07030",),
    "stamford": ("069",),
    "new-haven": ("065",),
    "providence": ("029",),
    "richmond": ("232",),
    "charlotte": ("282",),
    "raleigh": ("276",),
    "hartford": ("061",),
}  # fmt: skip
"""What belongs to each seeded market beside its city: beginnings of postal codes, and what its parts are called."""


SEEDED = _east_coast()
"""The 19 markets that every installation begins with."""
