"""Checkpoints: the outputs and moves of many jobs in one transaction, for those whose lease still holds."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import chain
from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.core.job import Job, JobStatus, breaker_signal
from tidemill.core.outcome import Advance, Fail
from tidemill.core.policy import Policy
from tidemill.core.vertical import Vertical
from tidemill.pipeline.checkpoints import (
    AcceptedRecords,
    BreakerChange,
    Checkpoint,
    Committed,
    Fetched,
    Judged,
    Parsed,
    Unchanged,
    WriteCounts,
)
from tidemill.store.database.database import Database
from tidemill.store.database.keys import Ids
from tidemill.store.ledger import breakers, dead_letters, effects, list_pages
from tidemill.store.ledger.effects import HostNote
from tidemill.store.ledger.effects_sql import FENCES
from tidemill.store.ledger.following import Onward, follow
from tidemill.store.ledger.run_counts import RunCounts, count_end, count_kept, count_verdicts, settle_runs
from tidemill.store.pages import outputs
from tidemill.store.pages.bodies import Bodies
from tidemill.store.pages.rejections import settle_accepted, write_rejected
from tidemill.store.records.poorer_records import with_richer_fields
from tidemill.store.records.repository import KEYS_PER_RECORD, RecordRepository
from tidemill.store.schema import staged_records
from tidemill.store.services.enrichment_requests import note_wants
from tidemill.store.sources.upgrades import suggest_upgrades

Products = Mapping[type, Sequence[tuple[Checkpoint, Any]]]
"""What stages produced, each kind by itself in the batch's order, with its checkpoint."""


