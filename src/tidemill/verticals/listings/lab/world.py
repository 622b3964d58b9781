"""Homes that appear, change their rent, vanish and come back, the same for the same seed."""

from collections.abc import Collection
from datetime import datetime, timedelta
from functools import cached_property

import msgspec

from tidemill.lab.dice import dice
from tidemill.verticals.listings.market import SEEDED, Market

PLACARDS, CARDS, ACTOR = "placards.homes-one.test", "www.homes-two.test", "www.homes-three.test"
"""The two sites, and the site that the actor reads."""
SITES = (PLACARDS, CARDS, ACTOR)

_STREETS = ("Beacon Street", "Elm Street", "Park Avenue", "North Broad Street", "Maple Avenue", "Harbor Drive",
            "Washington Square", "Chestnut Street", "Liberty Place", "West 4th Street")  # fmt: skip
_NAMES = ("Harbor View", "The Lofts", "Parkside", "Union House", "The Foundry", "Maple Court")
_BRIEF, _LONG = timedelta(days=2), timedelta(days=40)


class Stay(msgspec.Struct, frozen=True):
    """A stretch of time during which a home is for rent."""

    begins: datetime
    ends: datetime

    def holds(self, moment: datetime) -> bool:
        """Whether it is for rent then."""
        return self.begins <= moment < self.ends


class TrueHome(msgspec.Struct, frozen=True, kw_only=True):
    """A home, when it is for rent, and which sites show it."""

    number: int
    market: str
    city: str
    state: str
    title: str
    street: str
    unit: str
    postal_code: str
    beds: int
    baths: float
    size: int
    rents: tuple[tuple[datetime, int], ...]
    stays: tuple[Stay, ...]
    sites: tuple[str, ...]
    latitude: float
    longitude: float

    def is_there(self, moment: datetime) -> bool:
        """Whether it is for rent."""
        return any(stay.holds(moment) for stay in self.stays)

    def rent(self, moment: datetime) -> int:
        """Its rent in dollars at that moment."""
        asked = [dollars for begins, dollars in self.rents if begins <= moment]
        return asked[-1] if asked else self.rents[0][1]

    @property
    def address(self) -> str:
        """As a site writes it."""
        return f"{self.street} Apt {self.unit}, {self.city}, {self.state} {self.postal_code}"


