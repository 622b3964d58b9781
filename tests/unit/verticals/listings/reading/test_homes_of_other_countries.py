"""Result cards as housing sites of several countries make them: address, rent, rooms, size, ids and totals."""

import pytest

from tidemill.core.record import Found
from tidemill.reading import Document
from tidemill.verticals.listings.reading import read_listings

CARDS = {
    "de": (
        '<li data-id="14{n}3377"><a href="/expose/14{n}3377"><h2>Helle Wohnung</h2></a><div>Torstra\u00dfe {n}'
        ", 10119 Berlin</div><dl><dd>1.{n}50,00 \u20ac</dd><dt>Kaltmiete</dt>"
        "<dd>6{n},50 m<sup>2</sup></dd><dt>Wohnfl\u00e4che</dt></dl>"
        '<a href="/share?id=1">Teilen</a></li>'
    ),
    "nl": (
        '<div class="result"><a href="/huur/appartement-8{n}339-keizersgracht-{n}/"><h2>Keizersgracht {n}-H</h2>'
        "<h4>1015 AB Amsterdam</h4></a><span>\u20ac 1.{n}50 /mnd</span><ul>"
        "<li>6{n} m\u00b2</li><li>3 kamers</li></ul></div>"
    ),
    "fr": (
        '<article class="annonce"><a href="/annonces/{n}88231.htm"><h3>Appartement 4{n} m\u00b2</h3></a>'
        '<p>{n} rue de Rivoli, 75001 Paris</p><p class="prix">1 {n}50 \u20ac / mois</p></article>'
    ),
    "gb": (
        '<div class="propertyCard" data-id="8{n}211"><a href="/properties/8{n}211"><h2>2 bedroom flat</h2>'
        "<address>{n} Baker Street, London NW1 6XE</address></a><span>\u00a31,{n}50 pcm</span></div>"
    ),
    "it": (
        '<li class="card"><a href="/annunci/9{n}3344/"><h2>Bilocale via Roma {n}, Milano</h2></a>'
        "<div>\u20ac 1.{n}00/mese</div><div>5{n} mq</div></li>"
    ),
    "us": (
        '<article data-id="{n}7771"><a href="/homedetails/{n}7771"><address>{n} Main St #2, Boston, MA 02118'
        "</address></a><span>$2,{n}50/mo</span><ul><li>2 bds</li><li>1 ba</li><li>70{n} sqft</li></ul></article>"
    ),
}
ADDRESSES = {
    "de": "Torstra\u00dfe 1, 10119 Berlin", "nl": "Keizersgracht 1-H, 1015 AB Amsterdam",
    "fr": "1 rue de Rivoli, 75001 Paris", "gb": "1 Baker Street, London NW1 6XE", "it": "via Roma 1, Milano",
    "us": "1 Main St #2, Boston, MA 02118",
}  # fmt: skip
IDS = {"de": "1413377", "nl": "81339", "fr": "188231", "gb": "81211", "it": "913344", "us": "17771"}


def read(country: str, heading: str = "") -> Found:
    cards = "".join(CARDS[country].format(n=number) for number in range(1, 6))
    markup = f"<html><body><main><h1>{heading}</h1><ul>{cards}</ul></main></body></html>"
    return read_listings(Document(markup, "https://homes.example/rent"))


@pytest.mark.parametrize("country", CARDS)
def test_every_card_is_a_home_with_an_address_and_an_id_of_its_own(country: str) -> None:
    records = read(country).records
    assert len({record.fields["id"] for record in records}) == len(records) == 5
    assert (records[0].fields["address"], records[0].fields["id"]) == (ADDRESSES[country], IDS[country])


@pytest.mark.parametrize("country", ["de", "nl", "fr", "it"])
def test_a_size_with_the_metres_in_any_form_is_read(country: str) -> None:
    assert "m" in str(read(country).records[0].fields["size"])


@pytest.mark.parametrize(
    ("country", "heading", "total"),
    [
        ("us", "28 Rentals", 28),
        ("de", "1.128 Mietwohnungen in Berlin", 1_128),
        ("nl", "312 huurwoningen in Amsterdam", 312),
        ("fr", "45 annonces", 45),
    ],
)
def test_the_total_is_what_the_heading_counts(country: str, heading: str, total: int) -> None:
    assert read(country, heading).total == total
