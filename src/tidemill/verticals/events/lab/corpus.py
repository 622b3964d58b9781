"""The reference work of the benchmarks: pages of 30 KB with sixteen events each, distinct by their number."""

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from tidemill.lab.dice import dice
from tidemill.verticals.events.lab.agenda import AgendaEntry, Version, drawn_title, slug
from tidemill.verticals.events.lab.content import ShownEntry
from tidemill.verticals.events.lab.makes import fragment
from tidemill.verticals.events.lab.sites import Make, Site
from tidemill.verticals.events.lab.templates import Part, agenda_page
from tidemill.verticals.events.lab.words_dutch import DUTCH

EVENTS_PER_PAGE = 16
_VARIANTS = 40  # pages before words and days repeat; titles and addresses never do
_MARK = "@@@@@@"  # stands where a page's number goes
_HIGHEST = 999_999


class Corpus:
    """Up to a million pages, each a few copies of bytes away; event days follow `first_day`."""

    def __init__(self, first_day: date, seed: int = 7) -> None:
        """Draw nothing yet."""
        self._first_day = first_day
        self._seed = seed
        self._templates: dict[int, bytes] = {}

    def page(self, number: int) -> bytes:
        """The page with this number, the same every time."""
        if not 0 <= number <= _HIGHEST:
            msg = f"pages are numbered from 0 to {_HIGHEST}, not {number}"
            raise ValueError(msg)
        variant = number % _VARIANTS
        template = self._templates.get(variant)
        if template is None:
            template = self._templates[variant] = self._drawn(variant)
        return template.replace(_MARK.encode(), b"%06d" % number)

    def _drawn(self, variant: int) -> bytes:
        site = _site()
        topic = DUTCH.topics[1]
        shown = [self._shown(variant, index) for index in range(EVENTS_PER_PAGE)]
        fragments = [fragment(site, one, self._first_day, redesigned=False) for one in shown]
        page = agenda_page(site, topic, fragments, Part(EVENTS_PER_PAGE), redesigned=False, boilerplate=True)
        return page.encode()

    def _shown(self, variant: int, index: int) -> ShownEntry:
        draw = dice(self._seed, "corpus", variant, index)
        day = self._first_day + timedelta(days=1 + index * 3 + variant % 3)
        starts = datetime.combine(day, time(draw.randint(10, 21), draw.choice((0, 30))), ZoneInfo(DUTCH.time_zone))
        title = drawn_title(draw, DUTCH, DUTCH.topics[1])
        entry = AgendaEntry(
            id=index,
            page="/bench",
            slug=f"{_MARK}-{slug(title)}",
            place=f"{draw.choice(DUTCH.houses)}, {draw.choice(DUTCH.rooms)}",
            description=" ".join(draw.sample(DUTCH.sentences, 4)).replace("{price}", "12"),
            lasts=timedelta(hours=2),
            price=12,
            appears=datetime.combine(self._first_day, time(), UTC),
            vanishes=starts.astimezone(UTC),
            versions=(Version(datetime.combine(self._first_day, time(), UTC), f"{title} {_MARK}", starts),),
        )
        return ShownEntry(entry, 0)


def _site() -> Site:
    """Any site: without an origin, its links hold wherever the page is served."""
    town = DUTCH.towns[0]
    return Site(
        host="bench.test",
        origin="",
        name="Poppodium De Maatstaf",
        make=Make.JSONLD_ARRAY,
        language=DUTCH.language,
        city=town.name,
        latitude=town.latitude,
        longitude=town.longitude,
        pages=(("/bench", DUTCH.topics[1], 1.0),),
    )
