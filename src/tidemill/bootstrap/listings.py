"""Markets and homes, put together: their periodic work and their actions."""

from collections.abc import Callable, Mapping

from tidemill.bootstrap.store import Store
from tidemill.core.page import Page
from tidemill.core.rhythm import Cron, Every
from tidemill.core.source import FetcherKind
from tidemill.engine.ticks import Tick
from tidemill.pipeline.dispatch import Dispatcher
from tidemill.pipeline.happenings import Announce
from tidemill.pipeline.ports import Clock, Fetcher
from tidemill.pipeline.verify import Verifier
from tidemill.reading import Document, blocked
from tidemill.verticals.listings.actions import MarketActions
from tidemill.verticals.listings.chores import MarketHands, market_work
from tidemill.verticals.listings.policy import FADING, POLICY
from tidemill.verticals.listings.reading.emptiness import removal_notice


def build_market_actions(
    store: Store, clock: Clock, dispatcher: Dispatcher, wake: Callable[[int], None]
) -> MarketActions:
    """What a person can do with markets."""
    return MarketActions(store.markets, store.agenda, dispatcher, store.audit, clock, FADING, wake)


def build_market_work(
    store: Store,
    fetchers: Mapping[FetcherKind, Fetcher],
    clock: Clock,
    announce: Announce,
    desk: MarketActions,
    rhythms: Mapping[str, Every | Cron],
) -> list[Tick]:
    """The periodic work of markets and their homes."""
    verifier = Verifier(store.verification, fetchers, POLICY, clock, read_notice)
    hands = MarketHands(clock, announce, store.markets, store.verification, verifier, desk.doubts)
    return market_work(hands, rhythms)


def read_notice(page: Page) -> str | None:
    """What a page that answered says of a removal; None if it is no page of the site at all."""
    document = Document.of(page)
    if notice := removal_notice(document):
        return notice
    return None if blocked(document) else ""
