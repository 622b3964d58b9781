"""What feeds list becomes targets: those that are new are added, and none is ever taken away."""

import asyncio
from collections.abc import Mapping, Sequence

import msgspec

from tidemill.core.audit import AuditEntry
from tidemill.core.checks.feed_settings import feeds_of, maker_of
from tidemill.core.gates import GateAnswer, compliance, first_blocking, source_on
from tidemill.core.policy import Policy
from tidemill.core.source import Source
from tidemill.operations.mistakes import Mistake, NotFound, unknown_name
from tidemill.operations.plans import KnownAdapters, TargetPlan
from tidemill.operations.source_file import plan_target
from tidemill.operations.yaml_nodes import BadValue
from tidemill.pipeline.feeds import FeedRead, FeedReader
from tidemill.pipeline.ports import Clock
from tidemill.store.sources.sources import SourceRepository
from tidemill.store.sources.targets import TargetRepository
from tidemill.store.views.views import Views

MOST_TARGETS = 20_000
"""Targets that a source has in all, for feeds to go on adding some."""
SOURCES_AT_ONCE = 8
REFUSALS_SHOWN = 5
BY_SCHEDULE = "schedule"


class FeedsRefreshed(msgspec.Struct, frozen=True, kw_only=True):
    """What the feeds of a source brought: pages that are targets now, and those that were before.

    `refused` pages can be no targets; `refusals` say why, for the first of them.
    """

    source: str
    feeds: Sequence[FeedRead] = ()
    added: int = 0
    known: int = 0
    refused: int = 0
    refusals: Sequence[str] = ()


class FeedActions:
    """Reads feeds and adds the pages that they list."""

    def __init__(
        self,
        reader: FeedReader,
        sources: SourceRepository,
        targets: TargetRepository,
        views: Views,
        policies: Mapping[str, Policy],
        clock: Clock,
        known: KnownAdapters,
    ) -> None:
        """`policies` by vertical say whose terms must be approved first."""
        self._reader = reader
        self._sources = sources
        self._targets = targets
        self._views = views
        self._policies = policies
        self._clock = clock
        self._known = known

    async def refresh(self, name: str, actor: str, *, dry_run: bool = False) -> FeedsRefreshed:
        """Read the feeds of a source now; with `dry_run` show what would be added."""
        source = await self._sources.find(name)
        if source is None:
            raise NotFound(unknown_name("source", name, await self._sources.names()))
        if not feeds_of(source.adapter_settings):
            msg = f"source {source.name!r} has no feeds; list them with `settings: {{feeds: [/sitemap.xml]}}`"
            raise Mistake(msg)
        if (gate := self._gate(source, is_manual=True)) is not None:
            msg = f"source {source.name!r} is not asked: {gate.words}"
            raise Mistake(msg)
        return await self._refresh(source, actor, dry_run=dry_run)

    async def refresh_all(self) -> str:
        """Read the feeds of every source that may be asked, and return in words what they brought."""
        views = await self._views.sources(self._clock.now())
        barred = {view.name for view in views if view.circuit_state == "OPEN"}
        wanted = [
            source
            for source in await self._sources.every()
            if feeds_of(source.adapter_settings) and source.vertical in self._policies
        ]
        unbarred = (source for source in wanted if source.name not in barred)
        free = [source for source in unbarred if self._gate(source, is_manual=False) is None]
        room = asyncio.Semaphore(SOURCES_AT_ONCE)

        async def one(source: Source) -> FeedsRefreshed:
            async with room:
                return await self._refresh(source, BY_SCHEDULE)

        done = await asyncio.gather(*(one(source) for source in free))
        return in_words(done, len(wanted) - len(free))

    def _gate(self, source: Source, *, is_manual: bool) -> GateAnswer | None:
        policy = self._policies.get(source.vertical)
        return first_blocking((source_on(source), compliance(source, policy, is_manual=is_manual)))

    async def _refresh(self, source: Source, actor: str, *, dry_run: bool = False) -> FeedsRefreshed:
        """Read a source's feeds and add what is new, leaving alone what is known however it stands."""
        feeds = await self._reader.read(source)
        plans, refusals = self._planned(source, feeds)
        had = {target.canonical_url for target in await self._targets.of_source(source.id)}
        fresh = [plan for key, plan in plans.items() if key not in had]
        room = max(0, MOST_TARGETS - len(had))
        if len(fresh) > room:
            refusals += [f"a source has at most {MOST_TARGETS:,} targets for feeds to add any"] * (len(fresh) - room)
            fresh = fresh[:room]
        if fresh and not dry_run:
            note = AuditEntry(actor, "targets.feed", f"source {source.name}", {"targets": len(fresh)})
            wanted = [(plan.target, plan.fields) for plan in fresh]
            done = await self._targets.upsert(wanted, self._clock.now(), [note])
            added = sum(1 for _, change in done.values() if change == "created")
        else:
            added = len(fresh)
        return FeedsRefreshed(
            source=source.name, feeds=feeds, added=added, known=len(plans) - len(fresh), refused=len(refusals),
            refusals=refusals[:REFUSALS_SHOWN],
        )  # fmt: skip

    def _planned(self, source: Source, feeds: Sequence[FeedRead]) -> tuple[dict[str, TargetPlan], list[str]]:
        plans: dict[str, TargetPlan] = {}
        refusals: list[str] = []
        for feed in feeds:
            for page in feed.pages:
                try:
                    plan = plan_target(0, source, {"url": page}, self._known)
                except BadValue as error:
                    refusals.append(f"{page[:200]}: {error}")
                    continue
                target = msgspec.structs.replace(plan.target, created_by=maker_of(feed.url))
                plans.setdefault(target.canonical_url, msgspec.structs.replace(plan, target=target))
        return plans, refusals


def in_words(done: Sequence[FeedsRefreshed], held_back: int) -> str:
    """Return what a round brought, in a few words."""
    feeds = [feed for each in done for feed in each.feeds]
    troubled = [feed for feed in feeds if feed.trouble]
    words = [f"{len(feeds)} feeds of {len(done)} sources", f"{sum(each.added for each in done)} targets added"]
    if refused := sum(each.refused for each in done):
        words.append(f"{refused} pages refused")
    if held_back:
        words.append(f"{held_back} sources not asked")
    if troubled:
        words.append(f"{len(troubled)} with trouble, first {troubled[0].url[:200]}: {troubled[0].trouble[:200]}")
    return ", ".join(words)
