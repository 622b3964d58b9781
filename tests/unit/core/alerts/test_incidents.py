"""Incidents: one per alert and cause, told at a bounded rate, closed with a notice of recovery."""

from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest

from tidemill.core.alerts.incidents import (
    DRIFT_ALERTS,
    LONGEST_DETAIL,
    MESSAGE_INTERVAL,
    MOST_SUBJECTS,
    REPEATED_AFTER,
    IncidentChanges,
    MessageKind,
    OpenIncident,
    Telling,
    Trouble,
    decide_messages,
    findings_of,
    judge_incidents,
    length_in_words,
    pending_key,
)
from tidemill.core.alerts.table import AlertName, Severity
from tidemill.core.quality.drift import DriftRule

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
HOST = "host a.example"


def breaker(number: int = 1, cause: str = HOST) -> Trouble:
    return Trouble(
        alert=AlertName.BREAKER_OPEN, cause=cause, subject=f"source {number:02}", detail="it is open", vertical="v"
    )


def incident(**fields: Any) -> OpenIncident:
    usual: dict[str, Any] = {
        "id": 1, "alert": AlertName.BREAKER_OPEN, "cause": HOST, "detail": "it is open", "opened_at": NOON,
    }  # fmt: skip
    return OpenIncident(**usual | fields)


def kinds(told: Telling) -> list[MessageKind]:
    return [each.kind for each in told.messages]


def judge(*troubles: Trouble, known: Any = (), pending: Any = None, unknown: Any = (), now: datetime = NOON):
    return judge_incidents(known, pending or {}, troubles, unknown, now)


def test_thirty_sources_of_one_host_are_one_incident():
    (opened,) = judge(*(breaker(number) for number in range(30))).opened
    assert (opened.alert, opened.cause, len(opened.subjects)) == (AlertName.BREAKER_OPEN, HOST, 30)
    assert opened.detail == "it is open (and 29 more)"
    assert opened.vertical == "v"


def test_a_storm_is_two_messages_from_its_beginning_to_its_end():
    told, state, sent = [], incident(), 0
    for minute in range(60):
        now = NOON + minute * MINUTE
        if minute == 40:
            state = msgspec.structs.replace(state, closed_at=now)
        for message in decide_messages([state], now).messages:
            told.append(message.kind)
            sent += 1
            state = msgspec.structs.replace(state, told_at=now, was_sent=True)
        if MessageKind.RECOVERED in told:
            break
    assert told == [MessageKind.OPENED, MessageKind.RECOVERED]
    assert sent == 2


def test_two_hosts_are_two_incidents():
    assert len(judge(breaker(1), breaker(2, "host b.example")).opened) == 2


def test_what_is_open_is_followed_and_not_opened_again():
    changes = judge(breaker(), breaker(2), known=[incident()])
    assert changes.opened == ()
    ((key, finding),) = changes.again
    assert (key, finding.subjects) == (1, ("source 01", "source 02"))


def test_what_no_longer_holds_is_closed():
    assert judge(known=[incident()]).closed == (1,)


def test_an_alert_whose_check_failed_stays_as_it_is():
    changes = judge(
        known=[incident()],
        pending={pending_key("grade_degraded", "ourselves"): NOON},
        unknown=[AlertName.BREAKER_OPEN, AlertName.GRADE_DEGRADED],
        now=NOON + MINUTE,
    )
    assert changes == IncidentChanges(pending={pending_key("grade_degraded", "ourselves"): NOON})


def test_incidents_of_drift_are_left_to_the_end_of_runs():
    assert judge(known=[incident(is_drift=True)]).closed == ()


def test_an_alert_with_a_delay_opens_only_when_it_has_held_for_so_long():
    degraded = Trouble(alert=AlertName.GRADE_DEGRADED, cause="ourselves")
    first = judge(degraded)
    assert first.opened == ()
    assert first.pending == {"grade_degraded ourselves": NOON}
    almost = judge(degraded, pending=first.pending, now=NOON + 5 * MINUTE - timedelta(seconds=1))
    assert almost.opened == ()
    held = judge(degraded, pending=almost.pending, now=NOON + 5 * MINUTE)
    assert [each.alert for each in held.opened] == [AlertName.GRADE_DEGRADED]
    assert held.pending == {}


def test_a_delay_begins_anew_when_the_condition_was_gone_in_between():
    degraded = Trouble(alert=AlertName.GRADE_DEGRADED, cause="ourselves")
    gone = judge(pending=judge(degraded).pending, now=NOON + MINUTE)
    assert gone.pending == {}
    assert judge(degraded, pending=gone.pending, now=NOON + 6 * MINUTE).opened == ()


