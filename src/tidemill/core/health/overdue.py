"""What of the schedule did not happen, in the sentences that every face uses, so that no two contradict."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from tidemill.core.health.system import SeenWorker, is_working

TICK = "tick "
"""What the subject of overdue periodic work begins with."""


def missed_targets(count: int) -> str:
    """Return what is said of a source whose due targets got no job."""
    return f"{count} target{' is' if count == 1 else 's are'} due and got no job"


def overdue_sentence(subject: str, detail: str) -> str:
    """Return the sentence about one overdue subject, such as `tick dispatch`."""
    return f"{subject} is overdue: {detail}"


def silence_sentence(late: int, workers: Sequence[SeenWorker], now: datetime, lease: timedelta) -> str:
    """Return one sentence for all silent periodic work if simply no process runs; '' if there is none, or one runs."""
    if not late or any(is_working(each.seen_at, each.ended_at, now, lease) for each in workers):
        return ""
    last = max((each.ended_at or each.seen_at for each in workers), default=None)
    since = "" if last is None else f" since {last:%Y-%m-%d %H:%M} UTC"
    pieces = "1 piece of periodic work is" if late == 1 else f"{late} pieces of periodic work are"
    return f"{pieces} silent{since}: no `tidemill up` or worker runs here"


def overdue_sentences(
    late: Sequence[tuple[str, str]], workers: Sequence[SeenWorker], now: datetime, lease: timedelta
) -> list[str]:
    """Return a sentence for each overdue subject, such as `tick dispatch`; one for all ticks if no process runs."""
    ticks = sum(subject.startswith(TICK) for subject, _ in late)
    silence = silence_sentence(ticks, workers, now, lease)
    listed = [each for each in late if not (silence and each[0].startswith(TICK))]
    return [*([silence] if silence else []), *(overdue_sentence(*each) for each in listed)]
