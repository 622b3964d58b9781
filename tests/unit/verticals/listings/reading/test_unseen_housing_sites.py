"""Result pages as the housing sites of many countries make them, and what a sign of money means in each."""

from datetime import UTC, datetime

import pytest

from tidemill.core.record import Found
from tidemill.core.source import Source
from tidemill.core.verdict import Accepted
from tidemill.core.vertical import Context
from tidemill.reading import Document
from tidemill.verticals.listings.reading import parse_rent, read_listings
from tidemill.verticals.listings.reading.rent import has_rent
from tidemill.verticals.listings.rules import judge

URL = "https://homes.example/rent"
SOURCE = Source(
    id=1, name="homes", vertical="listings", base_url=URL, adapter_id="listings.search", time_zone="UTC", language="en"
)


def read(card: str, *, heading: str = "Homes", before: str = "", behind: str = "") -> Found:
    cards = "".join(card.format(n=number) for number in range(1, 6))
    return read_listings(Document(f"<main><h1>{heading}</h1>{before}<ul>{cards}</ul>{behind}</main>", URL))


def kept(found: Found, **market: str) -> int:
    context = Context(SOURCE, URL, datetime(2026, 11, 19, tzinfo=UTC), {"market": "m", **market})
    return sum(isinstance(judge(record, context), Accepted) for record in found.records)


@pytest.mark.shows("L1b")
@pytest.mark.parametrize(
    ("text", "market", "cents", "currency"),
    [
        ("$650 per week", "AUD", 65_000, "AUD"),
        ("$1,950", "CAD", 195_000, "CAD"),
        ("$2,450/mo", "EUR", 245_000, "USD"),
        ("9 100 kr/mån", "SEK", 910_000, "SEK"),
        ("kr 12.500", "DKK", 1_250_000, "DKK"),
        ("Kč 18 000", "CZK", 1_800_000, "CZK"),
        ("180 000 Ft", "HUF", 18_000_000, "HUF"),
        ("₹1,25,000/month", "INR", 12_500_000, "INR"),
        ("฿15,000/month", "THB", 1_500_000, "THB"),
        ("R9 500 pm", "ZAR", 950_000, "ZAR"),
        ("R$ 2.500/mês", "BRL", 250_000, "BRL"),
    ],
)
def test_a_sign_of_several_currencies_is_the_markets(text: str, market: str, cents: int, currency: str) -> None:
    rent = parse_rent(text, market)
    assert has_rent(text)
    assert rent is not None
    assert (rent.low, rent.currency) == (cents, currency)


@pytest.mark.parametrize("text", ["700ft2", "1 200 ft²", "Unit R204", "Rm 204", "Try 3 days", "2 BR 4 R"])
def test_what_is_no_money_names_no_rent(text: str) -> None:
    assert not has_rent(text)


@pytest.mark.shows("L1b")
@pytest.mark.parametrize(
    ("card", "market"),
    [
        (
            "<li><a href='/d/{n}'><h3>{n} Smith Street, Fitzroy</h3></a><b>${n}50 per week</b><i>2 beds</i></li>",
            {"currency": "AUD"},
        ),
        (
            "<li data-adid='28{n}77'><a href='/s/w'>Helle 2</a><i>1043{n} Pankow</i><b>{n}20 €</b><i>5{n} qm</i></li>",
            {"currency": "EUR"},
        ),
        (
            "<li><a href='/ad/27{n}88' aria-label='T2'><i>{n}90 €</i><i>4{n} m²</i><i>Nantes 44000 Centre</i></a></li>",
            {"currency": "EUR"},
        ),
        (
            "<li><a href='/kamer-22{n}10'><b>Oude Ebbingestraat</b><i>1{n} m²</i><i>€ {n}95</i></a></li>",
            {"currency": "EUR"},
        ),
        (
            "<li><a href='/h/19{n}55'><h3>Bondegatan {n}2</h3><i>3{n} m²</i><b>1{n} 500 kr/mån</b></a></li>",
            {"currency": "SEK"},
        ),
        (
            "<li><a href='/88{n}21'><h3>Váci utca {n}, Budapest</h3><i>3{n} m²</i><b>18{n} 000 Ft</b></a></li>",
            {"currency": "HUF"},
        ),
    ],
    ids=["weeks", "town", "town behind", "street alone", "crowns", "forints"],
)
def test_a_home_without_a_whole_address_is_kept_by_its_place_and_number(card: str, market: dict[str, str]) -> None:
    found = read(card)
    assert len(found.records) == 5
    assert kept(found, **market) == 5


@pytest.mark.shows("L4")
@pytest.mark.parametrize(
    ("card", "id_"),
    [
        ("<li data-adid='281{n}7'><a href='/x/{n}'>{n} Oak Street</a><b>€ {n}95</b><i>2 rooms</i></li>", "28117"),
        ("<li><a href='/s/281{n}7710-203-3331'>{n} Oak Street</a><b>€ {n}95</b><i>4 rooms</i></li>", "28117710"),
        ("<li><a href='/r/b0f{n}a1c2/oak-street'>{n} Oak Street</a><b>€ {n}95</b><i>40 m²</i></li>", "b0f1a1c2"),
        (
            "<li data-agent-id='47{n}' data-image-id='8{n}81'><a href='/x'>{n} Oak Street</a><b>€ {n}95</b></li>",
            "",
        ),
    ],
    ids=["any attribute", "before its category", "between", "the agent's"],
)  # fmt: skip
def test_a_homes_number_is_the_sites_own(card: str, id_: str) -> None:
    assert read(card).records[0].fields.get("id", "") == id_


CARD = "<li><a href='/h/{n}1234'><h3>{address}</h3></a><b>€ 1.{n}25</b><i>4{n} m²</i></li>"


@pytest.mark.parametrize(
    ("told", "address"),
    [
        ("Appartement Witte de Withstraat {n}1", "Witte de Withstraat 11"),
        ("Zimmer, Venloer Straße {n}0", "Venloer Straße 10"),
        ("ul. Puławska {n}1, Mokotów, Warszawa", "ul. Puławska 11, Mokotów, Warszawa"),
        ("Biltstraat {n}20</h3><h3>3571 BD Utrecht", "Biltstraat 120, 3571 BD Utrecht"),
    ],
)
def test_a_street_of_several_words_is_read_whole(told: str, address: str) -> None:
    assert read(CARD.replace("{address}", told)).records[0].fields["address"] == address


@pytest.mark.parametrize(
    ("line", "total"),
    [
        ("<p>Er zijn 214 huurwoningen gevonden</p>", 214),
        ("<p>1 842 annonces</p>", 1_842),
        ("<div>5.210 risultati per: Affitto Milano</div>", 5_210),
        ("<span class='resultCount'>16,442</span> results", 16_442),
        ("<p>1 - 25 von 2.811 Ergebnissen</p>", 2_811),
        ("<p>231 bostäder</p>", 231),
        ("<p>Founded in 1998</p>", None),
    ],
)
def test_a_line_of_its_own_tells_the_total(line: str, total: int | None) -> None:
    assert read(CARD.replace("{address}", "{n} Oak Street"), before=line).total == total


def test_links_to_other_searches_are_no_homes() -> None:
    links = "".join(
        f"<li><a href='/{town}'>1 bedroom apartments in {town} from $1,900</a></li>" for town in ("Cam", "Quin", "Mal")
    )
    found = read(CARD.replace("{address}", "{n} Oak Street"), behind=f"<h2>Nearby</h2><ul class='x'>{links}</ul>")
    assert len(found.records) == 5
