"""What a person can do with discovery: start it, list, approve and reject candidates, import a spill file."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

import msgspec

from tidemill.core.audit import AuditEntry
from tidemill.core.discovery.candidates import Candidate, CandidateStatus, source_name
from tidemill.core.discovery.gazetteer_file import read_gazetteer
from tidemill.core.discovery.search import SearchResult
from tidemill.core.source import Source
from tidemill.core.target import Target
from tidemill.core.urls import normalize, origin_of, registrable_domain
from tidemill.operations.mistakes import Mistake, NotFound, unknown_name
from tidemill.pipeline.discover import Discovered, Discoverer
from tidemill.pipeline.ports import Clock
from tidemill.store.sources.candidates import CandidateRepository
from tidemill.store.sources.places import PlaceRepository, SearchRepository
from tidemill.store.sources.sources import SourceRepository
from tidemill.store.sources.targets import TargetRepository

AUTOMATIC = "discovery"
"""The actor in the audit log when a candidate was approved automatically."""
_MAX_APPROVALS = 500


class SpillLine(msgspec.Struct, frozen=True):
    """A line of the file that discovery writes when the database is away."""

    candidate: Candidate | None = None
    searched: str = ""
    search: str = ""
    place: str = ""
    asked_at: datetime | None = None
    hits: tuple[SearchResult, ...] = ()


class SpillImported(msgspec.Struct, frozen=True):
    """What an import of such a file did; `bad_lines` could not be read."""

    candidates: int
    searches: int
    bad_lines: tuple[int, ...] = ()


class GazetteerImported(msgspec.Struct, frozen=True):
    """What an import of a gazetteer did; `problems` names each bad line."""

    places: int
    problems: tuple[str, ...] = ()


class DiscoveryActions:
    """Starts discovery and decides on what it finds; every decision is audited."""

    def __init__(
        self,
        discoverer: Discoverer,
        candidates: CandidateRepository,
        places: PlaceRepository,
        searches: SearchRepository,
        sources: SourceRepository,
        targets: TargetRepository,
        clock: Clock,
        *,
        vertical: str,
        adapter_id: str,
        auto_enable: float | None = None,
    ) -> None:
        """Sources are made for one vertical and read by one adapter of it.

        Candidates of at least `auto_enable` become sources that are switched on at once; None asks a person.
        """
        self._discoverer = discoverer
        self._candidates = candidates
        self._places = places
        self._searches = searches
        self._sources = sources
        self._targets = targets
        self._clock = clock
        self._vertical = vertical
        self._adapter_id = adapter_id
        self._auto_enable = auto_enable

    async def run(self, limit: int | None = None, only: Collection[str] = ()) -> tuple[Discovered, int]:
        """Search the places that are due, or those named; return the result and how many sources were enabled."""
        names = await self._named(only)
        done = await self._discoverer.discover(limit, names)
        enabled = 0 if done.spilled_to else await self.approve_confident()
        return done, enabled

    async def approve_confident(self) -> int:
        """Approve every pending candidate of at least `auto_enable`, and return how many."""
        if self._auto_enable is None:
            return 0
        waiting = await self._candidates.every(status=CandidateStatus.PENDING, limit=_MAX_APPROVALS)
        confident = [each for each in waiting if each.confidence >= self._auto_enable]
        for each in confident:
            await self.approve(each.id, AUTOMATIC, enable=True, note=f"confidence {each.confidence}")
        return len(confident)

    async def find(self, candidate_id: int) -> Candidate:
        """Return a candidate; raise `NotFound` if there is none."""
        found = await self._candidates.find(candidate_id)
        if found is None:
            msg = f"there is no candidate {candidate_id}; see `tidemill candidates list`"
            raise NotFound(msg)
        return found

    async def listed(
        self, *, status: str | None = None, place: str | None = None, before: int | None = None, limit: int = 100
    ) -> list[Candidate]:
        """Return candidates, the newest first."""
        return await self._candidates.every(status=status, place=place, before=before, limit=limit)

    async def approve(self, candidate_id: int, actor: str, *, enable: bool = False, note: str = "") -> Candidate:
        """Make a source of a candidate: switched off until a person switches it on, unless `enable` says at once."""
        candidate = _undecided(await self.find(candidate_id))
        now = self._clock.now()
        if (known := await self._known_source(candidate)) is not None:
            return await self._add_to(known, candidate, actor, note)
        source = await self._source_for(candidate, enabled=enable)
        audit = [_entry(actor, "candidate.approve", candidate, {"source": source.name, "enabled": enable})]
        keys = await self._sources.upsert([(source, _ALL_FIELDS)], now, audit)
        source_id, _ = keys[source.name]
        target = Target(
            id=0, source_id=source_id, url=candidate.url, canonical_url=candidate.canonical_url,
            adapter_id=source.adapter_id, host=registrable_domain(candidate.url), created_by=actor,
        )  # fmt: skip
        await self._targets.upsert([(target, ["url", "host", "adapter_id"])], now)
        return await self._decide(candidate, CandidateStatus.APPROVED, actor, note, source_id)

    async def _known_source(self, candidate: Candidate) -> Source | None:
        """Return the source that has the candidate's site already, if there is one."""
        site = registrable_domain(candidate.url)
        mine = (each for each in await self._sources.every() if each.vertical == self._vertical)
        return next((each for each in mine if registrable_domain(each.base_url) == site), None)

    async def _add_to(self, source: Source, candidate: Candidate, actor: str, note: str) -> Candidate:
        """Make a candidate on a known site a target of its source; a second source would ask the site twice."""
        entry = _entry(actor, "candidate.approve", candidate, {"source": source.name, "new_target": True})
        target = Target(
            id=0, source_id=source.id, url=candidate.url, canonical_url=candidate.canonical_url,
            adapter_id=source.adapter_id, host=registrable_domain(candidate.url), created_by=actor,
        )  # fmt: skip
        await self._targets.upsert([(target, ["url", "host", "adapter_id"])], self._clock.now(), [entry])
        return await self._decide(candidate, CandidateStatus.APPROVED, actor, note, source.id)

    async def reject(self, candidate_id: int, actor: str, note: str = "") -> Candidate:
        """Reject a candidate; it is not shown again."""
        candidate = _undecided(await self.find(candidate_id))
        entry = _entry(actor, "candidate.reject", candidate, {"note": note})
        return await self._decide(candidate, CandidateStatus.REJECTED, actor, note, None, [entry])

    async def import_places(self, content: bytes) -> GazetteerImported:
        """Add the places of a gazetteer file, or renew them; bad lines are named and good ones kept."""
        places, problems = read_gazetteer(content)
        return GazetteerImported(await self._places.put(places), tuple(problems))

    async def import_spill(self, content: bytes) -> SpillImported:
        """Import a file that discovery wrote while the database was unavailable. Idempotent."""
        lines, bad = read_spill(content)
        now = self._clock.now()
        found = [line.candidate for line in lines if line.candidate is not None]
        await self._candidates.put(found)
        searches = [line for line in lines if line.search]
        for line in searches:
            await self._searches.finish(line.search, line.place, line.hits, line.asked_at or now, now)
        for line in lines:
            if line.searched:
                await self._places.mark_searched(line.searched, now)
        return SpillImported(len(found), len(searches), tuple(bad))

    async def _decide(
        self,
        candidate: Candidate,
        status: CandidateStatus,
        actor: str,
        note: str,
        source_id: int | None,
        audit: Sequence[AuditEntry] = (),
    ) -> Candidate:
        now = self._clock.now()
        decided = msgspec.structs.replace(
            candidate, status=status, decided_by=actor, decided_at=now, note=note, source_id=source_id
        )
        if not await self._candidates.decide(decided, now, audit):
            msg = (
                f"somebody decided on candidate {candidate.id} meanwhile; see `tidemill candidates show {candidate.id}`"
            )
            raise Mistake(msg)
        return decided

    async def _source_for(self, candidate: Candidate, *, enabled: bool) -> Source:
        names = await self._sources.names()
        places = {place.name: place for place in await self._places.every()}
        place = places.get(candidate.place)
        source = Source(
            id=0,
            name=source_name(candidate, frozenset(names)),
            vertical=self._vertical,
            base_url=origin_of(normalize(candidate.url)),
            adapter_id=self._adapter_id,
            enabled=enabled,
            city=place.common_name if place is not None else candidate.place,
            coordinates=place.coordinates if place is not None else None,
            trust={"discovered": True, "confidence": candidate.confidence},
        )
        if place is None:
            return source
        return msgspec.structs.replace(source, language=place.language, time_zone=place.time_zone)

    async def _named(self, only: Collection[str]) -> list[str]:
        """Return the stored names of places; raise `NotFound` for an unknown one."""
        if not only:
            return []
        known = {
            name.lower(): place.name for place in await self._places.every() for name in (place.name, place.common_name)
        }
        for name in only:
            if name.lower() not in known:
                raise NotFound(unknown_name("municipality", name, known.values()))
        return [known[name.lower()] for name in only]


_ALL_FIELDS = tuple(name for name in Source.__struct_fields__ if name != "id")


def read_spill(content: bytes) -> tuple[list[SpillLine], list[int]]:
    """Return the lines of a spill file, and the numbers of those that are invalid."""
    lines, bad = [], []
    for number, line in enumerate(content.splitlines(), 1):
        if not line.strip():
            continue
        try:
            lines.append(msgspec.json.decode(line, type=SpillLine))
        except (msgspec.DecodeError, UnicodeDecodeError):
            bad.append(number)
    return lines, bad


def _undecided(candidate: Candidate) -> Candidate:
    if candidate.status in {CandidateStatus.APPROVED, CandidateStatus.REJECTED}:
        msg = f"candidate {candidate.id} was {candidate.status} by {candidate.decided_by or 'somebody'} already"
        raise Mistake(msg)
    return candidate


def _entry(actor: str, action: str, candidate: Candidate, detail: dict[str, Any]) -> AuditEntry:
    return AuditEntry(actor, action, f"candidate {candidate.url}", detail)
