"""Records that cannot be kept cost none of their neighbours, and each is accounted for."""

import pytest

from rig.town import agenda_page, happening

pytestmark = pytest.mark.shows("N1")

BAD = {
    17: {"name": "", "startDate": "2026-04-04T20:00"},
    23: {"name": "Zonder datum"},
    42: {"name": "Ooit", "startDate": "binnenkort"},
    64: {"name": "Lang geleden", "startDate": "2011-04-04T20:00"},
    88: {"name": "Welke dag?", "startDate": "maandag 4 april 2026"},
}
PAGE = agenda_page([BAD.get(number) or happening(f"Avond {number}") for number in range(100)])


async def test_of_a_hundred_records_with_five_bad_ones_95_are_saved_and_5_accounted_for(town):
    arnhem = await town(llm_key="")
    arnhem.site.page("/agenda", PAGE)
    await arnhem.add_source()
    await arnhem.scrape()
    assert len(await arnhem.events()) == 95
    (run,) = await arnhem.rows("SELECT * FROM scrape_runs")
    counts = [run[f"records_{name}"] for name in ("read", "accepted", "dropped", "quarantined")]
    assert (run["status"], counts) == ("SUCCESS", [100, 95, 4, 1])
    rejected = await arnhem.rows("SELECT verdict, reason FROM rejected_records ORDER BY id")
    assert [(row["verdict"], row["reason"]) for row in rejected] == [
        ("dropped", "no_title"),
        ("dropped", "no_date"),
        ("dropped", "unreadable_date"),
        ("dropped", "long_past"),
        ("quarantined", "contradictory_date"),
    ]
