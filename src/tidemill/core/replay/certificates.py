"""Which certificates of completeness another reading of a run's pages would have changed."""

from collections.abc import Mapping, Sequence
from typing import Any

from tidemill.core.quality.completeness import RunEvidence, certify
from tidemill.core.replay.page_difference import PageDifference
from tidemill.core.replay.report import MovedCertificate
from tidemill.core.run import Counts


def moved_certificate(
    run_id: int, source: str, row: Mapping[str, Any], pages: Sequence[PageDifference]
) -> MovedCertificate | None:
    """Return how a run's certificate would differ; None if it would not.

    Doubts that do not come from the pages themselves, such as an unusual count, stay as they were.
    """
    from_pages = set(_words(row, ()))
    others = [str(each) for each in row["doubts"] or () if each not in from_pages]
    doubts = [*_words(row, pages), *others]
    if (not doubts) == row["complete"]:
        return None
    return MovedCertificate(
        run_id=run_id, source=source, then_complete=row["complete"], now_complete=not doubts, doubts=doubts
    )


def _words(row: Mapping[str, Any], pages: Sequence[PageDifference]) -> list[str]:
    """Return the doubts about a run as its row keeps them."""
    return [f"{each.rule}: {each.detail}" for each in certify(_evidence(row, pages)).doubts]


def _evidence(row: Mapping[str, Any], pages: Sequence[PageDifference]) -> RunEvidence:
    read = sum(bool(one.then_failure) - bool(one.now_failure) for one in pages)
    unusable = sum(one.now_unusable - one.then_unusable for one in pages)
    truncated = sum(one.now_truncated - one.then_truncated for one in pages)
    records = sum(one.now_verdicts[0] - one.then_verdicts[0] for one in pages)
    counts = Counts(
        urls_succeeded=row["urls_succeeded"] + read, urls_unusable=max(0, row["urls_unusable"] + unusable)
    )  # fmt: skip
    return RunEvidence(
        counts=counts,
        targets=row["targets_on"],
        followed=row["pages_followed"],
        truncated_pages=max(0, row["truncated_pages"] + truncated),
        claimed_total=row["claimed_total"],
        records_seen=row["records_accepted"] + row["records_seen_again"] + records,
        history=tuple(row["history"]),
        degraded=tuple(row["degraded"] or ()),
    )
