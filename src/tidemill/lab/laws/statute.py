"""All the laws, in the order in which they are told."""

from collections.abc import Callable

from tidemill.lab.laws.appointments import appointments
from tidemill.lab.laws.breaking import breaking
from tidemill.lab.laws.case import Case, Verdict
from tidemill.lab.laws.pace import leave, pace
from tidemill.lab.laws.truth import nothing_doubled, nothing_lost, records, removals
from tidemill.lab.laws.work import accounts, bounded, drained, letters, upkeep

LAWS: tuple[Callable[[Case], Verdict], ...] = (
    nothing_lost, nothing_doubled, records, appointments, accounts, drained, removals,
    pace, leave, breaking, bounded, letters, upkeep,
)  # fmt: skip


def judge(case: Case) -> tuple[Verdict, ...]:
    """Every law's verdict."""
    return tuple(law(case) for law in LAWS)
