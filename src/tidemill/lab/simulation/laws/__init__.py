"""The laws that a simulation is judged by: what must be true whatever the world did.

`ENGINE_LAWS` hold for every vertical; one that knows what was really on its sites adds its own.
"""

from collections.abc import Callable

from tidemill.lab.simulation.laws.breakers import breakers
from tidemill.lab.simulation.laws.figures import metrics_equal_tables
from tidemill.lab.simulation.laws.finished import FinishedSimulation, LawVerdict, verdict
from tidemill.lab.simulation.laws.politeness import pace, permission
from tidemill.lab.simulation.laws.records import nothing_doubled, records
from tidemill.lab.simulation.laws.schedules import schedules
from tidemill.lab.simulation.laws.work import accounts, bounded, dead_letters, drained, upkeep

Law = Callable[[FinishedSimulation], LawVerdict]
ACCOUNTING_LAWS: tuple[Law, ...] = (nothing_doubled, records, metrics_equal_tables, schedules, accounts, drained)
"""Everything that was begun is accounted for, once."""
CONDUCT_LAWS: tuple[Law, ...] = (pace, permission, breakers, bounded, dead_letters, upkeep)
"""How sites are treated, and how failures are."""
ENGINE_LAWS = ACCOUNTING_LAWS + CONDUCT_LAWS

__all__ = [
    "ACCOUNTING_LAWS",
    "CONDUCT_LAWS",
    "ENGINE_LAWS",
    "FinishedSimulation",
    "Law",
    "LawVerdict",
    "verdict",
]
