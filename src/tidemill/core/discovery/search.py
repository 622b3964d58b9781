"""Discovery rules: which places to search next, which queries to send, and which results to inspect."""

import re
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime, timedelta

import msgspec

from tidemill.core.discovery.places import Place
from tidemill.core.urls import BadUrl, canonicalize, host_of, normalize, origin_of, registrable_domain

_NO_PAGE = re.compile(r"\.(?:pdf|docx?|xlsx?|pptx?|zip|jpe?g|png|gif|mp[34]|ics|xml)$", re.IGNORECASE)
_LONGEST_URL = 2_000
SEARCH_AGAIN_AFTER = timedelta(days=28)
"""A place is not searched again within this time: new sites do not appear every week."""


class SearchProfile(msgspec.Struct, frozen=True):
    """How a vertical searches for new sources.

    `queries` are sent for each place, by its language, with `{place}` filled in; '' holds those of any other. `noise`
    names sites that match every query and are never wanted. `path` and `words` match the URLs and the texts of wanted
    pages. `adapter_id` reads the pages found, and `prompt` asks a model about `{pages}`.
    """

    adapter_id: str
    queries: Mapping[str, tuple[str, ...]]
    noise: frozenset[str]
    path: re.Pattern[str]
    words: re.Pattern[str]
    prompt: str


class SearchResult(msgspec.Struct, frozen=True):
    """One result of the search service; `position` counts from 1."""

    url: str
    title: str = ""
    snippet: str = ""
    position: int = 1


class SkippedResult(msgspec.Struct, frozen=True):
    """A search result that will not be inspected, and why."""

    url: str
    reason: str


class ShortlistedSite(msgspec.Struct, frozen=True):
    """A site to inspect: its best URL, and a score from 0 to 1 based on the search results alone."""

    url: str
    canonical_url: str
    title: str
    score: float


def queries_for(place: Place, profile: SearchProfile) -> tuple[str, ...]:
    """Return the search queries for a place, under its common name."""
    return tuple(
        template.format(place=place.common_name)
        for template in profile.queries.get(place.language, profile.queries[""])
    )


def places_to_search(
    places: Iterable[Place],
    searched: Mapping[str, datetime],
    now: datetime,
    limit: int,
    search_again_after: timedelta = SEARCH_AGAIN_AFTER,
) -> list[Place]:
    """Return up to `limit` places to search next, the largest first; recently searched ones are left out."""
    waiting = [
        place for place in places if place.name not in searched or now - searched[place.name] >= search_again_after
    ]
    return sorted(waiting, key=lambda place: (-place.population, place.name))[:limit]


def shortlist(
    results: Iterable[SearchResult],
    profile: SearchProfile,
    taken: Collection[str] = (),
    more_noise: Collection[str] = (),
) -> tuple[list[ShortlistedSite], list[SkippedResult]]:
    """Return the best URL of each site in the results, best first, and the results that were skipped.

    `taken` holds the sites of known sources and candidates, `more_noise` those that this installation excludes.
    """
    noise = profile.noise | frozenset(more_noise)
    best: dict[str, ShortlistedSite] = {}
    skipped: dict[str, SkippedResult] = {}
    for result in results:
        found = _shortlisted(result, profile, noise, taken)
        if isinstance(found, SkippedResult):
            skipped.setdefault(found.url, found)
            continue
        site = site_of(found.url)
        if site not in best or found.score > best[site].score:
            best[site] = found
    return sorted(best.values(), key=lambda found: (-found.score, found.url)), list(skipped.values())


def _shortlisted(
    result: SearchResult, profile: SearchProfile, noise: Collection[str], taken: Collection[str]
) -> ShortlistedSite | SkippedResult:
    try:
        canonical = canonicalize(result.url)
        site = site_of(result.url)
    except BadUrl:
        return SkippedResult(result.url[:_LONGEST_URL], "not an address of the web")
    if len(canonical) > _LONGEST_URL or _NO_PAGE.search(canonical.partition("?")[0]):
        return SkippedResult(result.url[:_LONGEST_URL], "a file, not a page")
    if is_noise(result.url, noise):
        return SkippedResult(result.url, "noise: not a town's own site")
    if site in taken:
        return SkippedResult(result.url, "a source or candidate already")
    return ShortlistedSite(result.url, canonical, result.title[:300], relevance(result, profile))


def site_of(url: str) -> str:
    """Return the host and port of a URL without `www.`, which identify a site. Raise `BadUrl` for an invalid URL."""
    return origin_of(normalize(url)).partition("://")[2].removeprefix("www.")


def is_noise(url: str, noise: Collection[str]) -> bool:
    """Return whether the URL belongs to an excluded site."""
    host = host_of(url)
    return host in noise or registrable_domain(host) in noise


def relevance(result: SearchResult, profile: SearchProfile) -> float:
    """Return a score from 0 to 1 for a search result, from its words, its path and its position."""
    path = result.url.partition("://")[2].partition("/")[2]
    in_path = 0.4 if profile.path.search(path) else 0.0
    in_text = 0.3 if profile.words.search(f"{result.title} {result.snippet}") else 0.0
    return round(in_path + in_text + 0.3 / max(1, result.position), 3)


def count_words(text: str, profile: SearchProfile) -> int:
    """Return how many of the profile's words occur in the text."""
    return len(profile.words.findall(text))
