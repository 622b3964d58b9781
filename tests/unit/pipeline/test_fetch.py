import pytest

from rig.clock import NOON
from tidemill.core.failure import Failure
from tidemill.pipeline.fetch import EVIDENCE_BYTES, shortened_evidence, snooze_of
from tidemill.pipeline.ports import FetchResult, FetchStatus


def failed(body: bytes) -> FetchResult:
    return FetchResult(
        status=FetchStatus.TOO_LARGE, url="https://big.test/", failure=Failure.TOO_LARGE, body=body, wire_body=body
    )


def test_of_a_page_that_was_too_large_only_the_beginning_is_kept():
    kept = shortened_evidence(failed(b"<html>" + bytes(10_000_000)))
    assert len(kept.wire_body) == len(kept.body) == EVIDENCE_BYTES
    assert kept.body.startswith(b"<html>")
    assert kept.failure is Failure.TOO_LARGE


def test_a_small_failure_is_kept_whole():
    small = failed(b"<h1>403</h1>")
    assert shortened_evidence(small) is small


@pytest.mark.parametrize(("final_url", "rests"), [("https://big.test/x", True), ("https://other.test/", False)])
def test_a_robots_txt_that_cannot_be_read_elsewhere_rests_no_host_of_ours(final_url: str, *, rests: bool) -> None:
    closed = FetchResult(
        status=FetchStatus.ROBOTS_BLOCKED, url="https://big.test/", final_url=final_url, retry_at=NOON,
        failure=Failure.ROBOTS_DISALLOWED, error="robots.txt answered 503",
    )  # fmt: skip
    snooze = snooze_of(closed, None)  # type: ignore[arg-type]  # nothing of it is asked for here
    assert snooze is not None
    assert (snooze.until, snooze.whole_host) == (NOON, rests)
