"""Versions of what reads pages: told apart by their code as well, and held only where that was asked for."""

import pytest

from tidemill.core.replay.reading_version import ReadingVersion, reading_version

pytestmark = pytest.mark.shows("X1")
ONE, OTHER = ReadingVersion("1.1.0", "aa"), ReadingVersion("1.1.0", "bb")


@pytest.mark.parametrize("version", [ONE, ReadingVersion("1.1.0"), ReadingVersion("0.0.0+ff", "aa", exact=True)])
def test_a_version_is_read_back_as_it_was_written(version: ReadingVersion) -> None:
    assert reading_version(str(version)) == version


def test_code_is_compared_where_both_are_known() -> None:
    assert not ONE.is_alike(OTHER)
    assert ONE.is_alike(ReadingVersion("1.1.0"))
    assert not ONE.is_alike(ReadingVersion("1.2.0", "aa"))


def test_other_code_may_read_until_the_gate_asks_for_the_same() -> None:
    assert ONE.admits(OTHER)
    assert not ONE._replace(exact=True).admits(OTHER)
    assert ONE._replace(exact=True).admits(ONE)
    assert not ONE.admits(ReadingVersion("1.2.0", "aa"))
