"""The laws that a simulation is judged by: what must be true whatever the world did."""

from tidemill.lab.laws.case import Case, Verdict
from tidemill.lab.laws.statute import LAWS, judge

__all__ = ["LAWS", "Case", "Verdict", "judge"]
