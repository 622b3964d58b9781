"""The lab's agenda sites: what is on, how each make of site writes it, and what goes wrong."""

from tidemill.lab.part import LabPart


def lab_part() -> LabPart:
    """Return what events bring to the lab; only what demonstrates or simulates imports it."""
    from tidemill.verticals.events.lab.part import LAB  # noqa: PLC0415 - a worker in production needs no lab

    return LAB
