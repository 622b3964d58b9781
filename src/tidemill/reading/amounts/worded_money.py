"""Amounts as running text tells them: `five hundred dollars`, `$10k`, `5 euro 50`, `2 dollars and 5 cents`.

The currency must stand beside the number, before it or behind it; what multiplies the number and how many of the
small unit follow belong to the same amount. Words by language are in `numbers`, currencies in the tables below.
"""

import re
from decimal import Decimal

import msgspec

from tidemill.reading.amounts.numbers import number_at
from tidemill.reading.currencies import currency_code
from tidemill.reading.currency_codes import CODES

_WORDS = {
    "EUR": "euro euros €ur eurootje eurootjes", "GBP": "pound pounds sterling quid pond ponden gbp",
    "USD": "dollar dollars usd us$ dólar dólares", "JPY": "yen", "CNY": "yuan renminbi rmb",
    "INR": "rupee rupees roepie roepies",
    "CHF": "franc francs frank franken francs", "KRW": "won", "TRY": "lira lire", "ILS": "shekel shekels nis sjekel",
    "RUB": "ruble rubles rouble roubles roebel roebels", "PLN": "zloty złoty zlotys", "MYR": "ringgit ringgits rm",
    "UAH": "hryvnia hryvnias hryvna hryvnas", "VND": "dong đồng vnd", "IDR": "rupiah rp", "THB": "baht", "ZAR": "rand",
    "SAR": "riyal riyals saudiriyal", "QAR": "qatari", "AED": "dirham dirhams dhs", "KWD": "kuwaiti kd",
    "EGP": "egyptianpound egyptianpounds geneh genih genihat l.e l.e. le", "MNT": "tugrik tugriks tugrug",
    "BRL": "real reais", "BTC": "bitcoin bitcoins", "BGN": "leva lev", "RON": "leu lei", "CZK": "kroon koruna",
    "LBP": "lebaneselira", "JOD": "jordaniandinar", "IRR": "", "PTS": "",
}  # fmt: skip
_NATIONS = {
    "lebanese": "LBP", "egyptian": "EGP", "british": "GBP", "english": "GBP", "american": "USD", "us": "USD",
    "canadian": "CAD", "australian": "AUD", "malaysia": "MYR", "malaysian": "MYR", "saudi": "SAR", "qatari": "QAR",
    "kuwaiti": "KWD", "jordanian": "JOD", "emirati": "AED", "uae": "AED", "omani": "OMR", "iraqi": "IQD",
    "indian": "INR",
    "japanese": "JPY", "swiss": "CHF", "mexican": "MXN", "singapore": "SGD", "ukrainian": "UAH", "russian": "RUB",
    "mongolian": "MNT", "israeli": "ILS", "turkish": "TRY", "chinese": "CNY",
}  # fmt: skip
"""Whose pound, dollar or dinar it is, where a nation stands before it."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_UNNAMED = _words("bucks buck piek piekies ballen dinar dinars rial rials kr kronor kroner masriya")
"""Money whose currency nobody can tell from the word."""
_SMALL = _words(
    "cent cents c ct cts ¢ penny pennies pence p sen sens eurocent eurocents centime centimes "
    "cêntimos céntimos pfennig rappen öre øre grosz groszy kopek kopeks kopeck kopecks kopiyka "
    "kopiykas kopiykas paise paisa paises piastre stuiver fils halalas qirsh kobo"
)
_OF_SMALL = {"pence": "GBP", "penny": "GBP", "pennies": "GBP", "eurocent": "EUR", "eurocents": "EUR"}
"""Small units that belong to one currency."""
_MEANS = {word: code for code, words in _WORDS.items() for word in words.split()}
_FILLERS = _words(
    "about around exactly precisely approximately almost nearly only just ongeveer precies circa "
    "bijna slechts maar ungefähr etwa environ exactement unos casi circa rund near close to"
)
_JOINS = _words("and en und et y e of")
_PIECE = re.compile(r"\d+(?:[.,]\d+)*|us\$|[$€£¥₹₽₺₩₪₴]u?r?|[^\W\d_]+(?:\.[^\W\d_]+)*\.?|¢")
_SIGNS = frozenset("$€£¥₹₽₺₩₪₴")
_LONGEST = 120
_MOST = 16
_HUNDRED = 100


class WordedAmount(msgspec.Struct, frozen=True, gc=False):
    """An amount, the ISO code of its currency ('' if the word does not say whose), and what the text writes for it."""

    amount: Decimal
    currency: str
    symbol: str


def worded_amount(text: str, language: str = "", *, page_currency: str = "") -> WordedAmount | None:
    """The amount that a text tells in words, or with words in it; None if it tells none, or digits and a sign alone.

    Every word must belong to the amount, but for `about` and the like: a sentence is no price.
    """
    if len(text) > _LONGEST:
        return None
    words = _PIECE.findall(text.lower().replace("-", " "))
    words = with_fractions([part for word in words if word not in _FILLERS for part in _parts_of(word)])
    if not words or len(words) > _MOST:
        return None
    if (whole := _amount(words, language, page_currency) or _of_coins(words)) is not None:
        return whole
    if (told := _within_sentence(words, text.lower(), language, page_currency)) is not None:
        return told
    others = (
        _amount(words, each, page_currency) for each in _OTHER_LANGUAGES if language[:2] not in {each, "en", "nl"}
    )
    return next((each for each in others if each is not None and (each.symbol or not language)), None)


_OTHER_LANGUAGES = ("de", "fr", "es", "it")
"""Tried last, where every word of the text belongs to the amount."""
_COINS = {
    "fiver": ("5", "GBP"), "fivers": ("5", "GBP"), "tenner": ("10", "GBP"), "tenners": ("10", "GBP"),
    "tientje": ("10", ""), "tientjes": ("10", ""), "knaak": ("2.5", ""), "knaken": ("2.5", ""),
}  # fmt: skip
"""Words for notes and coins, with what they are worth."""


def _of_coins(words: list[str]) -> WordedAmount | None:
    """How much a number of notes is: `two tenners`."""
    coin = _COINS.get(words[-1])
    number = _number_at(words, 0, "") if coin is not None and len(words) > 1 else None
    if coin is None or (number is None and len(words) > 1) or (number is not None and number[1] != len(words) - 1):
        return None
    many = number[0] if number is not None else Decimal(1)
    return WordedAmount(many * Decimal(coin[0]), coin[1], words[-1])


_HALVES = {"half": "0.5", "halve": "0.5", "quarter": "0.25", "kwart": "0.25"}
_ONE_AND_A_HALF = frozenset({"anderhalf", "anderhalve"})
_A, _AND = frozenset({"a", "an", "een"}), frozenset({"and", "en"})


def with_fractions(words: list[str]) -> list[str]:
    """The words with halves as numbers: `half a million`, `two and a half`, `anderhalf`; others as they are."""
    if _HALVES.keys().isdisjoint(words) and _ONE_AND_A_HALF.isdisjoint(words):
        return words
    found: list[str] = []
    for word in words:
        if word in _ONE_AND_A_HALF:
            found.append("1.5")
        elif word in _HALVES:
            _add_fraction(found, _HALVES[word])
        elif not (word in _A and found and found[-1] in _HALVES.values()):
            found.append(word)
    return found


def _add_fraction(found: list[str], fraction: str) -> None:
    """Put a fraction behind the words so far: on top of a number that `and a` joins it to, else by itself."""
    if found and found[-1] in _A:
        found.pop()
    number = number_at(found, len(found) - 2, "") if len(found) > 1 and found[-1] in _AND else None
    if number is None or number[1] != 1:
        found.append(fraction)
        return
    del found[-2:]
    found.append(str(number[0] + Decimal(fraction)))


_BEHIND = re.compile(r"\d\s?([^\W\d_]{3,12})\b")


def currency_beside(line: str) -> tuple[str, str]:
    """The currency that a word right behind a number names, as its code and the word; both '' if none does."""
    words = _BEHIND.findall(line.lower())
    return next(((code, word) for word in words if (code := _MEANS.get(word, ""))), ("", ""))


_COMPOUND = re.compile(r"(honderd|duizend|hundert|tausend)")
_SCALED = re.compile(
    r"\b(?:million|millions|billion|bn|mln|mld|miljoen|miljard|million(?:en)?|milliarden?|thousand|duizend|tausend)\b"
    r"|\d(?:bn|mln|m|b|k)\b"
)
_NUMBERS_BESIDE = re.compile(r"[^\W\d_]{3,}\s(?:euro|euros|dollars?|pounds?|pond|yen|francs?|cents?)\b")
_REACH = 6


def _parts_of(word: str) -> list[str]:
    """A Dutch or German number that is written as one word in its parts: `tweeduizend`, `honderdvijftig`."""
    if _COMPOUND.search(word) is None:
        return [word]
    parts = [part for part in _COMPOUND.split(word) if part]
    are_numbers = all((number_at([part], 0, "") or number_at([part], 0, "de")) is not None for part in parts)
    return parts if are_numbers else [word]


def _within_sentence(words: list[str], text: str, language: str, page_currency: str) -> WordedAmount | None:
    """The one amount in words, or of thousands and millions, that a sentence tells; None where it tells two."""
    if _SCALED.search(text) is None and _NUMBERS_BESIDE.search(text) is None:
        return None
    found: dict[int, WordedAmount] = {}
    for at in range(len(words)):
        if _currency_at(words, at, page_currency)[0] is None:
            continue
        windows = (
            (begins, ends)
            for begins in range(max(0, at - _REACH), at + 1)
            for ends in range(min(len(words), at + _REACH), at, -1)
        )
        whole = next(
            (one for begins, ends in windows if (one := _amount(words[begins:ends], language, page_currency))), None
        )
        if whole is not None and whole.symbol:
            found[at] = whole
    amounts = {one.amount for one in found.values()}
    return next(iter(found.values())) if len(amounts) == 1 else None


def _amount(words: list[str], language: str, page_currency: str) -> WordedAmount | None:
    before, at = _currency_at(words, 0, page_currency)
    number = _number_at(words, at, language)
    if number is None:
        return None
    amount, at = number[0], at + number[1]
    behind, at = (None, at) if before is not None else _currency_at(words, at, page_currency)
    currency = before or behind
    if currency is None:
        return _only_small(words, at, amount, page_currency)
    cents, at = _small_at(words, at, language)
    if at != len(words) or cents >= _HUNDRED:
        return None
    return WordedAmount(amount + cents / _HUNDRED, currency[0], currency[1])


def _only_small(words: list[str], at: int, amount: Decimal, page_currency: str) -> WordedAmount | None:
    if at == len(words) - 1 and words[at] in _SMALL:
        return WordedAmount(amount / _HUNDRED, page_currency or _OF_SMALL.get(words[at], ""), words[at])
    return WordedAmount(amount, "", "") if at == len(words) else None


def _number_at(words: list[str], at: int, language: str) -> tuple[Decimal, int] | None:
    for one in dict.fromkeys((language[:2], "")):
        if (found := number_at(words, at, one)) is not None:
            return found
    return None


def _currency_at(words: list[str], at: int, page_currency: str) -> tuple[tuple[str, str] | None, int]:
    """The currency that begins at a word, as its code and what is written, and where it ends."""
    if at >= len(words):
        return None, at
    word = words[at]
    nation = _NATIONS.get(word)
    if nation and at + 1 < len(words) and (words[at + 1] in _MEANS or words[at + 1] in _UNNAMED):
        return (nation, f"{word} {words[at + 1]}"), at + 2
    if word[0] in _SIGNS:
        return (currency_code(word[0], page_currency), word), at + 1
    code = word.upper() if word.upper() in CODES else _MEANS.get(word, _MEANS.get(word.rstrip("."), ""))
    if not code and word not in _UNNAMED:
        return None, at
    end = at + 1
    while end < len(words) and words[end] in _UNNAMED:
        end += 1
    return (code, word), end


def _small_at(words: list[str], at: int, language: str) -> tuple[Decimal, int]:
    """How many of the small unit follow, and where they end: `and 43 cents`, `50`, `een penny`."""
    begins = at + 1 if at < len(words) and words[at] in _JOINS else at
    number = _number_at(words, begins, language)
    if number is None:
        return Decimal(0), at
    end = begins + number[1]
    return number[0], end + 1 if end < len(words) and words[end] in _SMALL else end
