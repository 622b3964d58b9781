"""What pages write for a currency, and the code that it means."""

import re
from functools import lru_cache

from tidemill.reading.currency_codes import CODES

_ALIKE = {
    "USD": "$ us$ u$s usd$ dollar dollars u.s.$ us-$ dólares",
    "EUR": "€ eur€ euro euros евро ευρώ",
    "GBP": "£ ₤ gb£ pound pounds sterling",
    "JPY": "¥ ￥ 円 yen jp¥",
    "CNY": "元 rmb cn¥ 人民币 yuan",
    "INR": "₹ rs rs. inr₹ rupees",
    "RUB": "₽ руб руб. р. р rub. рублей рубля",
    "UAH": "₴ грн грн.",
    "BRL": "r$ reais",
    "PLN": "zł zł. zl złotych pln.",
    "CZK": "kč kč. kc",
    "HUF": "ft ft. huf.",
    "RON": "lei leu",
    "BGN": "лв лв. leva",
    "TRY": "₺ tl try. lira",
    "SEK": "sek. kronor",
    "NOK": "nkr",
    "DKK": "dkr",
    "CHF": "sfr fr. sfr. chf. franken",
    "AUD": "a$ au$ aud$",
    "CAD": "c$ ca$ cad$ can$",
    "NZD": "nz$ nzd$",
    "HKD": "hk$ hkd$",
    "SGD": "s$ sg$ sgd$",
    "TWD": "nt$ nt",
    "MXN": "mx$ mxn$ mex$",
    "ARS": "ar$ ars$",
    "KRW": "₩ 원 won",
    "THB": "฿ บาท baht",
    "VND": "₫ đ vnđ vnd₫",
    "IDR": "rp rp.",
    "MYR": "rm",
    "PHP": "₱ php₱",
    "ILS": "₪ nis",
    "KZT": "₸ тг тенге",
    "AED": "dh dhs درهم د.إ aed.",
    "SAR": "﷼ sr ر.س ريال",
    "EGP": "جنيه le e£",
    "KWD": "kd د.ك",
    "NGN": "₦",
    "GHS": "₵ gh₵",
    "KES": "ksh kshs",
    "ZAR": "r",
    "PEN": "s/ s/.",
    "CRC": "₡",
    "PYG": "₲",
    "GEL": "₾",
    "AZN": "₼ man.",
    "AMD": "֏",
    "BYN": "br руб.бел",
    "BDT": "৳ tk",
    "PKR": "pkr.",
    "LKR": "lkr.",
    "RSD": "din din. rsd. дин",
    "BAM": "km",
    "MKD": "ден ден.",
    "HRK": "kn",
    "ISK": "íkr",
    "MAD": "dhs.",
    "UYU": "$u",
    "BOB": "bs bs.",
    "IRR": "تومان",
}
_MEANS = {word: code for code, words in _ALIKE.items() for word in words.split()}
_SHARED = {
    "$": frozenset("USD CAD AUD NZD HKD SGD TWD MXN ARS CLP COP UYU BBD BSD BZD FJD JMD TTD XCD".split()),
    "kr": frozenset("SEK NOK DKK ISK".split()),
    "£": frozenset("GBP EGP GIP LBP FKP SHP".split()),
    "¥": frozenset("JPY CNY".split()),
    "￥": frozenset("JPY CNY".split()),
    "元": frozenset("CNY TWD HKD".split()),
    "rs": frozenset("INR PKR LKR NPR MUR SCR".split()),
    "fr.": frozenset("CHF XAF XOF".split()),
    "dh": frozenset("AED MAD".split()),
    "r": frozenset("ZAR BRL".split()),
    "lei": frozenset("RON MDL".split()),
    "руб.": frozenset("RUB BYN".split()),
    "руб": frozenset("RUB BYN".split()),
    "р.": frozenset("RUB BYN".split()),
}
_CODE = re.compile(r"(?<![A-Za-z])([A-Z]{3})(?![A-Za-z])")
_BY_LAND = {
    "at": "EUR", "be": "EUR", "cy": "EUR", "de": "EUR", "ee": "EUR", "es": "EUR", "fi": "EUR", "fr": "EUR",
    "gr": "EUR", "hr": "EUR", "ie": "EUR", "it": "EUR", "lt": "EUR", "lu": "EUR", "lv": "EUR", "mt": "EUR",
    "nl": "EUR", "pt": "EUR", "si": "EUR", "sk": "EUR", "eu": "EUR", "uk": "GBP", "gb": "GBP", "us": "USD",
    "ca": "CAD", "au": "AUD", "nz": "NZD", "se": "SEK", "no": "NOK", "dk": "DKK", "is": "ISK", "pl": "PLN",
    "cz": "CZK", "hu": "HUF", "ro": "RON", "bg": "BGN", "ch": "CHF", "li": "CHF", "ru": "RUB", "ua": "UAH",
    "by": "BYN", "kz": "KZT", "tr": "TRY", "il": "ILS", "ae": "AED", "sa": "SAR", "eg": "EGP", "za": "ZAR",
    "ng": "NGN", "ke": "KES", "in": "INR", "pk": "PKR", "bd": "BDT", "lk": "LKR", "jp": "JPY", "cn": "CNY",
    "tw": "TWD", "hk": "HKD", "kr": "KRW", "sg": "SGD", "my": "MYR", "th": "THB", "vn": "VND", "id": "IDR",
    "ph": "PHP", "br": "BRL", "mx": "MXN", "ar": "ARS", "cl": "CLP", "co": "COP", "pe": "PEN", "uy": "UYU",
    "rs": "RSD", "ba": "BAM", "mk": "MKD", "ge": "GEL", "am": "AMD", "az": "AZN", "md": "MDL", "kw": "KWD",
}  # fmt: skip
"""What people pay with where a country's own addresses end so; `.co` and `.io` belong to the world by now."""
_BY_LANGUAGE = {
    "sv": "SEK", "da": "DKK", "nb": "NOK", "nn": "NOK", "no": "NOK", "is": "ISK", "ja": "JPY", "ko": "KRW", "pl": "PLN",
    "cs": "CZK", "hu": "HUF", "ro": "RON", "bg": "BGN", "uk": "UAH", "tr": "TRY", "he": "ILS", "th": "THB", "vi": "VND",
    "id": "IDR", "fi": "EUR", "el": "EUR", "it": "EUR", "nl": "EUR", "sk": "EUR", "sl": "EUR", "et": "EUR", "lv": "EUR",
    "lt": "EUR", "hr": "EUR",
}  # fmt: skip
"""What people pay with where a language is at home, of those that are at home in one place only."""
_WORLDLY = frozenset({"co", "io", "me", "tv", "ai", "am", "is", "md"})


