"""Why a listing is not published."""

from enum import StrEnum


class Reason(StrEnum):
    """Every reason there is; each is counted and kept with the raw record."""

    NO_PLACE = "MISSING_ADDRESS"
    NO_NAME = "MISSING_TITLE"
    NO_LINK = "MISSING_URL"
    ELSEWHERE = "OUTSIDE_MARKET"
    NO_RENT = "UNREADABLE_RENT"
    BAD_RENT = "INVALID_RENT"
    SHORT_STAY = "SHORT_STAY"
    NOT_FOR_RENT = "NOT_FOR_RENT"
    UNKNOWN_SHAPE = "UNKNOWN_SHAPE"
    OTHER_CURRENCY = "OTHER_CURRENCY"
