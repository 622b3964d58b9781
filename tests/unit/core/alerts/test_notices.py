"""Notices: bounded, escaped, within Slack's limits, and sent to the right channels at the right time."""

from datetime import UTC, datetime, time, timedelta

import pytest

from tidemill.core.alerts.incidents import IncidentMessage, MessageKind, OpenIncident
from tidemill.core.alerts.messages import MOST_BLOCKS, MOST_LINES, AlertNotice, notice_of, plain_text, slack_body
from tidemill.core.alerts.routes import ChannelRoute, QuietHours, channels_for, quiet_hours, send_after
from tidemill.core.alerts.table import AlertName

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
SLACK_TEXT = 3_000


def incident(number: int = 1, detail: str = "it is open", closed_at: datetime | None = None) -> OpenIncident:
    return OpenIncident(
        id=number, alert=AlertName.BREAKER_OPEN, cause="host a.example", detail=detail, opened_at=NOON,
        closed_at=closed_at, subjects=("Acme",), vertical="v",
    )  # fmt: skip


def notice(*incidents: OpenIncident, kind: MessageKind = MessageKind.OPENED) -> AlertNotice:
    message = IncidentMessage(kind=kind, cause="host a.example", incidents=incidents)
    return notice_of(message, "https://docs.example/runbooks/", NOON + timedelta(minutes=7))


def test_a_notice_says_what_it_means_what_to_do_and_where_to_read_on():
    made = notice(incident())
    (paragraph,) = made.paragraphs
    assert made.title == "P2 breaker open: host a.example"
    assert "it is open [Acme]" in paragraph
    assert "reset the breaker" in paragraph
    assert "https://docs.example/runbooks/breaker-open.md" in paragraph
    assert "`tidemill incidents show 1`" in paragraph
    assert (made.severity, made.vertical) == ("P2", "v")


def test_the_title_of_our_own_trouble_says_what_it_is():
    ours = OpenIncident(
        id=1, alert=AlertName.DEAD_LETTERS, cause="ourselves", detail="87 dead letters are pending", opened_at=NOON
    )
    assert notice(ours).title == "P2 dead letters: 87 dead letters are pending"
    assert notice(ours, kind=MessageKind.RECOVERED).title == "Recovered: P2 dead letters: this installation"


def test_a_notice_of_recovery_says_how_long_it_took():
    made = notice(incident(closed_at=NOON + timedelta(minutes=7)), kind=MessageKind.RECOVERED)
    assert made.title.startswith("Recovered: P2")
    assert "is over after 7 min" in made.paragraphs[0]


def test_a_notice_of_many_incidents_names_ten_and_counts_the_rest():
    made = notice(*(incident(number) for number in range(1, 41)))
    assert made.title.endswith("(and 39 more)")
    assert len(made.paragraphs) == MOST_LINES + 1
    assert made.paragraphs[-1].startswith("30 more")


@pytest.mark.inventory(125)
def test_blocks_stay_within_the_limits_of_slack():
    long = AlertNotice(key="k", kind="x", title="t" * 500, paragraphs=("&" * 5_000,) * 80, at=NOON)
    blocks = slack_body(long)["blocks"]
    assert len(blocks) == MOST_BLOCKS
    assert len(blocks[0]["text"]["text"]) <= 150
    assert all(len(block["text"]["text"]) <= SLACK_TEXT for block in blocks)


def test_scraped_text_cannot_call_everybody():
    body = slack_body(notice(incident(detail="<!channel> & <https://evil.example|click>")))
    text = body["blocks"][1]["text"]["text"]
    assert "<" not in text
    assert "&lt;!channel&gt; &amp;" in text


def test_a_notice_that_may_have_been_sent_before_says_so():
    words = "This may have been sent before."
    assert words in slack_body(notice(incident()), words)["blocks"][-1]["text"]["text"]
    assert plain_text(notice(incident()), words).endswith(words)


@pytest.mark.parametrize(
    ("severity", "vertical", "expected"),
    [("P1", "a", ["chat", "mail"]), ("P3", "a", ["chat"]), ("P1", "b", ["chat"]), ("", "", ["chat", "mail"])],
)
def test_channels_are_chosen_by_severity_and_vertical(severity: str, vertical: str, expected: list[str]):
    routes = {"mail": ChannelRoute(severities=("P1",), verticals=("a",))}
    assert channels_for(severity, vertical, ["chat", "mail"], routes) == expected


NIGHT = QuietHours(time(22), time(7), "Europe/Amsterdam")


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        (datetime(2026, 3, 2, 12, tzinfo=UTC), datetime(2026, 3, 2, 12, tzinfo=UTC)),
        (datetime(2026, 3, 2, 21, tzinfo=UTC), datetime(2026, 3, 3, 6, tzinfo=UTC)),
        (datetime(2026, 3, 3, 5, tzinfo=UTC), datetime(2026, 3, 3, 6, tzinfo=UTC)),
        (datetime(2026, 3, 3, 6, tzinfo=UTC), datetime(2026, 3, 3, 6, tzinfo=UTC)),
        (datetime(2026, 3, 28, 23, tzinfo=UTC), datetime(2026, 3, 29, 5, tzinfo=UTC)),
    ],
    ids=["day", "evening", "morning", "the end", "the night the clock is put forward"],
)
def test_quiet_hours_hold_what_is_not_urgent(now: datetime, expected: datetime):
    assert send_after("P2", NIGHT, now) == expected
    assert send_after("P1", NIGHT, now) == now
    assert send_after("P2", None, now) == now


def test_quiet_hours_within_a_day_end_on_that_day():
    assert send_after("P3", QuietHours(time(11), time(13)), NOON) == NOON + timedelta(hours=1)


def test_quiet_hours_are_read_or_refused_with_what_to_write():
    assert quiet_hours("22:00-07:00", "Europe/Amsterdam") == NIGHT
    assert quiet_hours("", "UTC") is None
    for text, zone in (("22-", "UTC"), ("late-early", "UTC"), ("22:00-07:00", "Nowhere/Land")):
        with pytest.raises(ValueError, match="write 22:00-07:00"):
            quiet_hours(text, zone)
