"""The sites of the lab: who they are, how they are built, and where their pages stand."""

from enum import StrEnum
from random import Random

import msgspec

from tidemill.lab.dice import dice
from tidemill.verticals.events.lab.agenda import AgendaEntry, slug
from tidemill.verticals.events.lab.words import Kind, Topic, Town, Vocabulary
from tidemill.verticals.events.lab.words_dutch import DUTCH
from tidemill.verticals.events.lab.words_english import ENGLISH

VOCABULARIES = {vocabulary.language: vocabulary for vocabulary in (DUTCH, ENGLISH)}


class Make(StrEnum):
    """How a site is built, as far as a reader of its pages can tell."""

    JSONLD_ARRAY = "json-ld array"
    JSONLD_GRAPH = "json-ld graph"
    MICRODATA = "microdata"
    CARDS = "cards"
    TABLE = "table"
    LIST = "list"


DUTCH_MAKES = (Make.JSONLD_ARRAY, Make.CARDS, Make.JSONLD_GRAPH, Make.LIST, Make.MICRODATA)
ENGLISH_MAKES = (Make.TABLE, Make.JSONLD_ARRAY, Make.MICRODATA)
_PAGES_FROM, _PAGES_EVERY, _PER_PAGE = 6, 8, 4  # which sites spread their agendas over pages, and how thinly
_DUTCH_SHARE = 3  # of every four sites
_OF = 4


class Site(msgspec.Struct, frozen=True, kw_only=True):
    """An agenda site. `pages` are its agenda pages: path, topic and new events per day.

    `per_page` is how many events a page holds before the list goes on at the next one; 0 for all of them.
    """

    host: str
    origin: str
    name: str
    make: Make
    language: str
    city: str
    latitude: float
    longitude: float
    pages: tuple[tuple[str, Topic, float], ...]
    crawl_delay: int = 0
    compresses: bool = True
    claims_total: bool = True
    per_page: int = 0
    tier: str = "standard"

    @property
    def vocabulary(self) -> Vocabulary:
        """The language it is written in."""
        return VOCABULARIES[self.language]

    @property
    def time_zone(self) -> str:
        """The time zone its times are told in."""
        return self.vocabulary.time_zone

    @property
    def paths(self) -> tuple[str, ...]:
        """The paths of its agenda pages."""
        return tuple(page[0] for page in self.pages)

    def detail_path(self, entry: AgendaEntry) -> str:
        """The path of an entry's own page, which keeps its first title for good."""
        return f"{self.vocabulary.detail}{entry.id}-{entry.slug}"

    def detail_url(self, entry: AgendaEntry) -> str:
        """The address of an entry's own page."""
        return self.origin + self.detail_path(entry)


def build_sites(seed: int, count: int) -> list[Site]:
    """So many sites, three Dutch ones to every English one, each make in turn."""
    draw = dice(seed, "sites")
    seats = {vocabulary.language: _seats(draw, vocabulary) for vocabulary in VOCABULARIES.values()}
    taken: dict[str, int] = dict.fromkeys(VOCABULARIES, 0)
    sites = []
    for number in range(count):
        vocabulary = DUTCH if number % _OF < _DUTCH_SHARE else ENGLISH
        turn = taken[vocabulary.language]
        taken[vocabulary.language] += 1
        town, kind = seats[vocabulary.language][turn % len(seats[vocabulary.language])]
        again = turn // len(seats[vocabulary.language])
        site = _site(draw, vocabulary, (town, kind), turn, f"-{again + 1}" if again else "")
        sites.append(
            msgspec.structs.replace(site, per_page=_PER_PAGE, claims_total=True) if _has_pages(number) else site
        )
    return sites


def _has_pages(number: int) -> bool:
    return number % _PAGES_EVERY == _PAGES_FROM % _PAGES_EVERY and number >= _PAGES_FROM


def _seats(draw: Random, vocabulary: Vocabulary) -> list[tuple[Town, Kind]]:
    seats = [(town, kind) for town in vocabulary.towns for kind in vocabulary.kinds]
    return draw.sample(seats, len(seats))


def _site(draw: Random, vocabulary: Vocabulary, seat: tuple[Town, Kind], turn: int, suffix: str) -> Site:
    town, kind = seat
    makes = DUTCH_MAKES if vocabulary is DUTCH else ENGLISH_MAKES
    host = f"{kind.slug}-{slug(town.name)}{suffix}.test"
    topics = vocabulary.topics[: draw.choice((1, 2, 2, 3, 4))]
    return Site(
        host=host,
        origin=f"https://{host}",
        name=kind.name.format(town=town.name, house=draw.choice(vocabulary.houses)),
        make=makes[turn % len(makes)],
        language=vocabulary.language,
        city=town.name,
        latitude=town.latitude,
        longitude=town.longitude,
        pages=tuple((vocabulary.agenda + topic.path, topic, round(draw.uniform(0.3, 0.6), 2)) for topic in topics),
        crawl_delay=draw.choice((0, 0, 0, 0, 0, 3)),
        compresses=draw.random() < 0.7,  # noqa: PLR2004 -- the share of sites that compress
        claims_total=draw.random() < 0.5,  # noqa: PLR2004 -- the share of sites that say how many there are
        tier=draw.choice(("hot", "standard", "standard", "cool")),
    )
