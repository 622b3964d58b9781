"""How amounts are written: the signs of currencies, numbers with their groups and decimals, and both together."""

import re

from tidemill.verticals.prices.reading.shown.hints import Hint, hints_before

SIGN = (
    r"(?:(?:US|U|R|A|AU|C|CA|NZ|HK|S|NT|MX|AR|RD)?\$U?|[€£₤¥￥₹₽₺₩₫₪₴฿₱₦₸₡₾₲₵৳֏₼]|円|元|원|(?<![A-Za-z])S/\.?(?=\s?\d)|"
    r"(?<![A-Za-z])(?:EUR|USD|GBP|CHF|CAD|AUD|NZD|SEK|NOK|DKK|PLN|CZK|HUF|RON|BGN|TRY|RUB|UAH|INR|JPY|CNY|RMB|BRL|MXN|"
    r"ARS|CLP|COP|PEN|ZAR|AED|SAR|ILS|SGD|HKD|MYR|THB|IDR|PHP|VND|KRW|TWD|KZT|KES|NGN|EGP|PKR|BDT|LKR|ISK|RSD|HRK|"
    r"UYU|BOB|PYG|CRC|DOP|GTQ|MAD|TND|QAR|KWD|BHD|OMR|JOD|GHS|UGX|TZS|GEL|AMD|AZN|MDL|BYN|MKD|BAM|NPR|"
    r"Kč|kč|zł|Ft|lei|Lei|LEI|RON|kr\.?|Kr\.?|:-|Rs\.?|Rp\.?|RM|TL|Lt|Ls|KM|kn|din\.?|лв\.?|руб\.?|р\.|грн\.?|тг|₸|"
    r"сом|ден\.?|dh|Dhs?|KSh|Fr\.|SFr\.?|R(?=\s?\d))(?![A-Za-z])|ر\.س|د\.إ|د\.ك|درهم|ريال|جنيه|บาท)"
)
"""What shops write for a currency, at either side of a number."""
_GAP = r"[.,'’\u066c\u00a0\u202f\u2009 ]"
NUMBER = (
    r"(?<!\d)(?<!\d[.,'’])"
    rf"(?:\d{{1,3}}(?:{_GAP}\d{{2,3}})*{_GAP}\d{{3}}(?:[.,\u066b]\d{{1,2}})?(?!\d)|\d+(?:[.,\u066b]\d{{1,4}})?(?!\d))"
    r"(?![^\W\d_]{1,2}[.,]?\d)(?:\s?[.,]\s?[-\u2013\u2014]{1,2})?"
)
"""A number from its beginning to its end, never the tail of a longer one, nor digits with letters among them."""
AMOUNT = re.compile(
    rf"(?<![\d.,])\d{{1,2}}p\b|\d+€\d{{2}}(?![\d.,])|{SIGN}\s?:?\s?{NUMBER}|{NUMBER}\s?{SIGN}|{NUMBER}(?<=[-\u2013])"
)
FROM_TO = re.compile(
    rf"\W*(?:van|was|von|statt|de|antes|before|från|før|z|da|od)\W{{1,3}}{NUMBER}\W{{1,3}}"
    rf"(?:voor|nu|now|jetzt|nur|für|por|a|nu|na|pour|za|til|till)\W{{1,3}}{NUMBER}\W*",
    re.IGNORECASE,
)
"""A former price and the one that is asked, without a sign: `Van 499,00 voor 399,00`."""
BARE = re.compile(rf"\W{{0,3}}{NUMBER}\W{{0,3}}")
"""A number and nothing else but a sign or two of punctuation."""
LABELLED = re.compile(r"(?P<label>\D{0,25})\b\d{1,5}[.,]\d{2}\W{0,3}")
"""A number with its cents behind a few words."""
WITH_CENTS = re.compile(r"\d{1,5}[.,]\d{2}")


def is_former_price(text: str) -> bool:
    """Whether a string is a former price by its own words: `Van 39,99`."""
    labelled = LABELLED.fullmatch(text)
    return labelled is not None and bool(hints_before(labelled["label"].lower()) & Hint.OLD)
