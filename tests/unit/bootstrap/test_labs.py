"""What verticals bring to the lab goes together: nobody takes another's option or world."""

from tidemill.bootstrap.labs import CORPORA, DEMO_OPTIONS, LAB_PARTS, SIMULATIONS, SITES_OPTIONS
from tidemill.bootstrap.verticals import VERTICALS


def test_every_part_is_a_verticals_own() -> None:
    names = [part.vertical for part in LAB_PARTS]
    assert set(names) <= set(VERTICALS)
    assert len(set(names)) == len(names)


def test_no_name_is_taken_twice() -> None:
    for names in (
        [option.name for option in SITES_OPTIONS],
        [option.name for option in DEMO_OPTIONS],
        [pages.path for pages in CORPORA],
        [part.simulation.name for part in LAB_PARTS if part.simulation],
    ):
        assert len(set(names)) == len(names)
    assert list(SIMULATIONS) == ["agendas", "homes"]


def test_options_conflict_with_options_that_there_are() -> None:
    names = {option.name for option in DEMO_OPTIONS}
    assert {other for option in DEMO_OPTIONS for other in option.conflicts} <= names
