"""How long an answer is waited for: longer where a site has become slow, until it is quick again."""

from datetime import timedelta

import msgspec

ANSWERS_REMEMBERED = 10
SLOW = timedelta(seconds=2)
QUICK = timedelta(seconds=0.5)
GROWTH = 1.5


class TimeoutPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """The usual and the longest time-out of one request, and how long a scrape with its retries may take."""

    usual: timedelta = timedelta(seconds=15)
    longest: timedelta = timedelta(seconds=45)
    scrape: timedelta = timedelta(seconds=45)
    is_adaptive: bool = True


class AdaptiveTimeout(msgspec.Struct, frozen=True):
    """A page's time-out, and the sum of the answers' times since it last moved."""

    limit: timedelta
    answers: int = 0
    total: timedelta = timedelta(0)


def after_answer(timeout: AdaptiveTimeout, took: timedelta, policy: TimeoutPolicy) -> AdaptiveTimeout:
    """Return the time-out after an answer: each ten are judged together by their mean."""
    if not policy.is_adaptive:
        return timeout
    answers, total = timeout.answers + 1, timeout.total + took
    if answers < ANSWERS_REMEMBERED:
        return AdaptiveTimeout(timeout.limit, answers, total)
    mean = total / answers
    if mean > SLOW:
        return AdaptiveTimeout(min(policy.longest, timeout.limit * GROWTH))
    return AdaptiveTimeout(policy.usual if mean < QUICK else timeout.limit)
