"""The parts of matches in a running system: what maps ids, what people ask, and what they can do."""

from dataclasses import dataclass

from tidemill.core.snapshots.shared_keys import SharedNames
from tidemill.plugin import Environment, Parts, StoreEnvironment, VerticalStore
from tidemill.store.snapshots.reads import SnapshotReads
from tidemill.verticals.matches.actions import MatchActions
from tidemill.verticals.matches.change_feed import match_feed
from tidemill.verticals.matches.exports import match_dataset
from tidemill.verticals.matches.record import MatchStatus
from tidemill.verticals.matches.rules import labels_of
from tidemill.verticals.matches.store.counter import CHECKED, COUNTER
from tidemill.verticals.matches.store.identities import MatchIdentities
from tidemill.verticals.matches.store.repository import MatchRepository
from tidemill.verticals.matches.store.views import MatchViews


@dataclass(frozen=True, kw_only=True)
class MatchesStore(VerticalStore):
    """The mapping of ids, and what is read for people."""

    identities: MatchIdentities
    views: MatchViews
    snapshots: SnapshotReads


@dataclass(frozen=True, kw_only=True)
class MatchesParts(Parts):
    """The actions on matches, and their store."""

    matches: MatchActions
    store: MatchesStore


def open_store(environment: StoreEnvironment) -> MatchesStore:
    """Return the store of matches."""
    identities = MatchIdentities(environment.database, environment.ids)
    return MatchesStore(
        repository=MatchRepository(identities),
        checked=CHECKED,
        counter=COUNTER,
        labels=labels_of,
        shared=SharedNames("match", "matches", frozenset({MatchStatus.LIVE.value})),
        live=identities,
        identities=identities,
        views=MatchViews(environment.database),
        snapshots=SnapshotReads(environment.database),
    )


def build_parts(environment: Environment, store: MatchesStore) -> MatchesParts:
    """Build the actions on matches."""
    actions = MatchActions(
        store.identities, store.views, store.snapshots, environment.store.targets, environment.clock
    )  # fmt: skip
    return MatchesParts(
        explainers=[actions.explainer],
        datasets=[match_dataset(store.snapshots)],
        feeds=[match_feed(store.snapshots)],
        matches=actions,
        store=store,
    )
