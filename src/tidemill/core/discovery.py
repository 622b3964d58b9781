"""Discovery, decided: where to look next, what to ask, and which of the answers are worth a look."""

import re
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime, timedelta

import msgspec

from tidemill.core.places import Place
from tidemill.core.urls import BadUrl, canonicalize, host_of, normalize, origin_of, registrable_domain

_NO_PAGE = re.compile(r"\.(?:pdf|docx?|xlsx?|pptx?|zip|jpe?g|png|gif|mp[34]|ics|xml)$", re.IGNORECASE)
_LONGEST_URL = 2_000
LATELY = timedelta(days=28)
"""A place that was searched within this time is left alone: sites do not sprout by the week."""


class SearchProfile(msgspec.Struct, frozen=True):
    """What a vertical looks for when it discovers sources.

    `queries` are asked for each place, with `{place}` in them. `noise` names sites that answer every question and are
    never what is meant. `path` and `words` match what addresses and texts of such pages are full of. `adapter_id` reads
    what was found, and `prompt` asks a model about `{pages}`.
    """

    adapter_id: str
    queries: tuple[str, ...]
    noise: frozenset[str]
    path: re.Pattern[str]
    words: re.Pattern[str]
    prompt: str


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


def queries_for(place: Place, profile: SearchProfile) -> tuple[str, ...]:
    """The questions for a place, under the name that people use."""
    return tuple(template.format(place=place.called) for template in profile.queries)


def choose(
    places: Iterable[Place], searched: Mapping[str, datetime], now: datetime, limit: int, lately: timedelta = LATELY
) -> list[Place]:
    """The places to search next: those not searched lately, the largest first; never more than `limit`."""
    waiting = [place for place in places if place.name not in searched or now - searched[place.name] >= lately]
    return sorted(waiting, key=lambda place: (-place.population, place.name))[:limit]


def shortlist(
    hits: Iterable[Hit], profile: SearchProfile, taken: Collection[str] = (), more_noise: Collection[str] = ()
) -> tuple[list[Pick], list[Passed]]:
    """The best address of each site that the hits name, best first; noise and sites we have are passed over.

    `taken` holds the sites of known sources and candidates, `more_noise` those that this installation does not want.
    """
    noise = profile.noise | frozenset(more_noise)
    best: dict[str, Pick] = {}
    passed: dict[str, Passed] = {}
    for hit in hits:
        pick = _picked(hit, profile, noise, taken)
        if isinstance(pick, Passed):
            passed.setdefault(pick.url, pick)
            continue
        site = site_of(pick.url)
        if site not in best or pick.promise > best[site].promise:
            best[site] = pick
    return sorted(best.values(), key=lambda pick: (-pick.promise, pick.url)), list(passed.values())


def _picked(hit: Hit, profile: SearchProfile, noise: Collection[str], taken: Collection[str]) -> Pick | Passed:
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
    return Pick(hit.url, canonical, hit.title[:300], promise_of(hit, profile))


def site_of(url: str) -> str:
    """What makes two addresses one site: host and port, with `www.` or without. Raises `BadUrl` for no address."""
    return origin_of(normalize(url)).partition("://")[2].removeprefix("www.")


def is_noise(url: str, noise: Collection[str]) -> bool:
    """Whether the address is of a site that is never what is looked for."""
    host = host_of(url)
    return host in noise or registrable_domain(host) in noise


def promise_of(hit: Hit, profile: SearchProfile) -> float:
    """How much a result speaks for itself, 0 to 1: its words, its path and its place among the results."""
    path = hit.url.partition("://")[2].partition("/")[2]
    words = 0.4 if profile.path.search(path) else 0.0
    said = 0.3 if profile.words.search(f"{hit.title} {hit.snippet}") else 0.0
    return round(words + said + 0.3 / max(1, hit.position), 3)


def count_words(text: str, profile: SearchProfile) -> int:
    """How many words of the text are of the kind that the pages looked for are full of."""
    return len(profile.words.findall(text))
