"""Whether a run saw everything on its source: only then may unseen records count as missing."""

from statistics import median

import msgspec

from tidemill.core.quality.readings import poorer_words
from tidemill.core.run import Counts
from tidemill.core.services.degradation import MAY_SERVE_STORED


class CompletenessDoubt(msgspec.Struct, frozen=True):
    """A reason why a run may not have seen everything."""

    rule: str
    detail: str


class Certificate(msgspec.Struct, frozen=True):
    """A run's completeness: complete, or the doubts against it."""

    doubts: tuple[CompletenessDoubt, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether records that this run did not see may be counted as missing."""
        return not self.doubts


class RunEvidence(msgspec.Struct, frozen=True, kw_only=True):
    """What is known about a run when it ends.

    `targets` is how many targets the source has switched on: a run over a part of them can't be complete. `followed`
    is how many further pages their lists led to.
    `claimed_total` is the site's own count, where it gives one. `history` holds the records seen by earlier
    complete runs, those of the same weekday first choice.
    """

    counts: Counts
    targets: int
    followed: int = 0
    truncated_pages: int = 0
    poorer_pages: int = 0
    claimed_total: int | None = None
    records_seen: int = 0
    history: tuple[int, ...] = ()
    degraded: tuple[str, ...] = ()


SHORTFALL = 0.5
"""A run that sees under half of the usual count is doubted, even after a single run: a list that was cut
short in a source's first days would otherwise remove everything else."""


def certify(evidence: RunEvidence) -> Certificate:
    """Check a run's pages, the site's own total, truncation marks and the usual count."""
    return Certificate(tuple(doubt for check in _CHECKS if (doubt := check(evidence)) is not None))


def far_short(evidence: RunEvidence) -> str:
    """Return why a run saw under half of the usual count or of the site's own total; '' if it did not."""
    seen, claimed = evidence.records_seen, evidence.claimed_total
    if (unusual := _usual_count(evidence)) is not None:
        return unusual.detail
    if claimed is not None and seen < claimed * SHORTFALL and (doubt := _claimed_total(evidence)) is not None:
        return doubt.detail
    return ""


def _every_page(evidence: RunEvidence) -> CompletenessDoubt | None:
    answered, expected = evidence.counts.urls_succeeded, evidence.targets + evidence.followed
    if answered >= expected and evidence.targets > 0:
        return None
    return CompletenessDoubt("pages", f"{answered} of {expected} pages answered")


def _every_page_usable(evidence: RunEvidence) -> CompletenessDoubt | None:
    """What a page shows but cannot be believed is there all the same: it must not fade."""
    if evidence.counts.urls_unusable == 0:
        return None
    return CompletenessDoubt("unusable", f"{evidence.counts.urls_unusable} pages held records, none of them usable")


def _no_truncation(evidence: RunEvidence) -> CompletenessDoubt | None:
    if evidence.truncated_pages == 0:
        return None
    return CompletenessDoubt("truncated", f"{evidence.truncated_pages} pages were cut short")


def _read_as_well(evidence: RunEvidence) -> CompletenessDoubt | None:
    """A page that is read worse than before may hold what was not recognised on it."""
    if evidence.poorer_pages == 0:
        return None
    return CompletenessDoubt("reading", poorer_words(evidence.poorer_pages, ()))


def _no_stored_pages(evidence: RunEvidence) -> CompletenessDoubt | None:
    missing = [name for name in evidence.degraded if name in MAY_SERVE_STORED]
    if not missing:
        return None
    return CompletenessDoubt(
        "services", f"it had to do without {', '.join(missing)}, so that a stored page may have served"
    )


def _claimed_total(evidence: RunEvidence) -> CompletenessDoubt | None:
    if evidence.claimed_total is None or evidence.records_seen >= evidence.claimed_total:
        return None
    return CompletenessDoubt(
        "total", f"saw {evidence.records_seen} of the {evidence.claimed_total} that the site claims"
    )


def _usual_count(evidence: RunEvidence) -> CompletenessDoubt | None:
    if not evidence.history:
        return None
    usual = median(evidence.history)
    if evidence.records_seen >= usual * SHORTFALL:
        return None
    return CompletenessDoubt("count", f"saw {evidence.records_seen} where {usual:g} are usual")


_CHECKS = (
    _every_page, _every_page_usable, _no_truncation, _read_as_well, _no_stored_pages, _claimed_total, _usual_count,
)  # fmt: skip
