"""Import of sources and targets from files: idempotent; valid entries are kept, the others reported."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import msgspec

from tidemill.core.audit import AuditEntry
from tidemill.core.checks.feed_settings import FEEDS, is_from_feed
from tidemill.core.source import Source
from tidemill.core.target import Target
from tidemill.operations.plans import KnownAdapters, Problem, ProblemList, SourcePlan, TargetPlan
from tidemill.operations.source_file import read_entries, read_sources
from tidemill.operations.target_file import count_lines, read_targets
from tidemill.pipeline.ports import Clock
from tidemill.store.database.batches import AT_ONCE, portions
from tidemill.store.sources.sources import Change, SourceRepository
from tidemill.store.sources.targets import TargetRepository, Wanted

NOTHING_TO_SCRAPE = (
    "a source without targets is never scraped; list its pages under `targets`, name what lists them with "
    "`settings: {feeds: [/sitemap.xml]}`, or write `targets: []` if they come from a targets file"
)


class ImportCounts(msgspec.Struct, frozen=True):
    """How many were new, changed, or as they were."""

    created: int = 0
    updated: int = 0
    unchanged: int = 0


class Imported(msgspec.Struct, frozen=True, rename={"from_templates": "in_markets"}):
    """What an import did, or would do; `in_markets` are the targets that sources which cover markets got by it.

    `removed_sources` and `removed_targets` name what was taken away because the file no longer names it.
    """

    sources: ImportCounts = ImportCounts()
    targets: ImportCounts = ImportCounts()
    problems: Sequence[Problem] = ()
    from_templates: int = 0  # made from templates; JSON keeps the name that programs read
    removed_sources: Sequence[str] = ()
    removed_targets: Sequence[str] = ()

    @property
    def created(self) -> int:
        """Everything new."""
        return self.sources.created + self.targets.created

    @property
    def updated(self) -> int:
        """Everything changed."""
        return self.sources.updated + self.targets.updated

    @property
    def unchanged(self) -> int:
        """Everything that was unchanged."""
        return self.sources.unchanged + self.targets.unchanged


class NoLongerNamed(msgspec.Struct, frozen=True):
    """What a file no longer names."""

    sources: Sequence[Source]
    targets: Sequence[Target]

    @property
    def names(self) -> dict[str, list[str]]:
        """The same, as people are shown it."""
        return {
            "removed_sources": [source.name for source in self.sources],
            "removed_targets": [target.url for target in self.targets],
        }


NOTHING_OVER = NoLongerNamed((), ())


class Importer:
    """Reads files and writes what they ask for; `known` says which verticals, adapters and templates there are."""

    def __init__(
        self,
        sources: SourceRepository,
        targets: TargetRepository,
        clock: Clock,
        known: KnownAdapters,
    ) -> None:
        """Write through the store's repositories."""
        self._sources = sources
        self._targets = targets
        self._clock = clock
        self._known = known

    async def sources_file(
        self, content: bytes, actor: str, name: str = "sources.yaml", *, prune: bool = False, dry_run: bool = False
    ) -> Imported:
        """Bring in a sources file; `prune` takes away what it no longer names, `dry_run` changes nothing.

        A file with problems takes nothing away: what it fails to name may stand on the line that could not be read.
        """
        problems = ProblemList()
        plans = await asyncio.to_thread(read_sources, content, self._known, problems)  # a large file takes seconds
        over = await self._no_longer_named(plans) if prune and not problems.found else NOTHING_OVER
        if dry_run:
            return msgspec.structs.replace(await self._preview(plans, problems), **over.names)
        done = await self._import(plans, problems, actor, name)
        await self._prune(over, actor, name)
        return msgspec.structs.replace(done, **over.names)

    async def _no_longer_named(self, plans: Sequence[SourcePlan]) -> "NoLongerNamed":
        """Find the sources that the file leaves out, and the targets of those whose targets it lists."""
        listed = {plan.source.name: plan for plan in plans}
        every = await self._sources.every()
        targets: list[Target] = []
        for source in every:
            plan = listed.get(source.name)
            if plan is not None and plan.names_targets:
                named = {each.target.canonical_url for each in plan.targets}
                targets += [one for one in await self._named(source.id) if one.canonical_url not in named]
        return NoLongerNamed([source for source in every if source.name not in listed], targets)

    async def _prune(self, over: "NoLongerNamed", actor: str, name: str) -> None:
        now = self._clock.now()
        if over.targets:
            note = _entry(actor, "targets.prune", name, {"targets": [one.url for one in over.targets][:100]})
            await self._targets.remove([one.id for one in over.targets], now, [note])
        for source in over.sources:
            note = _entry(actor, "source.prune", name, {"source": source.name})
            await self._sources.remove(source.id, now, [note])

    async def _preview(self, plans: Sequence[SourcePlan], problems: ProblemList) -> Imported:
        """Count what an import would create and change, and write nothing."""
        existing = {source.name: source for source in await self._sources.every()}
        sources, targets = Counter[Change](), Counter[Change]()
        for plan in plans:
            before = existing.get(plan.source.name)
            sources[_change(before, plan.source, plan.fields)] += 1
            known = {one.canonical_url: one for one in await self._targets.of_source(before.id)} if before else {}
            for each in plan.targets:
                targets[_change(known.get(each.target.canonical_url), each.target, each.fields)] += 1
        return Imported(_counts(sources), _counts(targets), problems.found)

    async def source_entries(self, entries: Iterable[Mapping[str, Any]], actor: str, name: str = "entries") -> Imported:
        """Bring in sources that a program lists in the form of a sources file."""
        problems = ProblemList()
        return await self._import(read_entries(entries, self._known, problems), problems, actor, name)

    async def targets_file(
        self, content: bytes, actor: str, name: str = "targets.csv", *, prune: bool = False, dry_run: bool = False
    ) -> Imported:
        """Bring in a targets file for sources that exist; `prune` takes away those sources' other targets."""
        problems = ProblemList()
        sources = {source.name: source for source in await self._sources.every()}
        if prune or dry_run:
            plans = await asyncio.to_thread(lambda: list(read_targets(content, sources, self._known, problems)))
            over = await self._other_targets(plans) if prune and not problems.found else NOTHING_OVER
            if dry_run:
                return msgspec.structs.replace(await self._preview_targets(plans, problems), **over.names)
            kept = await self.targets_file(content, actor, name)
            await self._prune(over, actor, name)
            return msgspec.structs.replace(kept, **over.names)
        wanted = _read_aside(_wanted(read_targets(content, sources, self._known, problems), {}, actor))

        def audit(count: int) -> AuditEntry:
            return _entry(actor, "targets.import", name, {"targets": count, "problems": len(problems.found)})

        done = await self._targets.bring_in(wanted, count_lines(content), self._clock.now(), audit)
        return Imported(targets=_counts(done), problems=problems.found)

    async def _named(self, source_id: int) -> list[Target]:
        """Return a source's targets that a person or a file named; what a feed lists is not the file's to take away."""
        return [one for one in await self._targets.of_source(source_id) if not is_from_feed(one.created_by)]

    async def _other_targets(self, plans: Sequence[TargetPlan]) -> "NoLongerNamed":
        named: dict[int, set[str]] = {}
        for plan in plans:
            named.setdefault(plan.target.source_id, set()).add(plan.target.canonical_url)
        targets = [
            one
            for source_id, urls in named.items()
            for one in await self._named(source_id)
            if one.canonical_url not in urls
        ]
        return NoLongerNamed([], targets)

    async def _preview_targets(self, plans: Sequence[TargetPlan], problems: ProblemList) -> Imported:
        known = {
            (one.source_id, one.canonical_url): one
            for source_id in {plan.target.source_id for plan in plans}
            for one in await self._targets.of_source(source_id)
        }
        changes = Counter(
            _change(known.get((plan.target.source_id, plan.target.canonical_url)), plan.target, plan.fields)
            for plan in plans
        )
        return Imported(targets=_counts(changes), problems=problems.found)

    async def _import(self, plans: Sequence[SourcePlan], problems: ProblemList, actor: str, name: str) -> Imported:
        plans = await self._with_something_to_scrape(plans, problems)
        most = sum(len(plan.targets) for plan in plans)
        detail = {"sources": len(plans), "targets": most, "problems": len(problems.found)}
        audit = [_entry(actor, "sources.import", name, detail)]
        wanted = [(plan.source, plan.fields) for plan in plans]
        done = await self._sources.upsert(wanted, self._clock.now(), audit)
        keys = {name: key for name, (key, _) in done.items()}
        targets = _at_hand(_wanted((target for plan in plans for target in plan.targets), keys, actor))
        written = await self._targets.bring_in(targets, most, self._clock.now(), lambda _: None)
        from_templates = await self._create_template_targets(plans)
        changes = Counter(change for _, change in done.values())
        return Imported(_counts(changes), _counts(written), problems.found, from_templates)

    async def _with_something_to_scrape(
        self, plans: Sequence[SourcePlan], problems: ProblemList
    ) -> Sequence[SourcePlan]:
        """Return the plans without new sources that name nothing to scrape; these become problems."""
        templates = {FEEDS} | {template.setting for template in self._known.templates}
        silent = [
            plan for plan in plans if not plan.names_targets and not templates & set(plan.source.adapter_settings)
        ]
        existing = set(await self._sources.names()) if silent else set()
        idle = [plan for plan in silent if plan.source.name not in existing]
        for plan in idle:
            problems.add(plan.line, "targets", NOTHING_TO_SCRAPE)
        return [plan for plan in plans if plan not in idle]

    async def _create_template_targets(self, plans: Sequence[SourcePlan]) -> int:
        """Create the targets of sources with a template now, not with the next hourly chore."""
        used = {setting for plan in plans for setting in plan.source.adapter_settings}
        templates = [template for template in self._known.templates if template.setting in used]
        return sum([await template.create_targets(self._clock.now()) for template in templates])


