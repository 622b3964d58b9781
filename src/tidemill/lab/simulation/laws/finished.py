"""What a law is judged by, and what comes of it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from itertools import groupby
from typing import Any

import msgspec

from tidemill.lab.simulation.event_log import Asked, SourceSwitched
from tidemill.lab.simulation.inspector import DatabaseInspector, DatabaseRows, JobRow
from tidemill.lab.simulation.recorder import Recorder
from tidemill.lab.world import World
from tidemill.pipeline.happenings import AdapterDisabled, BreakerMoved

TOLD = 10
"""Breaches told in words; the rest are counted."""


class LawVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """Whether a law held: how much was looked at, and what was found against it."""

    law: str
    checked: str
    breaches: int = 0
    told: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """No breach at all."""
        return not self.breaches


def verdict(law: str, checked: str, breaches: Sequence[str]) -> LawVerdict:
    """A verdict that tells the first few breaches in words."""
    return LawVerdict(law=law, checked=checked, breaches=len(breaches), told=tuple(breaches[:TOLD]))


@dataclass
class FinishedSimulation:
    """A simulation after its end: the world, what was seen from outside, and what the database says.

    `noun` is what the records are called.
    """

    world: World
    recorder: Recorder
    rows: DatabaseRows
    inspector: DatabaseInspector
    entries: Sequence[Mapping[str, Any]]
    ends: datetime
    noun: str

    @cached_property
    def host_of_source(self) -> dict[int, str]:
        """Sources are named after their hosts."""
        return {key: f"{name}.test" for key, name in self.rows.sources.items()}

    @cached_property
    def requests_by_host(self) -> dict[str, list[Asked]]:
        """What each site was asked, in order of departure."""
        ordered = sorted(self.recorder.requests, key=lambda asked: (asked.host, asked.at, asked.ended))
        return {host: list(group) for host, group in groupby(ordered, key=lambda asked: asked.host)}

    @cached_property
    def jobs_by_target(self) -> dict[int, list[JobRow]]:
        """Each target's jobs, in order of creation."""
        ordered = sorted(self.rows.jobs, key=lambda job: (job.target_id, job.created_at, job.id))
        return {target: list(group) for target, group in groupby(ordered, key=lambda job: job.target_id)}

    @cached_property
    def times_off(self) -> dict[str, list[tuple[datetime, datetime]]]:
        """When each host's source was off, by a person's word or by drift detection's, until a person's word."""
        offs = [each for event in self.recorder.events for each in self._switched_off(event)]
        switches = [event for event in self.recorder.events if isinstance(event, SourceSwitched) and event.on]
        times: dict[str, list[tuple[datetime, datetime]]] = {host: [] for host in self.world.origins}
        for host, off in offs:
            again = [on.at for on in switches if on.host == host and on.at > off]
            times[host].append((off, min(again, default=self.ends)))
        return times

    def _switched_off(self, event: object) -> Iterator[tuple[str, datetime]]:
        match event:
            case SourceSwitched(at=at, host=host, on=False):
                yield host, at
            case AdapterDisabled(at=at, source_id=key, scope="source"):
                yield f"{self.rows.sources[key]}.test", at
            case AdapterDisabled(at=at, adapter_id=adapter):
                yield from ((f"{entry['name']}.test", at) for entry in self.entries if entry["adapter"] == adapter)

    def resting(self, at: datetime) -> set[str]:
        """The hosts whose breaker was not closed at a moment, by what was announced."""
        states = dict.fromkeys(self.world.origins, "CLOSED")
        for event in self.recorder.events:
            match event:
                case BreakerMoved(at=moment, source_id=key, after=after) if moment <= at:
                    states[f"{self.rows.sources[key]}.test"] = after
                case SourceSwitched(at=moment, host=host, on=True) if moment <= at:
                    states[host] = "CLOSED"
                case _:
                    pass
        return {host for host, state in states.items() if state != "CLOSED"}
