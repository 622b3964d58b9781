"""Prices as people write them."""

from decimal import Decimal

import pytest

from tidemill.reading import Money, parse_money


@pytest.mark.parametrize(
    ("text", "amount", "currency"),
    [
        ("€ 1.299,95", "1299.95", "EUR"), ("1 299,00 Kč", "1299.00", "CZK"), ("₹1,23,456.00", "123456.00", "INR"),
        ("CHF 19.–", "19", "CHF"), ("€ 19,-", "19", "EUR"), ("12,800円", "12800", "JPY"), ("US$ 5", "5", "USD"),
        ("R$ 1.299,90", "1299.90", "BRL"), ("129 990 ₽", "129990", "RUB"),
        ("99¢", "0.99", "USD"), ("50p", "0.5", "GBP"),
        ("0.299 KWD", "0.299", "KWD"), ("٣٬٤٣٩٫٠٠ درهم", "3439.00", "AED"), ("£12.00 inc VAT", "12.00", "GBP"),
        ("1.299 €", "1299", "EUR"), ("$426.20/EA", "426.20", "USD"), ("Widget - $12.99", "12.99", "USD"),
    ],
)  # fmt: skip
def test_a_price_is_read_in_the_manner_of_its_country(text: str, amount: str, currency: str) -> None:
    money = parse_money(text)
    assert money is not None
    assert (money.amount, money.currency) == (Decimal(amount), currency)
    assert money.is_plain


@pytest.mark.shows("B13")
@pytest.mark.parametrize(
    "text",
    ["", "-5,00 €", "€ -5", "$-12.99", "\u22125 €", "20%", "-20 %", "12-05-2024", "20:30", "1.5 kg", "5 reviews",
     "call us", "06-12345678", "1,5 l"],
)  # fmt: skip
def test_what_is_no_price_is_refused(text: str) -> None:
    assert parse_money(text) is None


def test_several_for_one_price_are_told_with_their_number() -> None:
    assert parse_money("3 voor €5") == Money(Decimal(5), "EUR", "€", quantity=3)
    assert parse_money("2 for $10") == Money(Decimal(10), "USD", "$", quantity=2)


@pytest.mark.parametrize("text", ["$10.00 – $20.00", "10 - 20 $", "$10 to $20"])
def test_a_range_keeps_both_its_ends(text: str) -> None:
    money = parse_money(text)
    assert money is not None
    assert (money.amount, money.high) == (Decimal(10), Decimal(20))
    assert not money.is_plain


@pytest.mark.shows("C2")
@pytest.mark.parametrize(("text", "unit"), [("€ 2,50 / kg", "kg"), ("$0.30 per round", "round"), ("26.9¢/rd", "rd")])
def test_a_price_per_unit_is_no_plain_price(text: str, unit: str) -> None:
    money = parse_money(text)
    assert money is not None
    assert money.per == unit
    assert not money.is_plain


@pytest.mark.parametrize("text", ["from $5", "vanaf € 5", "ab 5 €", "à partir de 5 €"])
def test_a_lowest_price_says_so(text: str) -> None:
    money = parse_money(text)
    assert money is not None
    assert money.is_from


@pytest.mark.parametrize(("page_currency", "code"), [("AUD", "AUD"), ("CAD", "CAD"), ("", "USD"), ("EUR", "USD")])
def test_a_dollar_is_the_pages_own(page_currency: str, code: str) -> None:
    money = parse_money("$5.00", page_currency=page_currency)
    assert money is not None
    assert money.currency == code


def test_a_krone_is_nobodys_until_the_page_says_whose() -> None:
    money = parse_money("199 kr")
    assert money is not None
    assert (money.currency, money.symbol) == ("", "kr")
    swedish = parse_money("199 kr", page_currency="SEK")
    assert swedish is not None
    assert swedish.currency == "SEK"


def test_free_is_zero_and_not_nothing() -> None:
    assert parse_money("Gratis") == Money(Decimal(0))


