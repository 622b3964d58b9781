"""The law of appointments, on made-up days: a schedule, a week for a broken target, and what stands in the way."""

from datetime import UTC, datetime, timedelta

from tidemill.lab.simulation.laws.schedules import AFTER_TROUBLE, SLACK, TargetTurn, gaps

START = datetime(2026, 11, 2, 6, tzinfo=UTC)
DAY = timedelta(days=1)
MINUTE = timedelta(minutes=1)


def days(*numbers: float) -> list[datetime]:
    return [START + number * DAY for number in numbers]


def test_a_daily_target_keeps_its_appointments_when_it_has_a_job_a_day():
    assert list(gaps(days(0, 1, 2, 3), DAY)) == []
    assert list(gaps(days(0, 1, 3), DAY)) == [tuple(days(1, 3))]


def test_a_target_that_broke_is_due_a_week_after_it_broke_and_not_later():
    broke = TargetTurn(START + DAY / 2, is_broken=True)
    on_time = broke.at + 7 * DAY + SLACK
    assert list(gaps([START, on_time], DAY, [broke])) == []
    assert list(gaps([START, on_time + MINUTE], DAY, [broke])) == [(START, on_time + MINUTE)]


def test_a_target_that_is_still_broken_is_looked_at_every_week():
    broke = TargetTurn(START, is_broken=True)
    assert list(gaps(days(0, 7, 14), DAY, [broke])) == []
    assert list(gaps(days(0, 7, 15), DAY, [broke])) == [tuple(days(7, 15))]


def test_a_target_that_answers_again_is_due_at_once():
    turns = [TargetTurn(START, is_broken=True), TargetTurn(START + 7 * DAY + MINUTE, is_broken=False)]
    assert list(gaps(days(0, 7, 7.05, 8.05), DAY, turns)) == []
    assert list(gaps(days(0, 7, 14), DAY, turns)) == [tuple(days(7, 14))]


def test_trouble_at_the_moment_it_is_due_puts_an_appointment_off_and_trouble_before_does_not():
    at_the_moment = (START + DAY / 2, START + 2 * DAY + AFTER_TROUBLE)
    before = (START + DAY / 4, START + DAY / 2)
    assert list(gaps([START, at_the_moment[1]], DAY, hindrances=[at_the_moment])) == []
    assert list(gaps(days(0, 2), DAY, hindrances=[before])) == [tuple(days(0, 2))]


def test_a_broken_target_whose_week_ends_in_trouble_waits_for_the_end_of_it():
    broke = TargetTurn(START, is_broken=True)
    trouble = (START + 6 * DAY, START + 9 * DAY)
    assert list(gaps(days(0, 9), DAY, [broke], [trouble])) == []
    assert list(gaps(days(0, 10), DAY, [broke], [trouble])) == [tuple(days(0, 10))]
