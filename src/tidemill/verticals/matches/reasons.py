"""Why a match is not published."""

from enum import StrEnum


class Reason(StrEnum):
    """Every reason there is; each is counted and kept with the raw record."""

    NOT_A_MATCH = "NOT_A_MATCH"
    NO_TEAMS = "MISSING_TEAMS"
