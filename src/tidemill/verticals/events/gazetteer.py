"""Where towns are, without asking anybody.

Dutch municipalities stand under every name that people write; the towns of neighbouring countries and of the United
States, from 15,000 people on, are each found in their own time zone.
"""

import pkgutil
import unicodedata
from functools import lru_cache

from tidemill.core.discovery.places import Place
from tidemill.core.source import Coordinates
from tidemill.verticals.events.municipalities import TABLE

DUTCH_ZONE = "Europe/Amsterdam"
CLEARLY_LARGER = 10

_SPOKEN = {
    "'s-Gravenhage": "Den Haag",
    "'s-Hertogenbosch": "Den Bosch",
    "Bergen (L.)": "Bergen Limburg",
    "Bergen (NH.)": "Bergen Noord-Holland",
    "Nuenen, Gerwen en Nederwetten": "Nuenen",
}
"""What people write instead of the official name."""

_ALIASES = {
    "the hague": "'s-Gravenhage", "s-gravenhage": "'s-Gravenhage", "s-hertogenbosch": "'s-Hertogenbosch",
    "bergen nh": "Bergen (NH.)", "bergen (l)": "Bergen (L.)", "bergen (nh)": "Bergen (NH.)",
    "sneek": "Súdwest-Fryslân", "hoofddorp": "Haarlemmermeer", "emmeloord": "Noordoostpolder",
    "sittard": "Sittard-Geleen", "geleen": "Sittard-Geleen", "volendam": "Edam-Volendam", "edam": "Edam-Volendam",
    "voorburg": "Leidschendam-Voorburg", "leidschendam": "Leidschendam-Voorburg", "veghel": "Meierijstad",
    "drachten": "Smallingerland", "naaldwijk": "Westland", "spijkenisse": "Nissewaard",
    "hellevoetsluis": "Voorne aan Zee", "oud-beijerland": "Hoeksche Waard", "uden": "Maashorst",
    "cuijk": "Land van Cuijk", "boxmeer": "Land van Cuijk", "zaandam": "Zaanstad", "bussum": "Gooise Meren",
    "naarden": "Gooise Meren", "muiden": "Gooise Meren", "roden": "Noordenveld", "joure": "De Fryske Marren",
    "dokkum": "Noardeast-Fryslân",
}  # fmt: skip
"""Other names, and towns whose municipality is called differently."""

_AMBIGUOUS = frozenset({"bergen", "hengelo", "rijswijk", "beek", "elst", "zevenhuizen", "heusden", "laren"})
"""Names of several towns: they say nothing without a province."""


def _read() -> tuple[Place, ...]:
    rows = (line.split("|") for line in TABLE.splitlines())
    return tuple(
        Place(name, region, int(people), Coordinates(float(north), float(east)), _SPOKEN.get(name, ""))
        for name, region, people, north, east in rows
    )


MUNICIPALITIES = _read()
"""All 342, by name."""


def _plain(name: str) -> str:
    """A name as it is looked up: no case, no accents, no odd apostrophes, no quotation of a county."""
    flat = unicodedata.normalize("NFKD", name.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'"))
    bare = "".join(each for each in flat if not unicodedata.combining(each))
    return " ".join(bare.casefold().removeprefix("gemeente ").split())


def _index() -> dict[str, Place]:
    by_name = {place.name: place for place in MUNICIPALITIES}
    index = {_plain(place.name): place for place in MUNICIPALITIES}
    index |= {_plain(place.spoken): place for place in MUNICIPALITIES if place.spoken}
    return index | {alias: by_name[name] for alias, name in _ALIASES.items() if alias not in index}


_BY_NAME = _index()


@lru_cache(maxsize=4_096)
def town(name: str, time_zone: str = DUTCH_ZONE) -> Place | None:
    """The town that a name means in a time zone; None when there is none, or several."""
    plain = _plain(name)
    if time_zone == DUTCH_ZONE:
        return None if plain in _AMBIGUOUS else _BY_NAME.get(plain)
    return _TOWNS.of(time_zone).get(plain)


class _Towns:
    """The towns of other countries by time zone and name, read from their file when the first is asked for.

    GeoNames (CC BY 4.0), rounded to 100 metres. Of towns of one name the one with ten times the people of the next
    is meant; else nobody can tell.
    """

    def __init__(self) -> None:
        self._zones: dict[str, dict[str, Place | None]] | None = None

    def of(self, time_zone: str) -> dict[str, Place | None]:
        if self._zones is None:
            self._zones = _read_towns()
        return self._zones.get(time_zone, {})


_TOWNS = _Towns()


def _read_towns() -> dict[str, dict[str, Place | None]]:
    zones: dict[str, dict[str, Place | None]] = {}
    country, named = "", dict[str, Place | None]()
    for line in (pkgutil.get_data(__package__ or "", "towns.csv") or b"").decode().splitlines():
        if line.startswith("#"):
            _, country, zone = line.split(" ")
            named = zones.setdefault(zone, {})
            continue
        name, others, people, north, east = line.split("|")
        place = Place(name, country, int(people), Coordinates(float(north), float(east)))
        for each in dict.fromkeys(_plain(one) for one in (name, *others.split(";")) if one):
            named[each] = _meant(named[each], place) if each in named else place
    return zones


def _meant(one: Place | None, other: Place) -> Place | None:
    """Which of two towns a name means: the one that is ten times as large, or neither, whatever comes after."""
    if one is None:
        return None
    small, large = sorted((one, other), key=lambda place: place.population)
    return large if large.population >= CLEARLY_LARGER * small.population else None
