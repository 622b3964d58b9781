"""Import of sources and targets from files: idempotent; valid entries are kept, the others reported."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from tidemill.core.audit import AuditEntry
from tidemill.core.target import Target
from tidemill.operations.plans import KnownAdapters, Problem, ProblemList, SourcePlan, TargetPlan
from tidemill.operations.source_file import read_entries, read_sources
from tidemill.operations.target_file import count_lines, read_targets
from tidemill.pipeline.ports import Clock
from tidemill.store.sources.sources import Change, SourceRepository
from tidemill.store.sources.targets import TargetRepository

NOTHING_TO_SCRAPE = (
    "a source without targets is never scraped; list its pages under `targets`, or write `targets: []` if they come "
    "from a targets file"
)


class ImportCounts(msgspec.Struct, frozen=True):
    """How many were new, changed, or as they were."""

    created: int = 0
    updated: int = 0
    unchanged: int = 0


class Imported(msgspec.Struct, frozen=True, rename={"from_templates": "in_markets"}):
    """What an import did; `in_markets` are the targets that sources which cover markets got or changed by it."""

    sources: ImportCounts = ImportCounts()
    targets: ImportCounts = ImportCounts()
    problems: Sequence[Problem] = ()
    from_templates: int = 0  # made from templates; JSON keeps the name that programs read

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

    async def sources_file(self, content: bytes, actor: str, name: str = "sources.yaml") -> Imported:
        """Bring in a sources file."""
        problems = ProblemList()
        return await self._import(read_sources(content, self._known, problems), problems, actor, name)

    async def source_entries(self, entries: Iterable[Mapping[str, Any]], actor: str, name: str = "entries") -> Imported:
        """Bring in sources that a program lists in the form of a sources file."""
        problems = ProblemList()
        return await self._import(read_entries(entries, self._known, problems), problems, actor, name)

    async def targets_file(self, content: bytes, actor: str, name: str = "targets.csv") -> Imported:
        """Bring in a targets file for sources that exist."""
        problems = ProblemList()
        sources = {source.name: source for source in await self._sources.every()}
        wanted = _wanted(read_targets(content, sources, self._known, problems), {}, actor)

        def audit(count: int) -> AuditEntry:
            return _entry(actor, "targets.import", name, {"targets": count, "problems": len(problems.found)})

        done = await self._targets.bring_in(wanted, count_lines(content), self._clock.now(), audit)
        return Imported(targets=_counts(done), problems=problems.found)

    async def _import(self, plans: Sequence[SourcePlan], problems: ProblemList, actor: str, name: str) -> Imported:
        plans = await self._with_something_to_scrape(plans, problems)
        most = sum(len(plan.targets) for plan in plans)
        detail = {"sources": len(plans), "targets": most, "problems": len(problems.found)}
        audit = [_entry(actor, "sources.import", name, detail)]
        wanted = [(plan.source, plan.fields) for plan in plans]
        done = await self._sources.upsert(wanted, self._clock.now(), audit)
        keys = {name: key for name, (key, _) in done.items()}
        targets = _wanted((target for plan in plans for target in plan.targets), keys, actor)
        written = await self._targets.bring_in(targets, most, self._clock.now(), lambda _: None)
        from_templates = await self._create_template_targets(plans)
        changes = Counter(change for _, change in done.values())
        return Imported(_counts(changes), _counts(written), problems.found, from_templates)

    async def _with_something_to_scrape(
        self, plans: Sequence[SourcePlan], problems: ProblemList
    ) -> Sequence[SourcePlan]:
        """Return the plans without new sources that name nothing to scrape; these become problems."""
        templates = {template.setting for template in self._known.templates}
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


def _wanted(
    plans: Iterable[TargetPlan], keys: Mapping[str, int], actor: str
) -> Iterator[tuple[Target, Collection[str]]]:
    """Yield targets as the store takes them; `keys` holds the keys of sources that were just created."""
    for plan in plans:
        source_id = keys.get(plan.source_name, plan.target.source_id)
        yield msgspec.structs.replace(plan.target, source_id=source_id, created_by=actor), plan.fields


def _counts(changes: Mapping[Change, int]) -> ImportCounts:
    return ImportCounts(changes.get("created", 0), changes.get("updated", 0), changes.get("unchanged", 0))


def _entry(actor: str, action: str, name: str, detail: Mapping[str, Any]) -> AuditEntry:
    return AuditEntry(actor, action, f"file {name}", detail)
