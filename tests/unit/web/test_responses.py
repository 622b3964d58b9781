from types import SimpleNamespace

from tidemill.web.responses import Listed, list_page

ITEMS = [SimpleNamespace(id=key, name=f"n{key}") for key in (5, 6, 7)]


def test_a_page_goes_on_after_its_last_item_when_more_was_found():
    assert list_page(ITEMS, 2) == Listed(ITEMS[:2], "6")
    assert list_page(ITEMS, 2, lambda last: last.name) == Listed(ITEMS[:2], "n6")


def test_the_last_page_names_nothing_to_go_on_from():
    assert list_page(ITEMS, 3) == Listed(ITEMS)
    assert list_page([], 3) == Listed([])
