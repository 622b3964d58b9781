"""Build what machines share about live things in Redis, where Redis is set up and a vertical names its things there."""

from collections.abc import Mapping
from dataclasses import dataclass

from tidemill.bootstrap.fetchers import service_reporter
from tidemill.bootstrap.store import Store
from tidemill.core.snapshots.shared_keys import SharedNames
from tidemill.operations.live_health import LiveHealthBoard
from tidemill.pipeline.ports import Clock, ServiceRegistry
from tidemill.settings import Settings
from tidemill.store.live.shared_mirror import SharedMirror
from tidemill.store.snapshots.redis_connection import RedisConnection, open_redis
from tidemill.store.snapshots.redis_snapshots import RedisSnapshots


@dataclass(frozen=True, slots=True)
class SharedSnapshots:
    """Snapshots in Redis, and what a mirror needs."""

    redis: RedisConnection
    snapshots: RedisSnapshots
    store: Store
    names: Mapping[str, SharedNames]
    board: LiveHealthBoard

    def mirror(self) -> SharedMirror:
        """Return what copies this process's things to Redis; it hears of each commit from now on."""
        made = SharedMirror(
            self.redis,
            self.snapshots,
            self.store.snapshots,
            self.store.live_health,
            self.store.database,
            self.names,
            self.board.summary,
        )
        self.store.change_log.on_publish(made.changed)
        return made


def build_shared_snapshots(
    settings: Settings, store: Store, clock: Clock, services: ServiceRegistry, board: LiveHealthBoard
) -> SharedSnapshots | None:
    """Build them without connecting; None where there is no Redis, or nothing to share."""
    names = {name: each.shared for name, each in store.verticals.items() if each.shared is not None}
    if settings.redis is None or not names:
        return None
    redis = open_redis(settings.redis.get_secret_value(), clock, service_reporter(services))
    if redis is None:  # its client is not installed, which the rate limiter reports
        return None
    return SharedSnapshots(redis, RedisSnapshots(redis, names), store, names, board)
