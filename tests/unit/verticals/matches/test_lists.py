"""Lists of the three sites: every match once, with its own address, and a hint that moves with the score."""

from collections.abc import Sequence
from datetime import datetime, timedelta

import pytest

from rig.played import START, scripted
from tidemill.core.live.rules import LIST_ROLE, LIVE_ROLE, ListReading, Phase
from tidemill.core.outcome import Fail
from tidemill.core.page import Page
from tidemill.core.source import Source
from tidemill.core.vertical import Context
from tidemill.lab.faults import ScheduledFault
from tidemill.verticals.matches.lab.faults import DroppedFromList, IdChanged, ListedTwice
from tidemill.verticals.matches.lab.sites import ADAPTERS as MAKES
from tidemill.verticals.matches.lab.sites import LISTS, SITES, MatchSites, match_path, site_id
from tidemill.verticals.matches.rules import LIVE_RULES
from tidemill.verticals.matches.sources import ADAPTERS

pytestmark = pytest.mark.shows("M1", "X5")


def listed(host: str, moment: datetime, scheduled: Sequence[ScheduledFault] = (), **settings: str) -> ListReading:
    sites = MatchSites([scripted("twenty"), scripted("retired")])
    body, headers = sites.page(host, LISTS[host], moment, scheduled, drawn=True)
    url = f"https://{host}{LISTS[host]}"
    adapter = ADAPTERS[MAKES[host]]
    source = Source(
        id=1, name="x", vertical="matches", base_url=url, adapter_id=adapter.id, adapter_settings=settings
    )  # fmt: skip
    context = Context(source, url, moment, {LIVE_ROLE: LIST_ROLE})
    page = Page(
        id=1, url=url, final_url=url, status_code=200, body=body or b"", charset="utf-8",
        content_type=headers["content-type"], digest=0, fetched_at=moment,
    )  # fmt: skip
    found = adapter.read(page, context)
    assert not isinstance(found, Fail)
    reading = LIVE_RULES.read_list(found, context)
    assert isinstance(reading, ListReading)
    return reading


@pytest.mark.parametrize("host", SITES)
def test_a_list_names_each_match_with_its_own_address(host: str) -> None:
    reading = listed(host, START)
    ids = [site_id(host, scripted(name)) for name in ("twenty", "retired")]
    assert [each.source_key for each in reading.listed] == ids
    assert [each.url for each in reading.listed] == [f"https://{host}{match_path(host, each)}" for each in ids]
    assert {each.outlook.phase for each in reading.listed} == {Phase.UPCOMING}
    assert reading.is_complete


@pytest.mark.parametrize("host", SITES)
def test_the_hint_of_a_listed_match_moves_with_its_score(host: str) -> None:
    hints = {listed(host, START + timedelta(minutes=minute)).listed[0].hint for minute in (10, 13, 16)}
    assert len(hints) == 3


@pytest.mark.parametrize("host", SITES)
def test_lists_that_drop_double_and_rename_are_read_as_they_are(host: str) -> None:
    def under(fault: DroppedFromList | ListedTwice | IdChanged) -> list[str]:
        scheduled = [ScheduledFault(host=host, kind="fault", fault=fault, begins=START)]
        return [each.source_key for each in listed(host, START, scheduled).listed]

    usual = [each.source_key for each in listed(host, START).listed]
    assert under(DroppedFromList()) == usual[1:]
    assert under(ListedTwice()) == [*usual, *(f"{name}-b" for name in usual)]
    assert under(IdChanged()) == [f"new-{name}" for name in usual]


def test_a_source_can_name_the_address_that_its_page_asks() -> None:
    reading = listed(SITES[2], START, match_url="/api/m/{id}.json")
    assert reading.listed[0].url == "https://board.test/api/m/b-twenty.json"