def _wanted(plans: Iterable[TargetPlan], keys: Mapping[str, int], actor: str) -> Iterator[Wanted]:
    """Yield targets as the store takes them; `keys` holds the keys of sources that were just created."""
    for plan in plans:
        source_id = keys.get(plan.source_name, plan.target.source_id)
        yield msgspec.structs.replace(plan.target, source_id=source_id, created_by=actor), plan.fields


async def _read_aside(wanted: Iterator[Wanted]) -> AsyncIterator[Sequence[Wanted]]:
    """Yield what a file holds in portions, each of which is read in a thread: everything else goes on meanwhile."""
    while some := await asyncio.to_thread(lambda: list(islice(wanted, AT_ONCE))):
        yield some


async def _at_hand(wanted: Iterator[Wanted]) -> AsyncIterator[Sequence[Wanted]]:
    """Yield what was read before in portions."""
    for some in portions(wanted):
        yield some


def _change(before: Source | Target | None, after: Source | Target, fields: Collection[str]) -> Change:
    """Return what writing these fields would do to what is there."""
    if before is None:
        return "created"
    return "updated" if any(getattr(before, name) != getattr(after, name) for name in fields) else "unchanged"


def _counts(changes: Mapping[Change, int]) -> ImportCounts:
    return ImportCounts(changes.get("created", 0), changes.get("updated", 0), changes.get("unchanged", 0))


def _entry(actor: str, action: str, name: str, detail: Mapping[str, Any]) -> AuditEntry:
    return AuditEntry(actor, action, f"file {name}", detail)
