"""What a person can do with sources."""

from collections.abc import Mapping, Sequence
from typing import Any

from tidemill.core.audit import AuditEntry
from tidemill.core.source import Source
from tidemill.core.tags import MOST_TAGS, tag_problem
from tidemill.operations.mistakes import Mistake, NotFound, unknown_name
from tidemill.operations.plans import KnownAdapters, ProblemList
from tidemill.operations.source_file import read_entries
from tidemill.pipeline.ports import Clock
from tidemill.store.sources.sources import SourceRepository

LONGEST_KEY = 18
"""Digits of a key; a longer number is nobody's."""


class SourceActions:
    """Switches sources on and off, adds and removes them; every action is audited."""

    def __init__(self, sources: SourceRepository, clock: Clock, known: KnownAdapters) -> None:
        """Act on the store's repository."""
        self._sources = sources
        self._clock = clock
        self._known = known

    async def find(self, which: str) -> Source:
        """Return a source by name or key; raise `NotFound` if there is none."""
        source = await self._sources.find(which)
        if source is None and which.isdecimal() and len(which) <= LONGEST_KEY:
            source = await self._sources.find(int(which))
        if source is None:
            raise NotFound(unknown_name("source", which, await self._sources.names()))
        return source

    async def enable(self, which: str, actor: str) -> Source:
        """Switch a source on, and reset its breaker, failures and drift."""
        source = await self.find(which)
        note = _note(actor, "source.enable", source, {"was_auto_disabled": source.auto_disabled})
        await self._sources.set_enabled([source.id], enabled=True, now=self._clock.now(), audit=[note])
        return await self.find(source.name)

    async def disable(self, which: str, actor: str, reason: str = "") -> Source:
        """Switch a source off: no more requests are sent, not even for waiting jobs."""
        source = await self.find(which)
        note = _note(actor, "source.disable", source, {"reason": reason})
        await self._sources.set_enabled([source.id], enabled=False, now=self._clock.now(), audit=[note])
        return await self.find(source.name)

    async def listed(self, keys: Sequence[int]) -> list[Source]:
        """Return the sources that have these keys, by name."""
        return await self._sources.with_keys(keys)

    async def switch_all(self, keys: Sequence[int], actor: str, *, enabled: bool, reason: str = "") -> list[Source]:
        """Switch several sources on or off at once, each with its entry in the audit log; return those that changed.

        One that already is as wanted is left alone: switching on forgives failures, which nobody asked for here.
        """
        found = [each for each in await self._sources.with_keys(keys) if _is_on(each) != enabled]
        word = "source.enable" if enabled else "source.disable"
        notes = [_note(actor, word, each, {"reason": reason, "together_with": len(found)}) for each in found]
        await self._sources.set_enabled(
            [each.id for each in found], enabled=enabled, now=self._clock.now(), audit=notes
        )
        return found

    async def tag_all(self, keys: Sequence[int], tag: str, actor: str, *, remove: bool = False) -> list[Source]:
        """Give several sources a tag, or take it from them; return those that changed."""
        if problem := tag_problem(tag):
            raise Mistake(problem)
        found = [each for each in await self._sources.with_keys(keys) if (tag in each.tags) == remove]
        full = [each.name for each in found if not remove and len(each.tags) >= MOST_TAGS]
        if full:
            msg = f"{full[0]!r} has {MOST_TAGS} tags already; take one away first"
            raise Mistake(msg)
        word = "source.untag" if remove else "source.tag"
        notes = [_note(actor, word, each, {"tag": tag}) for each in found]
        await self._sources.set_tags(
            {each.id: _tags_after(each, tag, remove=remove) for each in found}, self._clock.now(), notes
        )
        return found

    async def add(self, entry: Mapping[str, Any], actor: str) -> Source:
        """Add a source, written as in a sources file; one that exists is left alone."""
        troubles = ProblemList()
        plans = read_entries([entry], self._known, troubles)
        if troubles.found:
            raise Mistake("; ".join(f"{each.field}: {each.message}" for each in troubles.found))
        source = plans[0].source
        if await self._sources.find(source.name) is not None:
            msg = f"a source named {source.name!r} exists already; choose another name, or import a file to change it"
            raise Mistake(msg)
        note = _note(actor, "source.add", source, {"base_url": source.base_url})
        await self._sources.upsert([(source, plans[0].fields)], self._clock.now(), [note])
        return await self.find(source.name)

    async def create_template_targets(self, source: Source) -> int:
        """Create the targets of a source whose settings have a template, and return how many changed."""
        templates = [each for each in self._known.templates if each.setting in source.adapter_settings]
        return sum([await each.create_targets(self._clock.now()) for each in templates])

    async def remove(self, which: str, actor: str) -> Source:
        """Remove a source with its targets and runs; pages and published records stay."""
        source = await self.find(which)
        note = _note(actor, "source.remove", source, {"base_url": source.base_url})
        await self._sources.remove(source.id, self._clock.now(), [note])
        return source


def _is_on(source: Source) -> bool:
    return source.enabled and not source.auto_disabled


def _tags_after(source: Source, tag: str, *, remove: bool) -> tuple[str, ...]:
    return tuple(each for each in source.tags if each != tag) if remove else (*source.tags, tag)


def _note(actor: str, action: str, source: Source, detail: Mapping[str, Any]) -> AuditEntry:
    return AuditEntry(actor, action, f"source {source.name}", detail)
