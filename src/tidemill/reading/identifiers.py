"""Numbers that name a product the world over: GTIN, EAN, UPC, ISBN and their kin, each with its check digit."""

import re
from enum import StrEnum


class Scheme(StrEnum):
    """Which kind of number it is."""

    GTIN8 = "gtin8"
    UPC = "upc"
    GTIN13 = "gtin13"
    GTIN14 = "gtin14"
    ISBN10 = "isbn10"
    ISBN13 = "isbn13"
    ISMN = "ismn"
    ISSN = "issn"


_LABEL = re.compile(
    r"^[\s(\[]*(?:(?:gtin|ean|upc|isbn|issn|ismn|jan|itf|barcode|code)[\s-]*(?:a|e|8|10|12|13|14)?\s*[:#.]?\s*)?",
    re.IGNORECASE,
)
_BETWEEN = re.compile(r"[\s\-\u2010-\u2015.]")
_NUMBER = re.compile(r"\d{7,13}[\dXx]")
_BY_LENGTH = {8: Scheme.GTIN8, 12: Scheme.UPC, 13: Scheme.GTIN13, 14: Scheme.GTIN14}
_OLD_BOOK, _SERIAL, _UPC_LENGTH = 10, 8, 12


def digits_in(text: str) -> str:
    """The bare number of an identifier as people write it: no label, blanks, hyphens or brackets; '' if it is none."""
    if len(text) > 60:  # noqa: PLR2004 - no identifier is that long, with its label
        return ""
    bare = _BETWEEN.sub("", _LABEL.sub("", text.strip(), count=1)).strip("()[]")
    return bare.upper() if _NUMBER.fullmatch(bare) else ""


def scheme_of(text: str) -> Scheme | None:
    """Which kind of identifier a text is; None if it is none, or its check digit is wrong."""
    number = digits_in(text)
    if len(number) == _OLD_BOOK:
        return Scheme.ISBN10 if _has_isbn10_checksum(number) else None
    if not number.isdecimal():
        return Scheme.ISSN if len(number) == _SERIAL and _has_isbn10_checksum(number) else None
    scheme = _BY_LENGTH.get(len(number))
    if scheme is None or not _has_gs1_check_digit(number):
        return Scheme.ISSN if scheme is Scheme.GTIN8 and _has_isbn10_checksum(number) else None
    if number.startswith("9790") and scheme is Scheme.GTIN13:
        return Scheme.ISMN
    return Scheme.ISBN13 if scheme is Scheme.GTIN13 and number.startswith(("978", "979")) else scheme


def as_gtin(text: str) -> str | None:
    """The identifier as a bare GTIN of 8, 12, 13 or 14 digits; None unless its check digit is right.

    Old book numbers become the 13 digits that they are sold under.
    """
    scheme, number = scheme_of(text), digits_in(text)
    if scheme is None or scheme is Scheme.ISSN:
        return None
    if scheme is Scheme.ISBN10:
        first = f"978{number[:-1]}"
        return first + _check_digit(first)
    return number if number.strip("0") else None


def as_upc(text: str) -> str | None:
    """The identifier in the form that one product has one of: 12 digits where it is a UPC, else as it is printed."""
    gtin = as_gtin(text) if text else None
    if gtin is None:
        return None
    bare = gtin.lstrip("0")
    return bare.zfill(_UPC_LENGTH) if len(gtin) > _UPC_LENGTH >= len(bare) > _SERIAL else gtin


def _has_gs1_check_digit(number: str) -> bool:
    return _check_digit(number[:-1]) == number[-1]


def _check_digit(number: str) -> str:
    """GS1's: digits weigh 3 and 1 in turn, from the right."""
    total = sum(int(digit) * (1 if place % 2 else 3) for place, digit in enumerate(reversed(number)))
    return str(-total % 10)


def _has_isbn10_checksum(number: str) -> bool:
    """The older books' and serials' check: weights count down to 1, the sum is a multiple of 11, X is ten."""
    if "X" in number[:-1]:
        return False
    values = [10 if digit == "X" else int(digit) for digit in number]
    return sum(value * (len(number) - place) for place, value in enumerate(values)) % 11 == 0
