"""What rents are written in: signs and names of currencies, and what the same sign means in different countries."""

import re

_OF_ONE = {
    "USD": "us$ usd", "EUR": "€ eur euro euros", "GBP": "£ gbp", "CAD": "c$ ca$ cad", "AUD": "a$ au$ aud",
    "NZD": "nz$ nzd", "SGD": "s$ sgd", "HKD": "hk$ hkd", "TWD": "nt$ twd", "MXN": "mx$ mxn", "BRL": "r$ brl",
    "CHF": "chf sfr", "SEK": "sek", "NOK": "nok", "DKK": "dkk", "ISK": "isk", "PLN": "zł pln", "CZK": "kč czk",
    "HUF": "ft huf", "RON": "lei", "BGN": "bgn лв", "TRY": "₺ tl", "RUB": "₽ руб rub", "UAH": "₴ грн uah",  # noqa: RUF001
    "KZT": "₸ kzt", "INR": "₹ inr rs rs.", "JPY": "円 jpy", "CNY": "元 cny rmb", "KRW": "₩ 원 krw", "THB": "฿ thb",
    "PHP": "₱ php", "VND": "₫ vnd", "IDR": "rp idr", "MYR": "rm myr", "ILS": "₪ ils", "ZAR": "r zar", "AED": "aed",
    "SAR": "ر.س", "QAR": "qar", "NGN": "₦ ngn", "KES": "ksh kes", "EGP": "egp",
}  # fmt: skip
CURRENCIES = {sign: code for code, signs in _OF_ONE.items() for sign in signs.split()}
"""The code of each sign or name, in lower case."""
_SHARED = {
    "$": ("USD", "CAD", "AUD", "NZD", "SGD", "HKD", "TWD", "MXN", "ARS", "CLP", "COP", "UYU"),
    "kr": ("SEK", "NOK", "DKK", "ISK"), "kr.": ("DKK", "NOK", "SEK", "ISK"), "¥": ("JPY", "CNY"), "￥": ("JPY", "CNY"),
}  # fmt: skip
"""Signs of several currencies: the market's own, if it is one of them, else the first."""

UNITS_OF_A_DOLLAR = {
    "SEK": 10, "NOK": 10, "DKK": 7, "ISK": 130, "CZK": 23, "HUF": 350, "TRY": 40, "RUB": 90, "UAH": 40, "KZT": 500,
    "INR": 85, "JPY": 150, "CNY": 7, "KRW": 1_400, "THB": 33, "PHP": 57, "VND": 25_000, "IDR": 16_000, "MXN": 18,
    "ARS": 1_000, "CLP": 950, "COP": 4_000, "UYU": 40, "TWD": 32, "ZAR": 18, "NGN": 1_500, "KES": 130, "EGP": 50,
    "BRL": 6, "HKD": 8, "PLN": 4, "RON": 5, "MAD": 10, "AED": 4, "SAR": 4, "QAR": 4, "MYR": 4, "ILS": 4,
}  # fmt: skip
"""How many units of a currency come to about one dollar, where it is more than a few: for bounds, never for sums."""

_LETTER = r"[^\W\d_]"


def _either(signs: list[str]) -> str:
    """A pattern for the signs, the longest first; those that begin or end in a letter are no part of a word."""
    return "|".join(_bounded(sign) for sign in sorted(signs, key=len, reverse=True))


_ONLY_THERE = {
    "r": r"(?<![^\W\d_])r(?=\s?\d{1,3}[ ,\u00a0]\d{3})",
    "rm": r"(?<![^\W\d_])rm(?=\s?\d{1,3}[ ,\u00a0]\d{3})",
    "ft": r"(?<=[ .\u00a0]\d{3}[ \u00a0])ft(?![^\W_]|\s?[²2])",
}
"""Signs that are rooms, numbers of doors and feet elsewhere: only beside thousands."""


def _bounded(sign: str) -> str:
    if sign in _ONLY_THERE:
        return _ONLY_THERE[sign]
    before = rf"(?<!{_LETTER})" if sign[0].isalpha() else ""
    behind = rf"(?!{_LETTER})" if sign[-1].isalpha() else ""
    return before + re.escape(sign) + behind


SIGN = _either([*CURRENCIES, *_SHARED])
"""A sign or a name of a currency, before an amount or behind it."""


def code_of(sign: str, market: str) -> str:
    """The currency that a sign means in a market whose rents are in `market`; that one for what is unknown."""
    lowered = sign.lower()
    if lowered in _SHARED:
        return market if market in _SHARED[lowered] else _SHARED[lowered][0]
    return CURRENCIES.get(lowered, market)
