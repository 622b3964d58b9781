"""Discovery, decided: where to look next, what to ask, and which of the answers are worth a look."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta

import msgspec

from tidemill.core.places import Place
from tidemill.core.urls import BadUrl, canonicalize, host_of, normalize, origin_of, registrable_domain

QUERIES = (
    "agenda {place}",
    "evenementen {place}",
    "wat is er te doen in {place}",
    "uitagenda {place} concerten theater",
    "activiteiten {place} gemeente agenda",
)
"""What is asked for each municipality; five, as the search service is paid by the question."""

NOISE = frozenset({
    "facebook.com", "instagram.com", "twitter.com", "x.com", "tiktok.com", "youtube.com", "linkedin.com",
    "pinterest.com", "pinterest.nl", "tripadvisor.com", "tripadvisor.nl", "booking.com", "expedia.nl", "airbnb.com",
    "airbnb.nl", "wikipedia.org", "wikivoyage.org", "wikidata.org", "google.com", "google.nl", "bing.com", "funda.nl",
    "marktplaats.nl", "indeed.com", "werk.nl", "yelp.com", "yelp.nl", "foursquare.com", "reddit.com", "amazon.nl",
    "bol.com", "groupon.nl", "ticketmaster.nl", "eventbrite.com", "eventbrite.nl", "ticketswap.nl", "thuisbezorgd.nl",
    "weeronline.nl", "buienradar.nl", "ns.nl", "9292.nl", "rijksoverheid.nl", "cbs.nl", "nu.nl", "telegraaf.nl",
    "ad.nl", "trustpilot.com", "medium.com", "issuu.com", "spotify.com", "whatsapp.com", "t.me",
})  # fmt: skip
"""Sites that answer every question and are no town's agenda: networks, shops, maps, newspapers, ticket sellers."""

_NO_PAGE = re.compile(r"\.(?:pdf|docx?|xlsx?|pptx?|zip|jpe?g|png|gif|mp[34]|ics|xml)$", re.IGNORECASE)
_AGENDA_PATH = re.compile(
    r"agenda|evenement|activiteit|kalender|uit-?tips|programma|events?|calendar|whats-?on", re.IGNORECASE
)
_EVENT_WORDS = re.compile(
    r"\b(?:agenda|evenement\w*|activiteit\w*|voorstelling\w*|concert\w*|festival\w*|tentoonstelling\w*|expositie\w*"
    r"|workshop\w*|lezing\w*|optreden\w*|markt\w*|kermis|theater\w*|aanvang|locatie|tickets?|kaarten|inloop"
    r"|events?|exhibition\w*|performance\w*|doors|venue)\b",
    re.IGNORECASE,
)
_LONGEST_URL = 2_000
LATELY = timedelta(days=28)
"""A municipality that was searched within this time is left alone: agendas do not sprout by the week."""


class Hit(msgspec.Struct, frozen=True):
    """One result of a search, as the service gives it; `position` counts from 1."""

    url: str
    title: str = ""
    snippet: str = ""
    position: int = 1


class Passed(msgspec.Struct, frozen=True):
    """A result that will not be looked at, and why."""

    url: str
    reason: str


class Pick(msgspec.Struct, frozen=True):
    """A result worth a look: the best address of its site, with how much the results alone speak for it."""

    url: str
    canonical_url: str
    title: str
    promise: float


def queries_for(place: Place, templates: Sequence[str] = QUERIES) -> tuple[str, ...]:
    """The questions for a place, under the name that people use."""
    return tuple(template.format(place=place.called) for template in templates)


def choose(
    places: Iterable[Place], searched: Mapping[str, datetime], now: datetime, limit: int, lately: timedelta = LATELY
) -> list[Place]:
    """The places to search next: those not searched lately, the largest first; never more than `limit`."""
    waiting = [place for place in places if place.name not in searched or now - searched[place.name] >= lately]
    return sorted(waiting, key=lambda place: (-place.population, place.name))[:limit]


def shortlist(
    hits: Iterable[Hit], noise: Collection[str] = NOISE, taken: Collection[str] = ()
) -> tuple[list[Pick], list[Passed]]:
    """The best address of each site that the hits name, best first; noise and sites we have are passed over.

    `taken` holds the sites of known sources and candidates.
    """
    best: dict[str, Pick] = {}
    passed: dict[str, Passed] = {}
    for hit in hits:
        pick = _picked(hit, noise, taken)
        if isinstance(pick, Passed):
            passed.setdefault(pick.url, pick)
            continue
        site = site_of(pick.url)
        if site not in best or pick.promise > best[site].promise:
            best[site] = pick
    return sorted(best.values(), key=lambda pick: (-pick.promise, pick.url)), list(passed.values())


def _picked(hit: Hit, noise: Collection[str], taken: Collection[str]) -> Pick | Passed:
    try:
        canonical = canonicalize(hit.url)
        site = site_of(hit.url)
    except BadUrl:
        return Passed(hit.url[:_LONGEST_URL], "not an address of the web")
    if len(canonical) > _LONGEST_URL or _NO_PAGE.search(canonical.partition("?")[0]):
        return Passed(hit.url[:_LONGEST_URL], "a file, not a page")
    if is_noise(hit.url, noise):
        return Passed(hit.url, "noise: not a town's own site")
    if site in taken:
        return Passed(hit.url, "a source or candidate already")
    return Pick(hit.url, canonical, hit.title[:300], promise_of(hit))


def site_of(url: str) -> str:
    """What makes two addresses one site: host and port, with `www.` or without. Raises `BadUrl` for no address."""
    return origin_of(normalize(url)).partition("://")[2].removeprefix("www.")


def is_noise(url: str, noise: Collection[str] = NOISE) -> bool:
    """Whether the address is of a site that is never a town's agenda."""
    host = host_of(url)
    return host in noise or registrable_domain(host) in noise


def promise_of(hit: Hit) -> float:
    """How much a result speaks for itself, 0 to 1: its words, its path and its place among the results."""
    path = hit.url.partition("://")[2].partition("/")[2]
    words = 0.4 if _AGENDA_PATH.search(path) else 0.0
    said = 0.3 if _EVENT_WORDS.search(f"{hit.title} {hit.snippet}") else 0.0
    return round(words + said + 0.3 / max(1, hit.position), 3)


def count_event_words(text: str) -> int:
    """How many words of the text are of the kind that agendas are full of."""
    return len(_EVENT_WORDS.findall(text))