class Checkpoints:
    """The one place that writes what stages answered."""

    def __init__(
        self,
        database: Database,
        ids: Ids,
        bodies: Bodies,
        repositories: Mapping[str, RecordRepository],
        verticals: Mapping[str, Vertical],
    ) -> None:
        """`repositories` and `verticals` by the vertical's name."""
        self._database = database
        self._ids = ids
        self._bodies = bodies
        self._repositories = repositories
        self._verticals = verticals
        self._policies = {name: vertical.policy for name, vertical in verticals.items()}

    async def commit(self, batch: Sequence[Checkpoint], now: datetime) -> Committed:
        """Write outputs and moves of the jobs that are still ours; of the others nothing.

        What a commit wrote whose answer got lost is held, and not written twice.
        """
        made = by_kind(batch)
        await self._ids.reserve(keys_needed(batch, made))
        async with self._database.write() as connection:
            held = await held_jobs(connection, batch)
            ours = [each for each in batch if each.claimed.job.id in held and not is_written(each, held)]
            if not ours:
                return Committed(frozenset(held))
            if len(ours) < len(batch):
                made = by_kind(ours)
            tallies = {key: RunCounts() for key in dict.fromkeys(each.claimed.job.run_id for each in ours)}
            await self._write_outputs(connection, made, tallies, now)
            onward = read_on(made)
            kept = await self._persist_records(connection, made, tallies, onward, now)
            followed = 0
            if onward:
                followed = await follow(connection, self._database, self._ids, onward, self._policies, tallies, now)
            await effects.move_jobs(connection, ours, now)
            finished = await self._settle(connection, ours, made, tallies, now)
            shifts = await self._signal(connection, ours, now)
        return Committed(frozenset(held), finished, tuple(shifts), kept, followed)

    async def _write_outputs(
        self, connection: AsyncConnection, made: Products, tallies: Mapping[int, RunCounts], now: datetime
    ) -> None:
        got = [(each.claimed.job, fetched, each.transition.failure) for each, fetched in pages_in(made)]
        parsed = [(each.claimed.job, reading) for each, reading in made[Parsed]]
        judged = [(each.claimed.job, verdicts) for each, verdicts in made[Judged]]
        staged = [(each.claimed.job, one) for each, one in made[Judged] if isinstance(each.outcome, Advance)]
        if got:
            await outputs.write_pages(connection, self._bodies, got)
        rows = [outputs.raw_rows(parsed, now), outputs.staged_rows(staged, now)]
        await self._bodies.outputs.put(connection, [one for one in rows if one[1]])
        if judged:
            await write_rejected(connection, self._database, self._ids, judged, now)
            if lost := [
                (job, job.target_id, one.request) for job, each in judged for one in each.rejected if one.request
            ]:
                await note_wants(connection, self._database, lost, now)
        for job, reading in parsed:
            tallies[job.run_id].count_fields(reading.found)
        for job, each in judged:
            count_verdicts(tallies[job.run_id], job, each, self._verticals[job.vertical].notable)

    async def _persist_records(
        self,
        connection: AsyncConnection,
        made: Products,
        tallies: Mapping[int, RunCounts],
        onward: list[Onward],
        now: datetime,
    ) -> dict[int, WriteCounts]:
        """Give harvests to their repositories, and mark what stands on unchanged pages as seen again.

        Where an unchanged page's list goes on, it goes on as it did: `onward` is told.
        """
        kept: dict[int, WriteCounts] = {}
        for vertical, repository in self._repositories.items():
            harvests = [
                (job, found) for each, found in made[AcceptedRecords] if (job := each.claimed.job).vertical == vertical
            ]
            harvests = [
                (job, await with_richer_fields(connection, repository, self._verticals[vertical], job, found))
                for job, found in harvests
            ]
            if harvests:
                kept |= await repository.put(connection, harvests, now)
            if accepted := accepted_by_source(harvests):
                await settle_accepted(connection, accepted, now)
            for job, harvest in harvests:
                count_kept(tallies[job.run_id], harvest, kept[job.id])
            for each, unchanged in made[Unchanged]:
                if each.claimed.job.vertical == vertical:
                    seen, shown, next_url = await self._touch(connection, repository, each, now)
                    if next_url:
                        onward.append((each, unchanged.page.final_url, next_url, shown))
                    tallies[each.claimed.job.run_id].add(pages_unchanged=1, records_seen_again=seen)
        return kept

    async def _touch(
        self, connection: AsyncConnection, repository: RecordRepository, each: Checkpoint, now: datetime
    ) -> tuple[int, int, str | None]:
        """Mark what the page held as seen again; answers how many, of how many, and where its list went on."""
        good = each.claimed.target.good_page_id
        staged = await self._bodies.outputs.get(connection, staged_records.c.staged, good) if good else None
        if staged is None:
            return 0, 0, None
        known = outputs.decode_identities(staged)
        identities = sorted({one.identity for one in known.accepted})
        if not identities:
            return 0, 0, known.next_url
        seen = await repository.touch(connection, each.claimed.source.id, identities, now)
        return seen, len(known.accepted), known.next_url

    async def _settle(
        self,
        connection: AsyncConnection,
        ours: Sequence[Checkpoint],
        made: Products,
        tallies: Mapping[int, RunCounts],
        now: datetime,
    ) -> tuple[int, ...]:
        """Everything that a job's end, or a site's answer, changes besides the job; answers the runs that it ends."""
        ended = [each for each in ours if each.transition.ends]
        for each in ended:
            count_end(tallies[each.claimed.job.run_id], each)
        if ended:
            await effects.settle_sources(connection, ended, now)
            await effects.settle_targets(connection, ended, now)
            await list_pages.remember(connection, self._database, ended)
        notes = [HostNote(each, fetched.result) for each, fetched in pages_in(made)]
        if notes := [note for note in notes if effects.worth_noting(note)]:
            await effects.settle_hosts(connection, notes, now)
        await effects.rest_hosts(connection, ours, now)
        if dead := [(each.claimed.job, each.transition) for each in ended if each.transition.status is JobStatus.DEAD]:
            await dead_letters.bury(connection, self._database, self._ids, dead, now)
        retried = [each.claimed.job.id for each in ended if each.claimed.job.trigger == "RETRY"]
        if saved := [key for key in retried if key not in {job.id for job, _ in dead}]:
            await dead_letters.resolve(connection, saved, now)
        await effects.mark_runs(connection, ours)
        await suggest_upgrades(connection, self._database, [each for each, _ in made[Fetched]], now)
        return await settle_runs(connection, tallies)

    async def _signal(
        self, connection: AsyncConnection, ours: Sequence[Checkpoint], now: datetime
    ) -> list[BreakerChange]:
        answers: dict[int, list[bool]] = {}
        policy: dict[int, Policy] = {}
        for each in ours:
            well = breaker_signal(each.claimed.job.stage, each.outcome)
            if well is not None:
                answers.setdefault(each.claimed.source.id, []).append(well)
                policy[each.claimed.source.id] = self._policies[each.claimed.job.vertical]
        signals = [breakers.Signal(key, policy[key].breaker, said) for key, said in answers.items()]
        return await breakers.record(connection, signals, now) if signals else []


