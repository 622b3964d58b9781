"""The lab's housing market: homes that come and go in 19 cities, two sites and an actor that show them, and faults."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # a worker in production needs no lab
    from tidemill.lab.part import LabPart


def lab_part() -> "LabPart":
    """Return what listings bring to the lab; only what demonstrates or simulates imports it."""
    from tidemill.verticals.listings.lab.part import LAB  # noqa: PLC0415 - as above

    return LAB