def test_subjects_and_details_are_bounded():
    many = [msgspec.structs.replace(breaker(number), detail="x" * 10_000) for number in range(80)]
    (finding,) = findings_of(many).values()
    assert len(finding.subjects) == MOST_SUBJECTS
    assert len(finding.detail) < LONGEST_DETAIL + 30


def test_troubles_of_several_verticals_belong_to_none():
    other = msgspec.structs.replace(breaker(2), vertical="w")
    (finding,) = findings_of([breaker(1), other]).values()
    assert finding.vertical == ""


def test_an_incident_is_told_once():
    assert kinds(decide_messages([incident()], NOON)) == [MessageKind.OPENED]
    told = incident(told_at=NOON, was_sent=True)
    assert decide_messages([told], NOON + MINUTE) == Telling()


def test_a_second_incident_of_a_cause_waits_for_five_minutes():
    told = incident(told_at=NOON, was_sent=True)
    new = incident(id=2, alert=AlertName.DNS_OR_TLS)
    assert decide_messages([told, new], NOON + MESSAGE_INTERVAL - MINUTE) == Telling()
    (message,) = decide_messages([told, new], NOON + MESSAGE_INTERVAL).messages
    assert [each.id for each in message.incidents] == [2]


def test_an_urgent_incident_is_not_held():
    told = incident(cause="adapter a", alert=AlertName.FAILURE_RATE, told_at=NOON, was_sent=True)
    urgent = incident(id=2, cause="adapter a", alert=AlertName.ADAPTER_DISABLED)
    (message,) = decide_messages([told, urgent], NOON + MINUTE).messages
    assert message.severity is Severity.P1


def test_an_urgent_incident_silences_the_others_of_its_cause():
    urgent = incident(id=2, cause="adapter a", alert=AlertName.ADAPTER_DISABLED)
    lesser = incident(id=3, cause="adapter a", alert=AlertName.FAILURE_RATE)
    elsewhere = incident(id=4, cause="adapter b", alert=AlertName.FAILURE_RATE)
    told = decide_messages([urgent, lesser, elsewhere], NOON)
    assert [[each.id for each in message.incidents] for message in told.messages] == [[2], [4]]
    assert told.silenced == (3,)


def test_an_urgent_incident_that_is_over_silences_nothing():
    urgent = incident(id=2, cause="adapter a", alert=AlertName.ADAPTER_DISABLED, closed_at=NOON)
    lesser = incident(id=3, cause="adapter a", alert=AlertName.FAILURE_RATE)
    told = decide_messages([urgent, lesser], NOON)
    assert [[each.id for each in message.incidents] for message in told.messages] == [[3]]


def test_what_was_over_before_it_was_told_is_not_told():
    assert decide_messages([incident(closed_at=NOON)], NOON) == Telling(silenced=(1,))


@pytest.mark.parametrize(
    ("fields", "repeats"),
    [({}, True), ({"is_acknowledged": True}, False), ({"was_sent": False}, False)],
    ids=["open", "acknowledged", "silenced"],
)
def test_an_open_incident_is_repeated_after_twelve_hours(fields: dict[str, Any], *, repeats: bool):
    state = incident(**{"told_at": NOON, "was_sent": True} | fields)
    assert decide_messages([state], NOON + REPEATED_AFTER - MINUTE) == Telling()
    assert kinds(decide_messages([state], NOON + REPEATED_AFTER)) == [MessageKind.REPEATED] * repeats


def test_a_snoozed_incident_is_silent_and_told_again_when_the_snooze_ends():
    until = NOON + timedelta(hours=20)
    state = incident(told_at=NOON, was_sent=True, snoozed_until=until)
    assert decide_messages([state], until - MINUTE) == Telling()
    assert kinds(decide_messages([state], until)) == [MessageKind.REPEATED]


def test_every_drift_rule_is_one_kind_of_incident():
    assert set(DRIFT_ALERTS) == set(DriftRule)


@pytest.mark.parametrize(
    ("length", "words"),
    [
        (timedelta(seconds=30), "0 min"),
        (timedelta(minutes=59), "59 min"),
        (timedelta(hours=5, minutes=20), "5 h 20 min"),
        (timedelta(days=2, hours=4, minutes=5), "2 d 4 h"),
        (timedelta(seconds=-5), "0 min"),
    ],
)
def test_a_length_is_said_in_words(length: timedelta, words: str):
    assert length_in_words(length) == words
