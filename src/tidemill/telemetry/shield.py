"""A shield around a listener: whatever goes wrong in it never reaches the engine."""

from collections.abc import Callable

from tidemill.pipeline.happenings import Announce, Happening

PATIENCE = 100
"""A listener that fails so often in a row is not asked again."""


def shielded(listener: Announce, complain: Callable[[str, Exception], None]) -> Announce:
    """The same listener, which never raises.

    Its first failure in a row is told to `complain`, and the one with which it is given up; those between are
    not, because a full disk would otherwise fail once per page.
    """
    failures = 0

    def listen(happening: Happening) -> None:
        nonlocal failures
        if failures >= PATIENCE:
            return
        try:
            listener(happening)
        except Exception as error:  # noqa: BLE001 - a listener's bug must not cost a page; it is told to `complain`
            failures += 1
            if failures == 1:
                complain("a listener failed; the work goes on", error)
            elif failures == PATIENCE:
                complain("a listener keeps failing and is not asked again", error)
        else:
            failures = 0

    return listen
