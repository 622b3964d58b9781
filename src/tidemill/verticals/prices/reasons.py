"""Why a product page gave no offer, or an offer was not published: one vocabulary, in its three parts."""

from enum import StrEnum

from tidemill.core.failure import Failure


class ExtractReason(StrEnum):
    """Why a page gave no offer at all."""

    SELECTOR_NOT_FOUND = "SELECTOR_NOT_FOUND"
    PRICE_NOT_FOUND = "PRICE_NOT_FOUND"
    TITLE_NOT_FOUND = "TITLE_NOT_FOUND"
    PAGE_STRUCTURE_CHANGED = "PAGE_STRUCTURE_CHANGED"
    BLOCKED_PAGE = "BLOCKED_PAGE"
    EMPTY_PAGE = "EMPTY_PAGE"
    OOS_NO_PRICE = "OOS_NO_PRICE"


class DropReason(StrEnum):
    """Why an offer is of no use. `OOS_NO_PRICE` is expected of shops and counts against nobody."""

    MISSING_REQUIRED_FIELD = "MISSING_REQUIRED_FIELD"
    INVALID_PRICE = "INVALID_PRICE"
    INVALID_URL = "INVALID_URL"
    DUPLICATE_WITHIN_RUN = "DUPLICATE_WITHIN_RUN"
    BLOCKED_BY_ROBOTS_TXT = "BLOCKED_BY_ROBOTS_TXT"
    OOS_NO_PRICE = "OOS_NO_PRICE"
    UNKNOWN_AVAILABILITY = "UNKNOWN_AVAILABILITY"


class QuarantineReason(StrEnum):
    """Why a person must look at an offer before anybody else sees it."""

    VALIDATION_FAILED = "VALIDATION_FAILED"
    DRIFT_DETECTED = "DRIFT_DETECTED"
    SELECTOR_FAILURE = "SELECTOR_FAILURE"
    NORMALIZATION_FAILED = "NORMALIZATION_FAILED"
    ZERO_PRICE_EXTRACTED = "ZERO_PRICE_EXTRACTED"
    AMBIGUOUS_PRICE = "AMBIGUOUS_PRICE"


Reason = ExtractReason | DropReason | QuarantineReason

FAILURE_OF = {
    ExtractReason.SELECTOR_NOT_FOUND:     Failure.LAYOUT_CHANGED,
    ExtractReason.PRICE_NOT_FOUND:        Failure.LAYOUT_CHANGED,
    ExtractReason.TITLE_NOT_FOUND:        Failure.LAYOUT_CHANGED,
    ExtractReason.PAGE_STRUCTURE_CHANGED: Failure.LAYOUT_CHANGED,
    ExtractReason.BLOCKED_PAGE:           Failure.BLOCKED_PAGE,
    ExtractReason.EMPTY_PAGE:             Failure.EMPTY_PAGE,
}  # fmt: skip
"""What a job fails with when its page gave no offer; a product that is sold out and unpriced fails nothing."""


def reason_of(failure: Failure, detail: str = "") -> Reason | None:
    """The reason behind a failed job: the one that its detail begins with, else what the failure means."""
    word = detail.partition(":")[0].strip()
    if word in ExtractReason.__members__:
        return ExtractReason(word)
    return _MEANT.get(failure)


_MEANT: dict[Failure, Reason] = {
    Failure.ROBOTS_DISALLOWED: DropReason.BLOCKED_BY_ROBOTS_TXT,
    Failure.BLOCKED_PAGE: ExtractReason.BLOCKED_PAGE,
    Failure.EMPTY_PAGE: ExtractReason.EMPTY_PAGE,
    Failure.NOT_HTML: ExtractReason.PAGE_STRUCTURE_CHANGED,
    Failure.LAYOUT_CHANGED: ExtractReason.PAGE_STRUCTURE_CHANGED,
    Failure.BAD_URL: DropReason.INVALID_URL,
    Failure.ADAPTER_CRASHED: QuarantineReason.NORMALIZATION_FAILED,
}
