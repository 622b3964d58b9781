from datetime import UTC, datetime

import pytest

from tidemill.core.record import RawRecord, Strategy
from tidemill.core.source import Source
from tidemill.core.verdict import Accepted, Quarantined
from tidemill.core.vertical import Context
from tidemill.verticals.events.definition import EVENTS
from tidemill.verticals.events.gazetteer import MUNICIPALITIES, town
from tidemill.verticals.events.images import picture


@pytest.mark.shows("E5")
def test_all_municipalities_are_there_with_people_and_places():
    assert len(MUNICIPALITIES) == 342
    assert sum(place.population for place in MUNICIPALITIES) == 17_942_942
    assert all(50.7 < place.coordinates.latitude < 53.6 for place in MUNICIPALITIES)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("Den Haag", "'s-Gravenhage"),
        ("DEN BOSCH", "'s-Hertogenbosch"),
        ("\N{RIGHT SINGLE QUOTATION MARK}s-Hertogenbosch", "'s-Hertogenbosch"),
        ("Sudwest-Fryslan", "Súdwest-Fryslân"),
        ("Nuenen", "Nuenen, Gerwen en Nederwetten"),
        ("Gemeente  Arnhem", "Arnhem"),
        ("Zaandam", "Zaanstad"),
    ],
)
def test_a_town_is_known_by_every_name_that_people_write(written, meant):
    assert town(written).name == meant


@pytest.mark.parametrize("written", ["Bergen", "Hengelo", "Parijs", ""])
def test_a_name_of_several_towns_or_none_says_nothing(written):
    assert town(written) is None


@pytest.mark.shows("E1")
@pytest.mark.parametrize(
    "url",
    [
        "data:image/png;base64,AAAA",
        "https://www.facebook.com/tr?id=1&ev=PageView",
        "https://site.test/img/1x1.png",
        "https://site.test/spacer.gif",
        "https://site.test/assets/logo.png",
        "https://site.test/assets/site-logo-wit.png",
        "https://site.test/sprite.png",
        "https://pixel.stats.test/p.png",
        "https://site.test/thumb-32x32.jpg",
        "https://site.test/img.jpg?w=16",
        "https://site.test/icons/music.png",
        "https://site.test/no-image.jpg",
        "//site.test/a.jpg",
        "javascript:alert(1)",
        "https://site.test/" + "a" * 3_000 + ".jpg",
    ],
)
def test_what_shows_nothing_of_the_event_is_no_picture_of_it(url):
    assert picture(url) is None


@pytest.mark.shows("E1")
@pytest.mark.parametrize(
    "url",
    [
        "https://site.test/uploads/2026/03/kermis-800x600.jpg",
        "https://site.test/img.php?id=7&w=1200",
        "https://cdn.site.test/concert.webp",
        "https://site.test/catalogo/feest.jpg",
        "https://site.test/logopedie/open-dag.jpg",
    ],
)
def test_a_picture_of_the_event_is_kept(url):
    assert picture(url) == url


@pytest.mark.shows("E1b")
@pytest.mark.parametrize(
    ("city", "zone", "expected"),
    [
        ("Potsdam", "Europe/Berlin", Accepted),
        ("München", "Europe/Berlin", Accepted),
        ("Firenze", "Europe/Rome", Accepted),
        ("Sevilla", "Europe/Madrid", Accepted),
        ("Liège", "Europe/Brussels", Accepted),
        ("Boston", "America/New_York", Accepted),
        ("Neustadt", "Europe/Berlin", Quarantined),
        ("Potsdam", "Europe/Rome", Quarantined),
        ("", "Europe/Berlin", Quarantined),
    ],
)
def test_an_event_is_kept_where_its_sources_town_is_known_and_waits_elsewhere(
    city: str, zone: str, expected: type
) -> None:
    source = Source(
        id=1, name="haus", vertical="events", base_url="https://haus.example/", adapter_id="events.generic", city=city,
        time_zone=zone,
    )  # fmt: skip
    raw = RawRecord(
        fields={"title": "Lichterfest", "starts": "2026-12-01"}, strategy=Strategy.JSONLD, confidence=0.9, origin="x"
    )
    verdict = EVENTS.judge(raw, Context(source, "https://haus.example/", datetime(2026, 11, 1, tzinfo=UTC)))
    assert isinstance(verdict, expected)
    if isinstance(verdict, Quarantined):
        assert (verdict.reason, verdict.subject) != ("no_place", "")
        assert "give the source a city that is known, or coordinates" in verdict.detail
