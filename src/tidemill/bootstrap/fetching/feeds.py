"""Build what reads the feeds of sources."""

from collections.abc import Mapping
from datetime import timedelta

from tidemill.bootstrap.engine.foundation import Foundation
from tidemill.bootstrap.engine.workers import WorkerParts
from tidemill.core.schedules import Every
from tidemill.engine.periodic import Chore
from tidemill.operations.feeds.refresh import FeedActions
from tidemill.operations.known_settings import known_adapters
from tidemill.pipeline.feeds import FeedReader
from tidemill.plugin import Parts


def build_feeds(base: Foundation, workers: WorkerParts, parts: Mapping[str, Parts]) -> FeedActions:
    """Return what reads feeds and adds the pages that they list."""
    store = base.store
    policies = {name: vertical.policy for name, vertical in base.verticals.items()}
    known = known_adapters(base.verticals, [template for each in parts.values() for template in each.templates])
    reader = FeedReader(workers.fetchers, policies, workers.function_readers)
    return FeedActions(reader, store.sources, store.targets, store.views, policies, base.clock, known)


def feeds_chore(feeds: FeedActions) -> Chore:
    """Return the chore that reads every source's feeds."""
    return Chore("feeds", Every(timedelta(hours=6)), feeds.refresh_all)
