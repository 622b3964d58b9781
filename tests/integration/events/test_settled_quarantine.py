"""What was set aside and is read well later waits for nobody any more."""

from pathlib import Path

import pytest

from rig.town import Town, a_town, agenda_page

pytestmark = pytest.mark.shows("N1")


def page(starts: str) -> str:
    return agenda_page([
        {"name": "Which day?", "startDate": starts, "url": "https://a.test/which"},
        {"name": "A sure thing", "startDate": "2026-04-05T20:00", "url": "https://a.test/sure"},
    ])  # fmt: skip


async def waiting(town: Town) -> list[tuple[str, str | None, int]]:
    rows = await town.rows("SELECT reason, review, times FROM rejected_records ORDER BY id")
    return [(row["reason"], row["review"], row["times"]) for row in rows]


async def test_a_later_reading_that_is_accepted_ends_the_wait(migrated_url: str, tmp_path: Path) -> None:
    async with a_town(migrated_url, tmp_path, llm_key="") as town:
        town.site.page("/agenda", page("maandag 4 april 2026"))
        await town.add_source()
        for _ in range(2):
            await town.scrape()
            town.site.page("/agenda", page("maandag 4 april 2026").replace("sure thing", "surer thing"))
            await town.next_day()
        assert await waiting(town) == [("contradictory_date", None, 2)]
        town.site.page("/agenda", page("zaterdag 4 april 2026"))
        await town.scrape()
        assert await waiting(town) == [("contradictory_date", "superseded", 2)]
        assert "Which day?" in await town.events()
