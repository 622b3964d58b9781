"""A German town from a gazetteer file: searched and read in German, scraped as a source that is at home there."""

from pathlib import Path

import pytest

from rig.town import Town, a_town

pytestmark = pytest.mark.shows("E5")

GAZETTEER = """\
name,region,country,population,latitude,longitude,language,time_zone
Potsdam,Brandenburg,DE,184754,52.39886,13.06566,de,Europe/Berlin
Arnhem,Nirgends,DE,1200,50.1,10.2,de,Europe/Berlin
Irgendwo,Nirgends,Deutschland,12,52,13,de,Europe/Berlin
Nordpol,Nirgends,DE,12,952,13,de,Europe/Berlin
Turm,Nirgends,DE,12,52,13,klingon,Europe/Berlin
"""
TITLES = ["Orgelkonzert", "Lesung im Park", "Führung durch das Schloss", "Kinderfest", "Jazz am See", "Flohmarkt",
          "Weinabend", "Lange Nacht der Museen", "Filmnacht", "Chorprobe"]  # fmt: skip


def agenda() -> str:
    cards = [
        f'<li class="termin"><h3><a href="/termin/{number}">{title}</a></h3>'
        f"<p>Samstag, {number + 1}. Mai 2026, 19.30 Uhr</p><p>Nikolaisaal Potsdam</p></li>"
        if number % 7 == 1
        else f'<li class="termin"><h3><a href="/termin/{number}">{title}</a></h3>'
        f"<p>{number + 1}. Mai 2026, 19.30 Uhr</p><p>Nikolaisaal Potsdam</p></li>"
        for number, title in enumerate(TITLES)
    ]
    return (
        '<html lang="de"><head><title>Veranstaltungskalender Potsdam</title></head><body><main>'
        f"<h1>Veranstaltungen in Potsdam</h1><ul>{''.join(cards)}</ul></main></body></html>"
    )


async def with_gazetteer(town: Town) -> None:
    done = await town.system.discovery.import_places(GAZETTEER.encode())
    assert done.places == 2
    assert [problem.partition(":")[0] for problem in done.problems] == ["line 4", "line 5", "line 6"]
    assert "two letters" in done.problems[0]


async def test_a_town_of_another_country_becomes_a_source_in_its_own_language(
    migrated_url: str, tmp_path: Path
) -> None:
    async with a_town(migrated_url, tmp_path, llm_key="") as town:
        town.site.page("/termine", agenda())
        town.search.pages = {"Potsdam": [f"{town.site.origin}/termine"]}
        await with_gazetteer(town)
        assert town.search.asked == []
        done, _ = await town.system.discovery.run(None, ("Potsdam",))
        assert (done.asked, done.pending) == (5, 1)
        assert "was ist los in Potsdam" in town.search.asked

        (candidate,) = await town.system.discovery.listed()
        assert candidate.confidence > 0.6, candidate.reasons
        approved = await town.system.discovery.approve(candidate.id, "ans", enable=True)
        assert approved.source_id is not None
        source = await town.system.store.sources.find(approved.source_id)
        assert source is not None
        assert (source.city, source.language, source.time_zone) == ("Potsdam", "de", "Europe/Berlin")
        await town.scrape()
        events = await town.events()
        assert set(events) == set(TITLES)
        assert events["Kinderfest"]["event_date"].startswith("2026-05-04T19:30:00+02:00")
        assert abs(events["Kinderfest"]["latitude"] - 52.39886) < 0.01


async def test_a_town_of_the_same_name_abroad_is_another_place(migrated_sqlite_url: str, tmp_path: Path) -> None:
    async with a_town(migrated_sqlite_url, tmp_path) as town:
        await with_gazetteer(town)
        await with_gazetteer(town)
        places = {place.name: place for place in await town.system.store.places.every()}
        assert places["Arnhem"].country == "NL"
        assert (places["Arnhem (DE)"].country, places["Arnhem (DE)"].common_name) == ("DE", "Arnhem")
        assert len(places) == 344
