from tidemill.core.failure import Failure
from tidemill.pipeline.fetch import EVIDENCE_BYTES, shortened_evidence
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
