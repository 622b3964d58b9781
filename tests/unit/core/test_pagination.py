import pytest

from tidemill.core.pagination import (
    FOLLOWED,
    LIST_ENDED,
    EndOfList,
    NextPage,
    followed_page,
    has_enough,
    next_page,
    onward_addresses,
    split_onward,
)

HERE = "https://arnhem.test/agenda"
SEEN = {HERE}


def test_the_next_page_is_followed_with_its_number():
    assert next_page(1, f"{HERE}?page=2", "arnhem.test", SEEN, 20) == NextPage(f"{HERE}?page=2", 2)


def test_a_list_without_a_next_page_has_ended():
    assert next_page(3, None, "arnhem.test", SEEN, 20) is LIST_ENDED


@pytest.mark.parametrize("again", [HERE, f"{HERE}/", f"{HERE}#top", "http://ARNHEM.test/agenda?utm_source=x"])
def test_a_list_that_leads_back_has_been_seen_whole(again):
    assert next_page(4, again, "arnhem.test", SEEN, 20) == EndOfList("the next page was seen before")


@pytest.mark.shows("X6")
def test_a_list_that_goes_on_past_the_limit_is_cut():
    stop = next_page(20, f"{HERE}?page=21", "arnhem.test", SEEN, 20)
    assert isinstance(stop, EndOfList)
    assert stop.truncated


def test_a_list_that_goes_on_past_what_is_wanted_of_it_is_cut():
    stop = next_page(4, f"{HERE}?page=5", "arnhem.test", SEEN, 20, has_enough=has_enough(4, 25, 100))
    assert stop == EndOfList("as many records as are wanted were seen", truncated=True)


def test_so_many_pages_as_long_as_this_one_hold_what_is_wanted():
    assert not has_enough(3, 25, 100)
    assert not has_enough(900, 25, None)


def test_another_part_of_the_same_site_is_followed():
    assert isinstance(next_page(1, "https://www.arnhem.test/p2", "arnhem.test", SEEN, 20), NextPage)


@pytest.mark.shows("X6")
@pytest.mark.parametrize(
    "foreign", ["https://elsewhere.test/agenda?page=2", "http://127.0.0.1/", "https://", "ftp://x"]
)
def test_another_site_is_never_followed_and_the_list_counts_as_cut(foreign):
    stop = next_page(1, foreign, "arnhem.test", SEEN, 20)
    assert isinstance(stop, EndOfList)
    assert stop.truncated


def test_a_list_on_a_host_that_is_counted_by_itself_is_followed_there_and_nowhere_else() -> None:
    here, beside = "https://api.arnhem.test/list?page=2", "https://www.arnhem.test/list?page=2"
    assert next_page(1, here, "api.arnhem.test", SEEN, 20) == NextPage(here, 2)
    assert isinstance(next_page(1, beside, "api.arnhem.test", SEEN, 20), EndOfList)


def test_a_followed_page_has_the_number_of_its_address_and_keeps_its_note():
    one = followed_page(f"{HERE}/7#note", "arnhem.test", SEEN, 1, 20)
    other = followed_page(f"{HERE}/7/?utm_source=x", "arnhem.test", SEEN, 5, 20)
    assert isinstance(one, NextPage)
    assert isinstance(other, NextPage)
    assert one.url == f"{HERE}/7#note"
    assert one.number == other.number >= FOLLOWED
    assert one.number < 2**31


@pytest.mark.parametrize(
    ("address", "pages", "truncated"),
    [("https://elsewhere.test/7", 1, True), (HERE, 1, False), (f"{HERE}/7", 20, True), ("javascript:x", 1, True)],
)
def test_a_page_elsewhere_seen_before_or_too_many_is_not_followed(address, pages, truncated):
    stop = followed_page(address, "arnhem.test", SEEN, pages, 20)
    assert isinstance(stop, EndOfList)
    assert stop.truncated is truncated


@pytest.mark.parametrize(
    ("next_url", "follow"), [(HERE, ()), (None, (f"{HERE}/1", f"{HERE}/2#x")), (HERE, (f"{HERE}/1",))]
)
def test_where_a_page_leads_is_one_text_and_back(next_url, follow):
    text = onward_addresses(next_url, follow)
    assert text is not None
    assert split_onward(text) == (next_url, list(follow))


def test_a_page_that_leads_nowhere_has_no_text():
    assert onward_addresses(None, ()) is None
