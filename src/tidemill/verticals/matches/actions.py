"""What a person can do with matches: list, show, pause, resume, and settle which match an id means."""

from collections.abc import Sequence

import msgspec

from tidemill.core.audit import AuditEntry
from tidemill.core.snapshots.changes import LoggedChange, ThingSnapshot
from tidemill.operations.mistakes import Mistake, NotFound
from tidemill.operations.why.explanation import Explainer, Explanation
from tidemill.pipeline.ports import Clock
from tidemill.store.snapshots.reads import SnapshotReads
from tidemill.store.sources.targets import TargetRepository
from tidemill.verticals.matches.store.identities import MatchIdentities
from tidemill.verticals.matches.store.views import MatchViews
from tidemill.verticals.matches.views import ConflictView, KnownMatchRow, MappedId
from tidemill.verticals.matches.why import MatchFacts, why_match

VERTICAL = "matches"
MOST_LISTED = 500


class MatchDetail(msgspec.Struct, frozen=True, kw_only=True):
    """All that is known of a match."""

    match: KnownMatchRow
    snapshot: ThingSnapshot | None
    ids: Sequence[MappedId]
    conflicts: Sequence[ConflictView]
    rosters: dict[str, tuple[str, ...]]


class MatchActions:
    """Looks after matches by hand; every action is audited."""

    def __init__(
        self,
        identities: MatchIdentities,
        views: MatchViews,
        snapshots: SnapshotReads,
        targets: TargetRepository,
        clock: Clock,
    ) -> None:
        """`snapshots` has the states, `targets` the pages that tell of a match."""
        self._identities = identities
        self._views = views
        self._snapshots = snapshots
        self._targets = targets
        self._clock = clock

    async def every(self, status: str | None = None) -> list[tuple[KnownMatchRow, ThingSnapshot | None]]:
        """Return matches with their newest states, the latest first."""
        found = await self._views.every()
        states = {
            each.thing.key: each
            for each in await self._snapshots.listed(VERTICAL, status=status, group=None, after="", limit=MOST_LISTED)
        }
        rows = [(row, states.get(row.key)) for row in found]
        return [each for each in rows if status is None or each[1] is not None]

    async def find(self, key: str) -> MatchDetail:
        """Return a match; raise `NotFound` if there is none."""
        match = await self._known(key)
        snapshot = await self._snapshots.latest(VERTICAL, key)
        teams = snapshot.state.get("teams", {}) if snapshot is not None else {}
        names = [team["name"] for team in teams.values()]
        now = self._clock.now()
        rosters = {name: players for name in names if (players := await self._identities.roster(name, now))}
        return MatchDetail(
            match=match,
            snapshot=snapshot,
            ids=await self._identities.ids(key),
            conflicts=await self._views.conflicts(key),
            rosters=rosters,
        )

    async def is_known(self, key: str) -> bool:
        """Return whether a list has told of this match."""
        return await self._views.find(key) is not None

    async def changes(self, key: str, after: int, limit: int = 100) -> list[LoggedChange]:
        """Return the entries of a match's log after a number."""
        snapshot = await self._snapshots.latest(VERTICAL, key)
        return [] if snapshot is None else await self._snapshots.changes(snapshot.thing_id, after, limit)

    async def pause(self, key: str, actor: str) -> int:
        """Leave the pages of a match alone until it is resumed; return how many there are."""
        return await self._switch(key, actor, on=False)

    async def resume(self, key: str, actor: str) -> int:
        """Take the pages of a match up again; return how many there are."""
        return await self._switch(key, actor, on=True)

    async def doubts(self) -> list[MappedId]:
        """Return the ids that wait for a person."""
        return await self._identities.ids(doubtful=True)

    async def settle(self, source: str, source_key: str, key: str | None, actor: str) -> tuple[str, str]:
        """Let a source's id mean a match, its present one without a key; return the match before and after."""
        if key is None:
            own = [
                each for each in await self._identities.ids() if (each.source, each.source_key) == (source, source_key)
            ]
            key = own[0].match_key if own else None
        if key is not None:
            await self._known(key)
        note = AuditEntry(actor, "match.map", f"match {key}", {"source": source, "id": source_key})
        before = None
        if key is not None:
            before = await self._identities.settle(source, source_key, key, actor, self._clock.now(), note)
        if before is None or key is None:
            msg = f"source {source!r} has told of no match {source_key!r}; `tidemill matches map` lists what waits"
            raise NotFound(msg)
        return before, key

    async def explain(self, name: str) -> Explanation:
        """Explain a match, or one field of it: `ID` or `ID.FIELD`."""
        key, _, field = name.partition(".")
        detail = await self.find(key)
        facts = MatchFacts(
            key=key,
            snapshot=detail.snapshot,
            ids=detail.ids,
            conflicts=detail.conflicts,
            changes=await self.changes(key, max(0, detail.snapshot.seq - 3)) if detail.snapshot else (),
            merged_into=detail.match.merged_into,
            pages=await self._views.pages(key),
        )
        return why_match(facts, field, self._clock.now())

    @property
    def explainer(self) -> Explainer:
        """Explains `match:ID` and `match:ID.score`."""
        return Explainer("match", "match:ID or match:ID.FIELD", self.explain, is_record=True)

    async def _known(self, key: str) -> KnownMatchRow:
        match = await self._views.find(key)
        if match is None:
            msg = f"there is no match {key!r}; `tidemill matches list` shows those there are"
            raise NotFound(msg)
        return match

    async def _switch(self, key: str, actor: str, *, on: bool) -> int:
        await self._known(key)
        keys = await self._views.target_ids(key)
        if not keys:
            msg = f"no page of match {key!r} is watched"
            raise Mistake(msg)
        note = AuditEntry(actor, "match.resume" if on else "match.pause", f"match {key}")
        act = self._targets.resume if on else self._targets.pause
        await act(keys, self._clock.now(), [note])
        return len(keys)
