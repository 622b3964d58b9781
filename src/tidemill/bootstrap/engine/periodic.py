"""Gather the periodic work of a process, each piece at this installation's own times."""

from collections.abc import Iterable, Sequence

import msgspec

from tidemill.bootstrap.chores import build_chore_dependencies
from tidemill.bootstrap.engine.foundation import Foundation
from tidemill.bootstrap.engine.workers import WorkerParts
from tidemill.bootstrap.enrichment import OPTIONAL_TICKS
from tidemill.bootstrap.page_readers.replays import gate_chore, repair_chore
from tidemill.bootstrap.watching.alerts import OPTIONAL_ALERT_TICKS
from tidemill.engine.chores import engine_chores, proof_chore
from tidemill.engine.periodic import Chore
from tidemill.operations.replay.actions import ReplayActions
from tidemill.settings import Settings


def periodic_work(
    base: Foundation,
    workers: WorkerParts,
    replays: ReplayActions,
    further: Iterable[Chore],
) -> list[Chore]:
    """Return all periodic work; the last piece looks whether the others were done."""
    settings, announce = base.settings, base.announce
    engine = build_chore_dependencies(
        settings, base.store, base.clock, announce, workers.dispatcher, workers.waker, base.services,
        workers.paid_fetchers.apify, readers=workers.function_readers, may_rescue=workers.worker.may_rescue,
    )  # fmt: skip
    chores = [
        *engine_chores(engine),
        repair_chore(settings, base.store, replays, workers.function_readers, announce),
        gate_chore(settings, replays, base.verticals, announce),
        workers.live_health.chore,
        *further,
        proof_chore(workers.ticks, engine),
    ]
    return with_own_rhythms(chores, settings)


def with_own_rhythms(chores: Sequence[Chore], settings: Settings) -> list[Chore]:
    """Return the periodic work at this installation's own times."""
    rhythms = settings.rhythms(OPTIONAL_TICKS | OPTIONAL_ALERT_TICKS | {chore.name: chore.schedule for chore in chores})
    return [msgspec.structs.replace(chore, schedule=rhythms[chore.name]) for chore in chores]
