"""Roles, lockouts, lifetimes, quotas and secrets, decided."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rig.clock import NOON
from tidemill.core.access.lifetimes import is_link_open, is_session_open, is_token_valid
from tidemill.core.access.lockout import LONGEST_LOCK, FailedTries, after_wrong_try, locked_until
from tidemill.core.access.quota import RequestQuota
from tidemill.core.access.roles import Role, TokenScope
from tidemill.core.access.secrets_shown import TOKEN_MARK, hashed, name_problem, password_problem, visible_prefix

pytestmark = pytest.mark.shows("A4")
MINUTE = timedelta(minutes=1)


def test_an_admin_may_what_an_operator_may_and_a_viewer_may_not():
    assert Role.ADMIN.includes(Role.OPERATOR)
    assert not Role.VIEWER.includes(Role.OPERATOR)
    assert [scope.role for scope in TokenScope] == [Role.VIEWER, Role.OPERATOR, Role.ADMIN]


@pytest.mark.parametrize(("tries", "minutes"), [(4, 0), (5, 1), (6, 2), (7, 4), (8, 8), (11, 60), (400, 60)])
def test_from_the_fifth_wrong_try_on_the_lock_doubles_up_to_an_hour(tries: int, minutes: int):
    until = locked_until(FailedTries(tries, NOON), NOON)
    assert until == (NOON + timedelta(minutes=minutes) if minutes else None)


@given(tries=st.integers(min_value=0, max_value=10**9))
def test_no_lock_is_longer_than_an_hour(tries: int):
    assert (locked_until(FailedTries(tries, NOON), NOON) or NOON) <= NOON + LONGEST_LOCK


def test_tries_of_yesterday_are_forgotten():
    assert after_wrong_try(FailedTries(9, NOON), NOON + timedelta(hours=25)).count == 1
    assert after_wrong_try(FailedTries(9, NOON), NOON + timedelta(hours=23)).count == 10


def test_a_session_ends_twelve_hours_after_its_last_use_and_thirty_days_after_its_first():
    assert is_session_open(NOON, NOON, NOON + timedelta(hours=12))
    assert not is_session_open(NOON, NOON, NOON + timedelta(hours=12, seconds=1))
    later = NOON + timedelta(days=30)
    assert is_session_open(NOON, later, later)
    assert not is_session_open(NOON, later, later + timedelta(seconds=1))


def test_a_token_ends_at_its_moment_and_when_it_is_revoked():
    assert is_token_valid(None, None, NOON)
    assert is_token_valid(NOON + MINUTE, None, NOON)
    assert not is_token_valid(NOON, None, NOON)
    assert not is_token_valid(None, NOON, NOON + MINUTE)


def test_a_link_holds_for_fifteen_minutes_and_once():
    assert is_link_open(NOON, None, NOON + timedelta(minutes=15))
    assert not is_link_open(NOON, None, NOON + timedelta(minutes=16))
    assert not is_link_open(NOON, NOON, NOON)


def test_a_window_takes_so_many_requests_and_no_more_until_the_next_minute():
    quota = RequestQuota(reads=2, acts=1)
    assert [quota.take("a", NOON, acts=False).is_exceeded for _ in range(3)] == [False, False, True]
    assert not quota.take("a", NOON, acts=True).is_exceeded
    assert not quota.take("b", NOON, acts=False).is_exceeded
    after = quota.take("a", NOON + MINUTE, acts=False)
    assert (after.is_exceeded, after.remaining, after.reset_seconds) == (False, 1, 60)


def test_only_a_hash_of_a_secret_is_stored():
    shown = TOKEN_MARK + 43 * "x"
    assert shown not in hashed(shown)
    assert visible_prefix(shown) == "tm_xxxxxxx"


@pytest.mark.parametrize("password", ["short", "aaaaaaaaaaaaaa", "anna-the-great", "x" * 300])
def test_weak_passwords_are_refused_with_words(password: str):
    assert password_problem(password, "anna")


def test_a_sentence_is_a_password_and_a_name_is_plain():
    assert password_problem("herring on the quay", "anna") == ""
    assert name_problem("Anna de Vries") == ""
    assert name_problem(" anna")
    assert name_problem("a\x07")