@pytest.mark.parametrize(
    ("text", "amount", "currency"),
    [
        ("vijf euro vijftig", "5.50", "EUR"), ("5 euro 50", "5.50", "EUR"), ("five hundred dollars", "500", "USD"),
        ("2 dollars and 5 cents", "2.05", "USD"), ("$10k", "10000", "USD"), ("1,5 miljoen euro", "1500000", "EUR"),
        ("twee-en-veertig pond", "42", "GBP"), ("42 Lebanese Pounds", "42", "LBP"), ("about ten euros", "10", "EUR"),
        ("€ 2 million", "2000000", "EUR"), ("3 GBP een penny", "3.01", "GBP"),
    ],
)  # fmt: skip
def test_amounts_in_running_text_are_told_in_words(text: str, amount: str, currency: str) -> None:
    money = parse_money(text)
    assert money is not None
    assert (money.amount, money.currency) == (Decimal(amount), currency)


@pytest.mark.parametrize(
    ("language", "text", "amount"),
    [("de", "fünfundzwanzig euro", "25"), ("fr", "vingt et un euros", "21"), ("es", "treinta y cinco euros", "35"),
     ("it", "ventotto euro", "28")],
)  # fmt: skip
def test_amounts_in_other_languages_come_from_their_tables(language: str, text: str, amount: str) -> None:
    money = parse_money(text, language=language)
    assert money is not None
    assert (money.amount, money.currency) == (Decimal(amount), "EUR")


@pytest.mark.parametrize("text", ["a hundred guests", "twee aanbiedingen", "five stars from ten people"])
def test_a_number_of_other_things_is_no_amount(text: str) -> None:
    assert parse_money(text) is None


@pytest.mark.parametrize(
    ("text", "amount", "currency"),
    [
        ("De kaartjes kosten vijf euro vijftig per stuk", "5.50", "EUR"),
        ("het project kost 2,5 miljoen euro", "2500000", "EUR"),
        ("a grant of $2.5 million", "2500000", "USD"),
        ("$1.2bn budget", "1200000000", "USD"),
        ("Tickets cost five dollars", "5", "USD"),
        ("honderdvijftig euro", "150", "EUR"),
        ("tweeduizend dollar", "2000", "USD"),
    ],
)
@pytest.mark.shows("C2")
def test_an_amount_in_words_is_read_out_of_a_sentence(text: str, amount: str, currency: str) -> None:
    money = parse_money(text)
    assert money is not None
    assert (money.amount, money.currency) == (Decimal(amount), currency)


def test_a_german_number_in_one_word_is_read_in_its_parts() -> None:
    money = parse_money("zweitausend Euro", language="de")
    assert money is not None
    assert money.amount == Decimal(2000)


def test_a_sentence_with_two_amounts_in_words_tells_neither() -> None:
    assert parse_money("between two million euro and five million euro") is None


@pytest.mark.parametrize(
    ("text", "amount", "currency"),
    [
        ("half a million dollars", "500000", "USD"),
        ("a quarter million euros", "250000", "EUR"),
        ("two and a half million dollars", "2500000", "USD"),
        ("$1.2bn", "1200000000", "USD"),
        ("five lakh rupees", "500000", "INR"),
        ("500 yen", "500", "JPY"),
        ("at least 20 dollars", "20", "USD"),
        ("99 pence", "0.99", "GBP"),
        ("two tenners", "20", "GBP"),
        ("anderhalf miljoen euro", "1500000", "EUR"),
        ("drie en een halve euro", "3.5", "EUR"),
        ("vijf eurocent", "0.05", "EUR"),
        ("twee tientjes", "20", ""),
        ("minder dan 100 dollar", "100", "USD"),
        ("zwanzig Euro f\u00fcnfzig", "20.5", "EUR"),
        ("3,5 Millionen Euro", "3500000", "EUR"),
        ("vingt euros cinquante", "20.5", "EUR"),
        ("quindici euro", "15", "EUR"),
    ],
)
def test_money_in_words_is_read_with_its_halves_and_its_multiples(text: str, amount: str, currency: str) -> None:
    money = parse_money(text)
    assert money is not None
    assert (money.amount, money.currency) == (Decimal(amount), currency)


def test_so_many_millions_that_nobody_can_put_together_are_no_small_price() -> None:
    assert parse_money("costo 3,5 milioni circa in tutto") is None


def test_a_word_behind_a_number_keeps_the_range() -> None:
    money = parse_money("from 10 to 20 dollars")
    assert money is not None
    assert (money.amount, money.high, money.currency) == (10, 20, "USD")
