from tidemill.pipeline.happenings import Happening
from tidemill.telemetry.safe_listener import MOST_FAILURES_IN_A_ROW, never_raising
from unit.telemetry import announced


class Broken:
    """A listener that fails as often as it is told to."""

    def __init__(self, failures: int) -> None:
        self.failures = failures
        self.asked = 0

    def __call__(self, _happening: Happening) -> None:
        self.asked += 1
        if self.asked <= self.failures:
            msg = "no room on the disk"
            raise OSError(msg)


def test_a_listener_that_fails_is_told_once_and_costs_the_engine_nothing() -> None:
    told: list[str] = []
    listener = Broken(3)
    listen = never_raising(listener, lambda words, error: told.append(f"{words}: {error}"))
    for _ in range(10):
        listen(announced.PAGE_GOT)
    assert listener.asked == 10
    assert told == ["a listener failed; the work goes on: no room on the disk"]


def test_a_listener_that_never_recovers_is_given_up() -> None:
    told: list[str] = []
    listener = Broken(10**6)
    listen = never_raising(listener, lambda words, _error: told.append(words))
    for _ in range(MOST_FAILURES_IN_A_ROW * 2):
        listen(announced.PAGE_GOT)
    assert listener.asked == MOST_FAILURES_IN_A_ROW
    assert told[-1] == "a listener keeps failing and is not asked again"
