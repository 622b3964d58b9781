"""The three sites of matches as a group of the lab's world: lists, matches and their faults."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec

from tidemill.lab.faults import (
    Fault,
    Outage,
    ScheduledFault,
    ServerError500,
    SlowDrip,
    TimeOut,
    Timetable,
    TooMany429,
    TruncatedBody,
)
from tidemill.lab.messages import HANGING, REFUSED, Behaviour, LabRequest, LabResponse, text
from tidemill.lab.world import RobotsTerms, World, WorldTerms
from tidemill.verticals.matches.lab.faults import DroppedFromList, Garbage, IdChanged, ListedTwice, TokenExpired
from tidemill.verticals.matches.lab.pages import (
    BOARD_SCRIPT,
    SHELL,
    board_data,
    drawn_page,
    feed_match,
    script_match,
    script_page,
)
from tidemill.verticals.matches.lab.timeline import TrueMatch
from tidemill.verticals.matches.lab.view import MatchView, view_of

FEED, SCRIPT, BOARD = "feed.test", "script.test", "board.test"
SITES = (FEED, SCRIPT, BOARD)
PRECEDENCE = {FEED: 80, SCRIPT: 60, BOARD: 40}
_JSON = {"content-type": "application/json"}
_HTML = {"content-type": "text/html; charset=utf-8"}
_SCRIPT = {"content-type": "text/javascript"}
_TWICE = "-b"
_CHANGED = "new-"


class MatchSites:
    """Three sites that show the same matches, each with ids of its own."""

    def __init__(
        self, matches: Sequence[TrueMatch], faults: Timetable | None = None, origins: Mapping[str, str] | None = None
    ) -> None:
        """`faults` hold beside those of the world, because some of them depend on when they began."""
        self.matches = tuple(matches)
        self.faults = faults or Timetable()
        self.origins: Mapping[str, str] = origins or {host: f"https://{host}" for host in SITES}
        self._by_id = {host: {site_id(host, match): match for match in matches} for host in SITES}

    @property
    def faulty_hosts(self) -> Sequence[str]:
        """None: faults of these sites are put on a timetable by hand."""
        return ()

    def robots(self, host: str) -> RobotsTerms:
        """What a site's robots.txt asks for: nothing."""
        del host
        return RobotsTerms(0, "/private")

    def moved_to(self, origins: Mapping[str, str]) -> "MatchSites":
        """Return the same sites at other addresses."""
        return MatchSites(self.matches, self.faults, {host: origins[host] for host in SITES})

    def scheduled(self, host: str, moment: datetime) -> list[ScheduledFault]:
        """Return the faults that hold at a site."""
        return [each for each in self.faults.scheduled if each.host == host and each.holds(moment)]

    def respond(self, request: LabRequest, faults: tuple[Fault, ...], moment: datetime) -> LabResponse:
        """Answer a request to one of the sites."""
        del faults
        path = request.path.partition("?")[0]
        if path == "/robots.txt":
            return text(200, "User-agent: *\nDisallow: /private\n")
        if path == "/board.js":
            return LabResponse(headers=_SCRIPT, body=BOARD_SCRIPT.encode())
        scheduled = self.scheduled(request.host, moment)
        present = [each.fault for each in scheduled]
        instead = next((found for fault in present if (found := _instead(fault)) is not None), None)
        if instead is not None:
            return instead
        body, headers = self.page(request.host, path, moment, scheduled)
        if body is None:
            return text(404, "no such match")
        return _broken(LabResponse(headers=headers, body=body), present)

    def page(
        self, host: str, path: str, moment: datetime, scheduled: Sequence[ScheduledFault], *, drawn: bool = False
    ) -> tuple[bytes | None, Mapping[str, str]]:
        """Return a site's page and its headers; of the board `drawn` is the page after its script has run."""
        headers = _JSON if host == FEED or path.startswith("/api/") else _HTML
        name = path.rpartition("/")[2].removesuffix(".json")
        if path in LIST_PATHS or name == "list":
            views = self._listed(host, moment, scheduled)
            return self._write(host, path, views, is_list=True, drawn=drawn), headers
        if any(isinstance(each.fault, IdChanged) for each in scheduled):
            name = name.removeprefix(_CHANGED) if name.startswith(_CHANGED) else ""
        match = self._by_id[host].get(name.removesuffix(_TWICE))
        if match is None:
            return None, headers
        view = view_of(match, path.rpartition("/")[2].removesuffix(".json"), moment, scheduled)
        return self._write(host, path, [view], is_list=False, drawn=drawn), headers

    def _listed(self, host: str, moment: datetime, scheduled: Sequence[ScheduledFault]) -> list[MatchView]:
        faults = [each.fault for each in scheduled]
        prefix = _CHANGED if any(isinstance(fault, IdChanged) for fault in faults) else ""
        views = [view_of(match, prefix + name, moment, scheduled) for name, match in self._by_id[host].items()]
        if any(isinstance(fault, DroppedFromList) for fault in faults):
            views = views[1:]
        if any(isinstance(fault, ListedTwice) for fault in faults):
            views += [msgspec.structs.replace(view, site_id=f"{view.site_id}{_TWICE}") for view in views]
        return views

    def _write(self, host: str, path: str, views: Sequence[MatchView], *, is_list: bool, drawn: bool) -> bytes:
        if host == FEED:
            found: Any = (
                {"matches": [feed_match(view, brief=True) for view in views]}
                if is_list
                else {"match": feed_match(views[0])}
            )
            return msgspec.json.encode(found)
        if host == SCRIPT:
            shown: Any = (
                {"matches": [script_match(view, brief=True) for view in views]} if is_list else script_match(views[0])
            )
            return script_page(shown, "Scores" if is_list else views[0].match.played.title).encode()
        boards = [board_data(view, brief=is_list) for view in views]
        if drawn:
            return drawn_page(boards).encode()
        return msgspec.json.encode(boards) if path.startswith("/api/") else SHELL.encode()

    def sources(self, pace: Mapping[str, float], schedule: str | None) -> list[dict[str, Any]]:
        """Return the sites as a sources file names them."""
        del schedule
        return [
            {
                "name": host.partition(".")[0] + "-scores",
                "vertical": "matches",
                "base_url": self.origins[host],
                "adapter": ADAPTERS[host],
                "precedence": PRECEDENCE[host],
                "time_zone": "UTC",
                "language": "en",
                "pace": dict(pace),
                "targets": [{"url": f"{self.origins[host]}{LISTS[host]}"}],
            }
            for host in SITES
        ]


