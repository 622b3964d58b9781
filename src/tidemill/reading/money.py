"""Prices as people write them: `€ 1.299,95`, `1 299 kr`, `₹1,23,456`, `2 for $10`, `from £5 to £9`, `99¢`.

The numbers are read by price-parser; what it would take for a price and is none, and what belongs to a price
beside its number (a sign, a range, a quantity, a unit), is ours.
"""

import re
import unicodedata
from decimal import Decimal

import msgspec
from price_parser import Price

from tidemill.reading.amounts.worded_money import currency_beside, worded_amount
from tidemill.reading.currencies import currency_code

_LONGEST = 200
_WORDY = re.compile(
    r"[^\W\d_]{4}|\d\s?(?:k|bn|mn|mln|mio|mrd)\b|[$€£]\s?\d[\d.,]*\s?m\b|[^\W\d_]\s+\d+\D*$|[$€£]\s?\d+\s+(?:and\s|en\s)?\d|\d\s?(?:c|rm|le|l\.e\.?)\b",
    re.IGNORECASE,
)
_MANY = re.compile(
    r"\d\s(?:mill?i(?:on|ón|one|ões|oen)\w*|mil(?:li|j|i)ard\w*|tausend|mila|millones|milioni|lakhs?|crores?|mln|"
    r"млн|тыс)\b",
    re.IGNORECASE,
)
"""A number that a word multiplies."""
_LETTER_WITHIN = re.compile(r"\d[^\W\d_]{1,2}[.,]?\d")
"""A letter among digits: no number, however much of it could be read."""
_DIGITS = re.compile(r"\d")
_NUMBER = r"\d[\d.,' \u00a0\u202f\u2009’]*"
_SIGN = r"[$€£¥￥₹₽₺₩₫₪₴฿₱₦₸₡]|(?:[A-Z]{3}|kr|Kč|zł|Ft|Rs|Rp|RM|R)\.?"
_NEGATIVE = re.compile(rf"(?:^|(?<!\d)[\s(:])[-\u2212](?:(?:{_SIGN})\s?)?\d|(?:{_SIGN})\s?[-\u2212]\d")
_PERCENT = re.compile(r"^\W*\d+(?:[.,]\d+)?\s*%")
_SEVERAL = re.compile(
    rf"\b(?P<quantity>\d{{1,3}})\s*(?:x|×|stuks?|pack|pcs|st)?\s*(?:voor|for|für|pour|por|per|za|for|å|/|=)\s*"
    rf"(?P<price>(?:{_SIGN})\s*{_NUMBER}|{_NUMBER}\s*(?:{_SIGN}))",
    re.IGNORECASE,
)
_RANGE = re.compile(
    rf"(?P<low>{_NUMBER})\s*(?:{_SIGN})?\s*(?:-|\u2013|\u2014|~|\bto\b|\bbis\b|\btot\b|\bà\b|\baté?\b|\bdo\b|\ba\b)\s*"
    rf"(?P<high>(?:{_SIGN})?\s*\d{_NUMBER[2:]})",
    re.IGNORECASE,
)
_FROM = re.compile(
    r"(?:^|\b)(?:from|starting (?:at|from)|as low as|vanaf|v\.a\.|ab|fra|från|à partir de|a partir de|desde|od|da|"
    r"alkaen|от|от:|начиная с)\b",
    re.IGNORECASE,
)
_PER = re.compile(
    r"(?:/|\bper\b|\bpro\b|\bje\b|\bpar\b|\bpor\b|\bza\b|\bal\b|\ble\b)\s*(?:1\s*)?"
    r"(?P<unit>\d*\s?(?:kg|kilo\w*|g|gr|gram\w*|l|lit\w*|ltr|ml|cl|m|m2|m²|m3|meter|metre|mtr|cm|oz|fl\.? ?oz|lb|lbs|"
    r"pound|sq\.? ?ft|ft|yd|yard|rd|rds|round|rounds|shot|dose|tab\w*|caps\w*|sheet|wash|month|mo|mth|maand|monat|"
    r"mois|mes|week|day|dag|night|nacht|year|jaar|100\s?g|100\s?ml))\b",
    re.IGNORECASE,
)
_CENTS = re.compile(r"^\D{0,12}(?P<cents>\d{1,3}(?:[.,]\d{1,2})?)\s*(?:¢|cents?\b|c\b(?!\$)|ct\b|p\b)", re.IGNORECASE)
_PENCE = re.compile(r"\d\s?p\b")
_NO_PRICE = re.compile(
    r"^\D{0,20}\d[\d.,]*\s*(?:kg|g|gr|mg|ml|cl|l|cm|mm|km|inch|in|oz|lbs?|w|v|hz|gb|tb|mb|mp|mah|reviews?|stars?|"
    r"sterren|ratings?|beoordelingen|bewertungen|avis|pieces?|stuks|stück|pcs|points?|punten|days?|dagen|uur|hours?|"
    r"years?|jaar|jahre|grain|gr\b|rounds?|rds?)\b",
    re.IGNORECASE,
)
_APOSTROPHE = re.compile(r"(?<=\d)[’ʼ´](?=\d{3})")
_DATE = re.compile(r"\b\d{1,4}[-/]\d{1,2}[-/]\d{2,4}\b|\b\d{1,2}:\d{2}\b|\+?\d[\d ]*-\d{5,}")
_SMALL = re.compile(r"^\D*0[.,]\d{3,}\D*$")
_FREE = re.compile(r"^\W*(?:free|gratis|kostenlos|gratuit|gratuito|grátis|zdarma|ilmainen)\W*$", re.IGNORECASE)


