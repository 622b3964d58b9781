"""Agendas in the layouts that municipalities, venues and village halls use; none is anybody's page."""

from datetime import UTC, datetime

import pytest

from tidemill.reading import Document, ReadingContext
from tidemill.verticals.events.reading.events import read_events

pytestmark = pytest.mark.shows("P1")

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)

LAYOUTS = {
    "headings and spans": (
        ('<ul><li><h2><a href="/1">Raadsvergadering</a></h2><p><span>do 19 november 2026</span> <span>19:30 - 22:00 uur'
        '</span></p><p>Gemeentehuis</p></li><li><h2><a href="/2">Week van de ontmoeting</a></h2><p><span>27 november'
        " t/m 4 december 2026</span></p><p>Diverse locaties</p></li></ul>"),
        [("Raadsvergadering", "2026-11-19T19:30"), ("Week van de ontmoeting", "2026-11-27")],
    ),
    "a table": (
        ("<table><tr><th>Datum</th><th>Tijd</th><th>Activiteit</th></tr><tr><td>za 21-11</td><td>14.00</td>"
        "<td>Intocht</td></tr><tr><td>zo 22-11</td><td>11.00</td><td>Orgelconcert</td></tr></table>"),
        [("Intocht", "2026-11-21T14:00"), ("Orgelconcert", "2026-11-22T11:00")],
    ),
    "calendar leaves": (
        ('<div><a class="card" href="/1"><div><span>21</span><span>nov</span></div><h3>De Staat</h3><p>20:30</p></a>'
        '<a class="card" href="/2"><div><span>4</span><span>dec</span></div><h3>Nielson</h3><p>19:30</p></a></div>'),
        [("De Staat", "2026-11-21T20:30"), ("Nielson", "2026-12-04T19:30")],
    ),
    "days under months": (
        ('<h2>November 2026</h2><ul><li><strong>za 21</strong> <a href="/1">Pubquiz</a></li></ul><h2>December 2026</h2>'
        '<ul><li><strong>za 5</strong> <a href="/2">Pakjesavond</a></li></ul>'),
        [("Pubquiz", "2026-11-21"), ("Pakjesavond", "2026-12-05")],
    ),
    "items under two days": (
        ('<section><h3>Zaterdag 21 november</h3><div><span>14:00</span> <a href="/1">Kindertheater Pluk</a></div>'
        '<div><span>20:15</span> <a href="/2">Cabaretavond</a></div><h3>Zondag 22 november</h3>'
        '<div><span>15:00</span> <a href="/3">Matineeconcert</a></div></section>'),
        [("Kindertheater Pluk", "2026-11-21T14:00"), ("Cabaretavond", "2026-11-21T20:15"),
         ("Matineeconcert", "2026-11-22T15:00")],
    ),
    "terms and descriptions": (
        ('<dl><dt>vrijdag 20 november 2026, 20.00 uur</dt><dd><a href="/1">Lezing: De zee stijgt</a></dd>'
        '<dt>zaterdag 21 november 2026, 10.00 uur</dt><dd><a href="/2">Repair Café</a></dd></dl>'),
        [("Lezing: De zee stijgt", "2026-11-20T20:00"), ("Repair Café", "2026-11-21T10:00")],
    ),
    "two weeks of a calendar": (
        ("<h2>november 2026</h2><table><tr>"
        "<th>ma</th><th>di</th><th>wo</th><th>do</th><th>vr</th><th>za</th><th>zo</th>"
        '</tr><tr><td>16</td><td>17</td><td>18 <a href="/1">Spelletjesmiddag</a></td><td>19</td><td>20 <a href="/2">'
        'Bandavond</a></td><td>21</td><td>22</td></tr><tr><td>23</td><td>24</td><td>25</td><td>26 <a href="/3">Breicafé'
        "</a></td><td>27</td><td>28</td><td>29</td></tr></table>"),
        [("Spelletjesmiddag", "2026-11-18"), ("Bandavond", "2026-11-20"), ("Breicafé", "2026-11-26")],
    ),
    "paragraphs": (
        ("<h1>Activiteiten dorpshuis</h1><p><strong>Vrijdag 20 november: Bingo</strong><br>Aanvang 20.00 uur.</p>"
        "<p><strong>Zaterdag 28 november: Klaverjassen</strong><br>Aanvang 19.30 uur.</p>"),
        [("Bingo", "2026-11-20T20:00"), ("Klaverjassen", "2026-11-28T19:30")],
    ),
    "one event": (
        ("<main><h1>Winterwandeling door het bos</h1><p>Datum: zondag 13 december 2026<br>Tijd: 13.30 - 15.30 uur<br>"
        "Locatie: Parkeerplaats Zandkant</p><p>Wandel mee.</p></main>"),
        [("Winterwandeling door het bos", "2026-12-13T13:30")],
    ),
}  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS)
def test_titles_and_starts_are_read_from(layout: str) -> None:
    markup, expected = LAYOUTS[layout]
    found = read_events(Document(f"<html><body>{markup}</body></html>", "https://x.nl/agenda"), ReadingContext(now=NOW))
    read = [(record.fields["title"], record.fields["starts"][: len(starts)]) for record, (_, starts)
            in zip(found.records, expected, strict=True)]  # fmt: skip
    assert read == expected


def test_news_is_no_agenda() -> None:
    news = "".join(
        f'<article><h2><a href="/{day}">Fietsbrug {day}</a></h2><p>Gepubliceerd op {day} november 2026</p></article>'
        for day in (10, 12)
    )
    assert not read_events(Document(f"<main>{news}</main>", "https://x.nl/nieuws"), ReadingContext(now=NOW)).records
