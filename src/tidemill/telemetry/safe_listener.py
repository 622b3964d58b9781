"""Wrap a listener so that its errors never reach the engine."""

from collections.abc import Callable

from tidemill.pipeline.happenings import Announce, Happening

MOST_FAILURES_IN_A_ROW = 100
"""A listener that fails so often in a row is not called again."""


def never_raising(listener: Announce, report: Callable[[str, Exception], None]) -> Announce:
    """Return a listener that does the same and never raises.

    The first of its failures in a row goes to `report`, and the one after which it is given up; those between do not,
    because a full disk would otherwise fail once per page.
    """
    failures = 0

    def listen(happening: Happening) -> None:
        nonlocal failures
        if failures >= MOST_FAILURES_IN_A_ROW:
            return
        try:
            listener(happening)
        except Exception as error:  # noqa: BLE001 - a listener's bug must not cost a page; it goes to `report`
            failures += 1
            if failures == 1:
                report("a listener failed; the work goes on", error)
            elif failures == MOST_FAILURES_IN_A_ROW:
                report("a listener keeps failing and is not asked again", error)
        else:
            failures = 0

    return listen