LISTS = {FEED: "/v1/matches.json", SCRIPT: "/live", BOARD: "/"}
LIST_PATHS = {*LISTS.values(), "/v1/matches.json", "/api/list.json"}
ADAPTERS = {FEED: "matches.feed", SCRIPT: "matches.embedded", BOARD: "matches.scoreboard"}


def site_id(host: str, match: TrueMatch) -> str:
    """Return a site's own id for a match: no two sites use the same."""
    base = match.played.id
    return {FEED: f"f{base}", SCRIPT: f"{sum(base.encode()) * 31 % 90_000 + 10_000}-{base}", BOARD: f"b-{base}"}[host]


def match_path(host: str, name: str) -> str:
    """Return where a site shows a match, by its id there."""
    return {FEED: f"/v1/matches/{name}.json", SCRIPT: f"/live/{name}", BOARD: f"/m/{name}"}[host]


def match_world(sites: MatchSites, terms: WorldTerms | None = None) -> World:
    """Return a world of these sites alone."""
    return World(terms or WorldTerms(), [sites])


def _instead(fault: Fault) -> LabResponse | None:
    match fault:
        case TokenExpired():
            return text(401, "token expired")
        case TooMany429(retry_after=seconds):
            return LabResponse(status=429, headers={"retry-after": str(seconds)}, body=b"slow down")
        case ServerError500(status=status):
            return text(status, "internal error")
        case TimeOut() | Outage():
            return HANGING if isinstance(fault, TimeOut) else REFUSED
        case Garbage():
            return LabResponse(headers=_HTML, body=b'\xff\xfe{"matches": [[[<<<' + b"\x00\x01" * 200)
        case _:
            return None


def _broken(response: LabResponse, faults: Sequence[Fault]) -> LabResponse:
    for fault in faults:
        if isinstance(fault, SlowDrip):
            return msgspec.structs.replace(response, behaviour=Behaviour.DRIP, pause=fault.pause, pieces=fault.pieces)
        if isinstance(fault, TruncatedBody):
            sent = int(len(response.body) * fault.share)
            return msgspec.structs.replace(response, behaviour=Behaviour.CUT, sent=sent)
    return response