class HomesWorld:
    """Every home of every market, from `start` on for `days`."""

    def __init__(
        self, seed: int, start: datetime, days: float, *, homes_each: int = 24, markets: tuple[Market, ...] = SEEDED
    ) -> None:
        """Draw the world."""
        self.seed = seed
        self.start = start
        self.ends = start + timedelta(days=days)
        self.markets = markets
        self._homes_each = homes_each

    @cached_property
    def homes(self) -> tuple[TrueHome, ...]:
        """All of them."""
        found: list[TrueHome] = []
        for place, market in enumerate(self.markets):
            size = self._homes_each + (self._homes_each // 2 if market.tier == "hot" else 0)
            found += [self._home(place * 1_000 + index, market, place) for index in range(size)]
        return tuple(found)

    @cached_property
    def by_market(self) -> dict[str, list[TrueHome]]:
        """Homes by market."""
        found: dict[str, list[TrueHome]] = {market.id: [] for market in self.markets}
        for home in self.homes:
            found[home.market].append(home)
        return found

    @cached_property
    def by_number(self) -> dict[int, TrueHome]:
        """Homes by number."""
        return {home.number: home for home in self.homes}

    def shown(self, site: str, market: str, moment: datetime) -> list[TrueHome]:
        """What a site shows of a market."""
        return [home for home in self.by_market[market] if site in home.sites and home.is_there(moment)]

    def _home(self, number: int, market: Market, place: int) -> TrueHome:
        draw = dice(self.seed, "home", number)
        street = f"{draw.randint(1, 980)} {draw.choice(_STREETS)}"
        rent = draw.randrange(1_100, 5_200, 25)
        return TrueHome(
            number=number,
            market=market.id,
            city=market.city,
            state=market.state,
            title=f"{draw.choice(_NAMES)} {number}",
            street=street,
            unit=f"{draw.randint(1, 30)}{draw.choice('ABCDEF')}",
            postal_code=postal_code_of(market, place),
            beds=draw.randint(0, 3),
            baths=draw.choice((1.0, 1.5, 2.0)),
            size=draw.randrange(420, 1_600, 10),
            rents=self._rents(number, rent),
            stays=self._stays(number),
            sites=draw.choice((SITES, (PLACARDS,), (CARDS,), (PLACARDS, CARDS), (ACTOR,), (CARDS, ACTOR))),
            latitude=round(40.0 + place * 0.1 + draw.random() * 0.05, 6),
            longitude=round(-74.0 - place * 0.1 - draw.random() * 0.05, 6),
        )

    def _rents(self, number: int, rent: int) -> tuple[tuple[datetime, int], ...]:
        draw = dice(self.seed, "rent", number)
        found = [(self.start - _LONG, rent)]
        for _ in range(draw.choice((0, 0, 1, 2))):
            when = self.start + (self.ends - self.start) * draw.random()
            found.append((when, max(900, rent + draw.choice((-150, -75, 50, 125)))))
        return tuple(sorted(found))

    def _stays(self, number: int) -> tuple[Stay, ...]:
        """Most are there throughout; some come later, some leave, and some of those come back."""
        draw = dice(self.seed, "stay", number)
        length = self.ends - self.start
        begins = self.start - _LONG if draw.random() < 0.7 else self.start + length * draw.random()  # noqa: PLR2004
        if draw.random() < 0.6:  # noqa: PLR2004 - the share that stays
            return (Stay(begins, self.ends + _LONG),)
        leaves = max(begins, self.start) + _BRIEF + length * draw.random() * 0.6
        if draw.random() < 0.7:  # noqa: PLR2004 - the share that does not come back
            return (Stay(begins, leaves),)
        back = leaves + timedelta(days=3) + length * draw.random() * 0.2
        return (Stay(begins, leaves), Stay(back, self.ends + _LONG))


class MarketFault(msgspec.Struct, frozen=True):
    """A fault of a site in a market, for a while; a market of '' means all of them."""

    kind: str
    site: str
    market: str
    begins: datetime
    ends: datetime

    def holds(self, site: str, market: str, moment: datetime) -> bool:
        """Whether it is met there and then."""
        return site == self.site and self.market in {"", market} and self.begins <= moment < self.ends


BLOCKED, CAPTCHA, TRUNCATED, DOWN, DOORS_SHUT = "blocked", "captcha", "truncated", "down", "doors-shut"
KINDS = (BLOCKED, CAPTCHA, TRUNCATED, DOWN, DOORS_SHUT)
"""403 to all, a captcha that answers 200, 1 % of the list, no answer at all, and 403 to whoever looks a home up."""


def timetable(world: HomesWorld, kinds: Collection[str] = KINDS) -> tuple[MarketFault, ...]:
    """The faults of a world: each kind at each site, over days, some in one market and some in all.

    One that befalls a market lasts over two of its scrapes at least: a single bad one would prove nothing.
    """
    found = []
    length = world.ends - world.start
    for kind in (one for one in KINDS if one in kinds):
        for site in (PLACARDS, CARDS):
            draw = dice(world.seed, "trouble", kind, site)
            begins = world.start + length * (0.1 + 0.6 * draw.random())
            lasts = timedelta(hours=draw.choice((8, 20, 44)))
            market = None if kind in {DOWN, DOORS_SHUT} else draw.choice(world.markets)
            if market is not None:
                lasts = max(lasts, 3 * market.every)
            found.append(MarketFault(kind, site, market.id if market else "", begins, begins + lasts))
    return tuple(found)


def postal_code_of(market: Market, place: int) -> str:
    """A postal code that lies in the market's area; any where the market names none."""
    begins = next((each for each in market.area if each.isdigit()), "")
    return (begins + "01")[:5].ljust(5, "0") if begins else f"{10_000 + place * 137:05}"
