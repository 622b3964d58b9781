"""The requests that a page in a browser makes by itself (scripts, data, frames): limited, checked and counted."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tidemill.core.urls import hostname
from tidemill.fetching.browsers.trackers import is_tracker

MOST_SUBREQUESTS = 100
"""The most requests that one page may make beside its document; further ones are blocked."""
_NOT_NEEDED = frozenset({"Image", "Media", "Font", "Ping", "Prefetch", "CSPViolationReport"})
"""Resource types that reading a page does not need."""

IsAllowed = Callable[[str], bool]


class SubRequests:
    """The requests of one page beside its document, and their hosts."""

    def __init__(self, allows_subrequest: IsAllowed | None) -> None:
        """`allows_subrequest` tells what the known robots.txt files allow; None when robots.txt is not obeyed."""
        self._allows_subrequest = allows_subrequest
        self._requested: list[str] = []

    def allow(self, event: Mapping[str, Any]) -> bool:
        """Whether a request that the browser has paused may be sent; if so, count it."""
        url = event["request"]["url"]
        if not url.startswith(("http://", "https://")):
            return True  # data: and blob: are not sent anywhere
        host = hostname(url)
        if event["resourceType"] in _NOT_NEEDED or is_tracker(host) or len(self._requested) >= MOST_SUBREQUESTS:
            return False
        if self._allows_subrequest is not None and not self._allows_subrequest(url):
            return False
        self._requested.append(host)
        return True

    def hosts_requested(self, connected: Iterable[str], page_host: str) -> tuple[str, ...]:
        """Return the host of each request, by the browser's count or by the gateway's, whichever is more.

        A tunnel shows connections only, and requests of workers and of frames of other sites are never paused. The
        document itself is one request to `page_host` that has been counted already.
        """
        seen = Counter(connected)
        seen[page_host] -= 1
        return tuple((Counter(self._requested) | seen).elements())
