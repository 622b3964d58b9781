"""The lab's agenda sites: what is on, how each make of site writes it, and what goes wrong."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # a worker in production needs no lab
    from tidemill.lab.part import LabPart


def lab_part() -> "LabPart":
    """Return what events bring to the lab; only what demonstrates or simulates imports it."""
    from tidemill.verticals.events.lab.part import LAB  # noqa: PLC0415 - as above

    return LAB
