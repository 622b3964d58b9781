"""The gates of core, each refusing and each letting through."""

from datetime import UTC, datetime

import msgspec
import pytest

from tidemill.core.failure import Failure
from tidemill.core.gates import GateDecision, compliance, source_on
from tidemill.core.policy import AGENDA
from tidemill.core.source import Source

SOURCE = Source(id=1, name="shop", vertical="prices", base_url="https://shop.example", adapter_id="prices.generic")
STRICT = msgspec.structs.replace(AGENDA, needs_approval=True)
APPROVED = msgspec.structs.replace(
    SOURCE, tos_reviewed_at=datetime(2026, 3, 1, tzinfo=UTC), tos_approved_by="Mila"
)  # fmt: skip


@pytest.mark.parametrize(
    ("source", "is_manual", "decision"),
    [(SOURCE, False, GateDecision.NO), (SOURCE, True, GateDecision.GO), (APPROVED, False, GateDecision.GO)],
    ids=["nobody approved", "a person asks", "approved"],
)
def test_terms_must_be_approved_where_the_policy_says_so(source, is_manual, decision):
    answer = compliance(source, STRICT, is_manual=is_manual)
    assert answer.verdict is decision
    assert (answer.failure is Failure.NOT_COMPLIANT) == (decision is GateDecision.NO)


def test_without_such_a_policy_nobody_need_approve():
    assert compliance(SOURCE, AGENDA).verdict is GateDecision.GO


def test_what_robots_forbids_by_a_persons_word_is_refused_even_if_approved():
    assert compliance(msgspec.structs.replace(APPROVED, robots_compliant=False), STRICT).verdict is GateDecision.NO


@pytest.mark.parametrize("off", [{"enabled": False}, {"auto_disabled": True}])
def test_a_source_that_is_off_is_refused(off):
    assert source_on(msgspec.structs.replace(SOURCE, **off)).failure is Failure.SOURCE_OFF