@lru_cache(maxsize=1_024)
def currency_code(written: str, page_currency: str = "") -> str:
    """The ISO code of what a page writes for a currency; '' if it means none that we know.

    `page_currency` is the currency that the rest of the page speaks of: it decides what `$` or `kr` is.
    """
    word = written.strip().lower()
    if not word:
        return ""
    upper = word.upper()
    if upper in CODES:
        return upper
    shared = _SHARED.get(word) or _SHARED.get(word.rstrip(".,:"))
    if shared is not None and page_currency in shared:
        return page_currency
    code = _MEANS.get(word) or _MEANS.get(word.rstrip(".,:"))
    if code:
        return code
    found = _CODE.search(written)
    if found is not None and found[1] in CODES:
        return found[1]
    return page_currency if shared is not None else ""


@lru_cache(maxsize=1_024)
def currency_of_place(host: str, language: str = "") -> str:
    """The currency of the country that an address, a language tag such as `en-AU`, or a language alone names."""
    land = host.rpartition(".")[2].lower()
    if land in _BY_LAND and land not in _WORLDLY:
        return _BY_LAND[land]
    region = re.split(r"[-_]", language)[-1].lower() if re.search(r"[-_]", language) else ""
    return _BY_LAND.get(region) or _BY_LANGUAGE.get(re.split(r"[-_]", language)[0].lower(), "")


def currency_problem(value: object) -> str:
    """Return why a setting is no currency; '' if it is one."""
    if isinstance(value, str) and value.upper() in CODES:
        return ""
    return f"{str(value)[:20]!r} is no currency; write its ISO code, such as EUR"
