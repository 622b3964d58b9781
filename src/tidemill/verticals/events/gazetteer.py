"""Where Dutch towns are, without asking anybody: the municipalities under every name that people write."""

import unicodedata
from functools import lru_cache

from tidemill.core.discovery.places import Place
from tidemill.core.source import Coordinates
from tidemill.verticals.events.municipalities import TABLE

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
def town(name: str) -> Place | None:
    """The municipality that a town's name means; None when there is none, or several."""
    plain = _plain(name)
    return None if plain in _AMBIGUOUS else _BY_NAME.get(plain)
