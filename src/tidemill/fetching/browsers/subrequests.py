"""What a page in a browser asks for by itself (scripts, data, frames): bounded, judged by robots.txt, and counted."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tidemill.core.urls import hostname
from tidemill.fetching.browsers.trackers import is_tracker

MOST_ERRANDS = 100
"""Requests of one page beside its document; what it wants beyond them it does not get."""
_LEFT_OUT = frozenset({"Image", "Media", "Font", "Ping", "Prefetch", "CSPViolationReport"})
"""What nobody needs to read a page."""

IsAllowed = Callable[[str], bool]


class Errands:
    """The requests of one page beside its document, and to whom they went."""

    def __init__(self, allows_subrequest: IsAllowed | None) -> None:
        """`allows_subrequest` says what robots.txt allows, as far as it is known; None when it is not obeyed."""
        self._allows_subrequest = allows_subrequest
        self._asked: list[str] = []

    def allow(self, event: Mapping[str, Any]) -> bool:
        """Whether a request that the browser has paused may go on; if so, it counts."""
        url = event["request"]["url"]
        if not url.startswith(("http://", "https://")):
            return True  # data: and blob: leave for nowhere
        host = hostname(url)
        if event["resourceType"] in _LEFT_OUT or is_tracker(host) or len(self._asked) >= MOST_ERRANDS:
            return False
        if self._allows_subrequest is not None and not self._allows_subrequest(url):
            return False
        self._asked.append(host)
        return True

    def told(self, connected: Iterable[str], home: str) -> tuple[str, ...]:
        """The host of each request, as the browser said it or as its way out saw it, whichever is more.

        A tunnel shows connections only, and what workers and frames of other sites ask for is never paused. The
        document itself is the one request of `home` that has been counted already.
        """
        seen = Counter(connected)
        seen[home] -= 1
        return tuple((Counter(self._asked) | seen).elements())
