"""Build replays: what reads stored pages again, the actions on them, and the gate."""

from collections.abc import Mapping

from tidemill.bootstrap.store import Store
from tidemill.core.replay.gate import GateThresholds
from tidemill.core.vertical import Vertical
from tidemill.engine.chores import every
from tidemill.engine.periodic import Chore
from tidemill.engine.ports import PageReaders
from tidemill.operations.replay.actions import ReplayActions
from tidemill.operations.replay.applying import ReplayApplier
from tidemill.operations.replay.gate import ReadingGate
from tidemill.operations.replay.page_replay import PageReplayer
from tidemill.operations.replay.proving import ReplayProver
from tidemill.operations.replay.runner import ReplayRunner
from tidemill.pipeline.dependencies import StageDependencies
from tidemill.pipeline.happenings import Announce
from tidemill.pipeline.reader_functions.function import FunctionReaders
from tidemill.pipeline.repair import propose_repairs
from tidemill.settings import Settings
from tidemill.store.quality.proposals import Proposals
from tidemill.store.replays.applications import ReplayApplications
from tidemill.store.replays.changes import ReadingChanges
from tidemill.store.replays.inputs import ReplayInputs
from tidemill.store.replays.replays import ReplayRepository

GATE_TICK = "gate_changes"


def build_replays(
    settings: Settings,
    store: Store,
    tools: StageDependencies,
    readers: PageReaders | None,
    verticals: Mapping[str, Vertical],
) -> ReplayActions:
    """Build the actions on replays."""
    answers = tools.enrichment.answers if tools.enrichment is not None and tools.asks_model else None
    pages = PageReplayer(verticals, readers, answers, settings.reader_max_records)
    repository = ReplayRepository(store.database, store.ids)
    runner = ReplayRunner(
        ReplayInputs(store.database, store.bodies),
        repository,
        pages,
        tools.clock,
        thresholds_of(settings),
        settings.replay_cpu_share,
    )
    ports = {name: each.replays for name, each in store.verticals.items() if each.replays is not None}
    applier = ReplayApplier(repository, ReplayApplications(store.database, store.ids), ports, tools.clock)
    changes = ReadingChanges(store.database, store.ids)
    return ReplayActions(
        verticals, store.sources, repository, changes, runner, applier, tools.clock, settings.gate_pages
    )


def thresholds_of(settings: Settings) -> GateThresholds:
    """Return how much a change may alter before a person has to look."""
    return GateThresholds(
        lost_percent=settings.gate_lost_percent,
        added_percent=settings.gate_added_percent,
        field_points=settings.gate_field_points,
        identity_percent=settings.gate_identity_percent,
        changed_percent=settings.gate_changed_percent,
    )


def repair_chore(
    settings: Settings, store: Store, actions: ReplayActions, readers: FunctionReaders, announce: Announce
) -> Chore:
    """Return the periodic work that proposes selectors for redesigned pages, once they are proven."""
    proposals, clock = Proposals(store.database, store.ids, store.bodies), actions.clock
    prover = ReplayProver(actions.repository, actions.runner, clock, thresholds_of(settings), settings.gate_pages)
    return Chore(
        "propose_repairs",
        every(minutes=15),
        lambda: propose_repairs(proposals, readers, prover, announce, clock.now()),
    )


def gate_chore(
    settings: Settings, actions: ReplayActions, verticals: Mapping[str, Vertical], announce: Announce
) -> Chore:
    """Return the periodic work of the gate."""
    gate = ReadingGate(actions, verticals, actions.clock, announce, settings.replay_gate)
    return Chore(GATE_TICK, every(minutes=1), gate.work)