async def held_jobs(connection: AsyncConnection, batch: Sequence[Checkpoint]) -> dict[int, str]:
    """The jobs of the batch whose fence is still the one they were claimed with, and the stages they are at."""
    fences = {each.claimed.job.id: each.claimed.job.fence for each in batch}
    rows = await FENCES.fetch(connection, ids=sorted(fences))
    return {row["id"]: row["current_stage"] for row in rows if row["fence"] == fences[row["id"]]}


def is_written(checkpoint: Checkpoint, held: Mapping[int, str]) -> bool:
    """Whether the job has made this very move already, and is still ours; whoever ends or waits lets go of it."""
    move = checkpoint.transition
    return move.status is JobStatus.LEASED and held[checkpoint.claimed.job.id] == move.stage


def accepted_by_source(harvests: Sequence[tuple[Job, AcceptedRecords]]) -> dict[int, set[str]]:
    """By source, the identities of what was accepted."""
    found: defaultdict[int, set[str]] = defaultdict(set)
    for job, harvest in harvests:
        if harvest.records:
            found[job.source_id].update(record.identity for record in harvest.records)
    return found


def product_of(checkpoint: Checkpoint) -> object:
    """What the stage produced, be it on the way on or as evidence."""
    match checkpoint.outcome:
        case Advance(produced=produced):
            return produced
        case Fail(evidence=evidence):
            return evidence
        case _:
            return None


def by_kind(batch: Sequence[Checkpoint]) -> Products:
    """Sort a batch by what was produced: it is looked at once, and asked about a dozen times."""
    made: defaultdict[type, list[tuple[Checkpoint, Any]]] = defaultdict(list)
    for each in batch:
        product = product_of(each)
        made[type(product)].append((each, product))
    return made


def pages_in(made: Products) -> Iterator[tuple[Checkpoint, Fetched | Unchanged]]:
    """The pages that sites answered with, changed or not."""
    return chain(made[Fetched], made[Unchanged])


def read_on(made: Products) -> list[Onward]:
    """The checkpoints of pages that were read and whose lists go on."""
    return [
        (each, parsed.page.final_url, parsed.found.next_url, parsed.found.records)
        for each, parsed in made[Parsed]
        if parsed.found.next_url
    ]


MOST_PAGES = 50
"""The most pages that any policy follows: where an unchanged page leads is only known within its commit."""


def keys_needed(batch: Sequence[Checkpoint], made: Products) -> int:
    """How many keys writing these checkpoints may take."""
    records = sum(len(harvest.records) for _, harvest in made[AcceptedRecords])
    rejected = sum(len(judged.rejected) for _, judged in made[Judged])
    followed = sum((parsed.found.next_url or "").count("\n") for _, parsed in made[Parsed])
    followed += sum(each.claimed.source.max_pages or MOST_PAGES for each, _ in made[Unchanged])
    return len(batch) + rejected + followed + KEYS_PER_RECORD * (records + KEYS_PER_RECORD * len(made[Unchanged]))