class Money(msgspec.Struct, frozen=True, gc=False):
    """An amount of a currency.

    `currency` is its ISO code ('' if the text names none that we know), `symbol` what the text writes for it.
    `high` is the upper end of a range, of which `amount` is the lower; `is_from` says that it is only a lowest price.
    `quantity` is how many the amount buys; `per` the unit that it is asked for, when that is no single thing.
    """

    amount: Decimal
    currency: str = ""
    symbol: str = ""
    high: Decimal | None = None
    is_from: bool = False
    quantity: int = 1
    per: str = ""

    @property
    def is_plain(self) -> bool:
        """Whether it is the price of one thing, no range, bundle, unit price or lowest price."""
        return self.high is None and not self.is_from and self.quantity == 1 and not self.per


def parse_money(
    text: str,
    hint: str = "",
    *,
    page_currency: str = "",
    language: str = "",
    decimal_separator: str | None = None,
    digit_group_separator: str | None = None,
) -> Money | None:
    """The price that a text tells; None if it tells none: no number, a percentage, a discount, a date, a weight.

    Amounts are read as running text tells them too, in the words of `language` (Dutch and English if it is not given):
    `vijf euro vijftig`, `$10k`, `five dollars`.

    `hint` is text that stands beside it and may name its currency; `page_currency` the ISO code of the page's own,
    which decides what `$` or `kr` means. The separators are only for texts whose spelling the caller knows.
    """
    line = _plain(text)
    if line and _has_words(line) and (told := worded_amount(line, language, page_currency=page_currency)) is not None:
        return Money(told.amount, told.currency, told.symbol)
    if line and _MANY.search(line) is not None:
        return None  # so many millions, in words that nobody could put together
    if not line or _is_no_price(line):
        return Money(Decimal(0), page_currency) if line and _FREE.match(line) else None
    if (cents := _in_cents(line, page_currency)) is not None:
        return cents
    several = _SEVERAL.search(line)
    line, quantity = (several["price"], int(several["quantity"])) if several else (line, 1)
    found = _parsed(line, hint, decimal_separator, digit_group_separator)
    if found is None or found.amount is None:
        return None
    return _money(line, found, found.amount, page_currency, quantity)


def _has_words(line: str) -> bool:
    return _WORDY.search(line) is not None and _LETTER_WITHIN.search(line) is None


def _plain(text: str) -> str:
    """The text on one line, with digits and signs as ASCII and Unicode's plainest know them."""
    if not text or len(text) > _LONGEST:
        return ""
    if text.isascii():
        return text.strip()
    plain = _APOSTROPHE.sub("'", "".join(_digit(character) for character in text))
    return plain.replace("٬", "").replace("٫", ".").strip()


def _digit(character: str) -> str:
    if character.isdecimal() and not character.isascii():
        return str(unicodedata.decimal(character))
    return character


def _is_no_price(line: str) -> bool:
    if not _DIGITS.search(line) or _PERCENT.match(line) or _NEGATIVE.search(line):
        return True
    return bool(_NO_PRICE.match(line) or _DATE.search(line))


def _in_cents(line: str, page_currency: str) -> Money | None:
    match = _CENTS.match(line)
    if match is None or re.search(rf"(?:{_SIGN})\s*\d", line):
        return None
    currency = "GBP" if _PENCE.search(line) else page_currency or ("USD" if "¢" in line else "")
    per = _PER.search(line)
    amount = Decimal(match["cents"].replace(",", ".")) / 100
    return Money(amount, currency, "¢", per=per["unit"].strip() if per else "")


def _parsed(line: str, hint: str, decimal: str | None, groups: str | None) -> Price | None:
    if decimal is None and _SMALL.match(line):
        decimal = "." if "." in line else ","
    try:
        return Price.fromstring(
            line, currency_hint=hint or None, decimal_separator=decimal, digit_group_separator=groups
        )
    except (ValueError, ArithmeticError):
        return None


def _money(line: str, found: Price, amount: Decimal, page_currency: str, quantity: int) -> Money:
    symbol = found.currency or ("" if line.isascii() else _foreign_sign(line))
    currency = currency_code(symbol, page_currency) if symbol else ""
    if not symbol:
        currency, symbol = currency_beside(line)
    per = _PER.search(line)
    return Money(
        amount=amount,
        currency=currency,
        symbol=symbol,
        high=_high(line, amount),
        is_from=bool(_FROM.search(line)),
        quantity=quantity,
        per=per["unit"].strip() if per else "",
    )


_AMOUNT_ITSELF = re.compile(r"\d[\d.,' ]*")
_LONGEST_SIGN = 8


def _foreign_sign(line: str) -> str:
    """What stands beside a number and nothing else, where it is a currency's name in another script."""
    beside = _AMOUNT_ITSELF.sub("", line).strip()
    return beside if 0 < len(beside) <= _LONGEST_SIGN and currency_code(beside) else ""


def _high(line: str, low: Decimal) -> Decimal | None:
    match = _RANGE.search(line)
    if match is None:
        return None
    upper = Price.fromstring(match["high"])
    return upper.amount if upper.amount is not None and upper.amount > low else None
