"""The lab's shops: three of different make, whose prices move, whose stock runs out, and what goes wrong with them."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # a worker in production needs no lab
    from tidemill.lab.part import LabPart


def lab_part() -> "LabPart":
    """Return what prices bring to the lab; only what demonstrates or simulates imports it."""
    from tidemill.verticals.prices.lab.part import LAB  # noqa: PLC0415 - as above

    return LAB
