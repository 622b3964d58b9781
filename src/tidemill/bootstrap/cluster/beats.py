"""Build what notices that no beat is heard."""

from datetime import timedelta

from tidemill.core.services.degradation import Service
from tidemill.engine.beat_watch import BeatWatch
from tidemill.pipeline.ports import Clock
from tidemill.store.services.status import Services


def build_beat_watch(services: Services, clock: Clock, look_again: timedelta) -> BeatWatch:
    """Build the watch of a worker whose chores others start; it is missed after two of the worker's own looks."""

    async def report(trouble: str) -> None:
        if trouble:
            await services.degraded(Service.BEAT, trouble)
        else:
            await services.works(Service.BEAT)

    watch = BeatWatch(clock, report, 2 * look_again)
    services.register_probe(Service.BEAT, watch.probe)
    return watch
