"""Persist: pass each identity once to the repository, which upserts, keeps history and counts."""

from tidemill.core.outcome import Advance, Outcome, Stage
from tidemill.core.verdict import Accepted
from tidemill.pipeline.checkpoints import AcceptedRecords, Claimed, Judged
from tidemill.pipeline.dependencies import StageDependencies


def persist(_claimed: Claimed, judged: Judged, _deps: StageDependencies) -> Outcome:
    """Return the accepted records, each identity once, and count the repeated ones."""
    unique: dict[str, Accepted] = {}
    for accepted in judged.accepted:
        unique.setdefault(accepted.identity, accepted)
    repeated = len(judged.accepted) - len(unique)
    return Advance(Stage.COMPLETED, AcceptedRecords(judged, list(unique.values()), repeated))
