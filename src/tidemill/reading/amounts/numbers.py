"""Numbers in words, by a table for each language: `twee-en-veertig`, `five hundred`, `two thousand nineteen`."""

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import cache

import msgspec

LANGUAGES = ("nl", "en", "de", "fr", "es", "it")


class NumberWords(msgspec.Struct, frozen=True):
    """The words of a language: 0 to 99 as single keys, what multiplies (hundred, thousand ...), what joins them."""

    small: Mapping[str, int]
    scales: Mapping[str, int]
    joins: frozenset[str] = frozenset()


def _words(text: str) -> list[str]:
    return text.split()


_EN = _words(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen"
)
_EN_TENS = _words("twenty thirty forty fifty sixty seventy eighty ninety")
_NL = _words(
    "nul een twee drie vier vijf zes zeven acht negen tien elf twaalf dertien veertien vijftien "
    "zestien zeventien achttien negentien"
)
_NL_TENS = _words("twintig dertig veertig vijftig zestig zeventig tachtig negentig")
_DE = _words(
    "null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn "
    "sechzehn siebzehn achtzehn neunzehn"
)
_DE_TENS = _words("zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig")
_FR = _words(
    "zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize "
    "dix-sept dix-huit dix-neuf"
)
_ES = _words(
    "cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince "
    "dieciséis diecisiete dieciocho diecinueve veinte veintiuno veintidós veintitrés veinticuatro "
    "veinticinco veintiséis veintisiete veintiocho veintinueve"
)
_ES_TENS = _words("treinta cuarenta cincuenta sesenta setenta ochenta noventa")
_IT = _words(
    "zero uno due tre quattro cinque sei sette otto nove dieci undici dodici tredici quattordici "
    "quindici sedici diciassette diciotto diciannove"
)
_IT_TENS = _words("venti trenta quaranta cinquanta sessanta settanta ottanta novanta")
_HUNDRED, _THOUSAND, _MILLION, _BILLION = 100, 1_000, 1_000_000, 1_000_000_000


def _english() -> dict[str, int]:
    found = {word: number for number, word in enumerate(_EN)} | {"a": 1, "an": 1}
    for ten, word in enumerate(_EN_TENS, 2):
        found[word] = ten * 10
        found |= {f"{word} {_EN[unit]}": ten * 10 + unit for unit in range(1, 10)}
    return found


def _joined_before(units: Sequence[str], tens: Sequence[str], joins: Sequence[str]) -> dict[str, int]:
    """Units before tens, as in Dutch and German: `eenentwintig`, `zweiundvierzig`, written as one word or as three."""
    found = {word: number for number, word in enumerate(units)}
    for ten, word in enumerate(tens, 2):
        found[word] = ten * 10
        for unit in range(1, 10):
            for join in joins:
                found[f"{units[unit]}{join}{word}"] = ten * 10 + unit
                found[f"{units[unit]} {join} {word}"] = ten * 10 + unit
    return found


def _french() -> dict[str, int]:
    found = {word.replace("-", " "): number for number, word in enumerate(_FR)} | {"une": 1}
    plain = [word.replace("-", " ") for word in _FR]
    for ten, word in ((20, "vingt"), (30, "trente"), (40, "quarante"), (50, "cinquante"), (60, "soixante")):
        found[word] = ten
        found[f"{word} et un"] = ten + 1
        found |= {f"{word} {plain[unit]}": ten + unit for unit in range(2, 20 if ten == 60 else 10)}  # noqa: PLR2004
    found |= {"soixante et onze": 71, "quatre vingt": 80, "quatre vingts": 80}
    return found | {f"quatre vingt {plain[unit]}": 80 + unit for unit in range(1, 20)}


def _spanish() -> dict[str, int]:
    found = {word: number for number, word in enumerate(_ES)} | {"un": 1, "una": 1}
    for ten, word in enumerate(_ES_TENS, 3):
        found[word] = ten * 10
        found |= {f"{word} y {_ES[unit]}": ten * 10 + unit for unit in range(1, 10)}
    return found


def _italian() -> dict[str, int]:
    found = {word: number for number, word in enumerate(_IT)} | {"un": 1, "una": 1}
    for ten, word in enumerate(_IT_TENS, 2):
        found[word] = ten * 10
        for unit in range(1, 10):
            stem = word[:-1] if unit in {1, 8} else word
            found[stem + ("tré" if unit == 3 else _IT[unit])] = ten * 10 + unit  # noqa: PLR2004 - tre has an accent
    return found


_TABLES = {
    "en": NumberWords(
        _english(),
        {"hundred": _HUNDRED, "thousand": _THOUSAND, "k": _THOUSAND, "grand": _THOUSAND, "million": _MILLION,
         "millions": _MILLION, "mln": _MILLION, "m": _MILLION, "billion": _BILLION, "bn": _BILLION, "b": _BILLION,
         "mn": _MILLION, "lakh": 100_000, "lakhs": 100_000, "crore": 10_000_000, "crores": 10_000_000},
        frozenset({"and"}),
    ),
    "nl": NumberWords(
        _joined_before(_NL, _NL_TENS, ("en", "ën")) | {"één": 1, "eén": 1},
        {"honderd": _HUNDRED, "duizend": _THOUSAND, "k": _THOUSAND, "miljoen": _MILLION, "mln": _MILLION,
         "miljard": _BILLION, "mld": _BILLION},
        frozenset({"en"}),
    ),
    "de": NumberWords(
        _joined_before(["null", "ein", *_DE[2:]], _DE_TENS, ("und",)) | {"eins": 1, "eine": 1, "einen": 1},
        {"hundert": _HUNDRED, "tausend": _THOUSAND, "million": _MILLION, "millionen": _MILLION, "mio": _MILLION,
         "milliarde": _BILLION, "milliarden": _BILLION, "mrd": _BILLION},
        frozenset({"und"}),
    ),
    "fr": NumberWords(
        _french(),
        {"cent": _HUNDRED, "cents": _HUNDRED, "mille": _THOUSAND, "k": _THOUSAND, "million": _MILLION,
         "millions": _MILLION, "milliard": _BILLION, "milliards": _BILLION},
        frozenset({"et", "de", "d"}),
    ),
    "es": NumberWords(
        _spanish(),
        {"cien": _HUNDRED, "ciento": _HUNDRED, "cientos": _HUNDRED, "mil": _THOUSAND, "k": _THOUSAND,
         "millón": _MILLION, "millones": _MILLION},
        frozenset({"y", "de"}),
    ),
    "it": NumberWords(
        _italian(),
        {"cento": _HUNDRED, "mille": _THOUSAND, "mila": _THOUSAND, "milione": _MILLION, "milioni": _MILLION,
         "miliardo": _BILLION, "miliardi": _BILLION},
        frozenset({"e", "di"}),
    ),
}  # fmt: skip
_LONGEST_KEY = 4
_DIGITS = re.compile(r"\d+(?:[.,]\d+)*")
_GROUPED = re.compile(r"\d{1,3}(?:[.,]\d{3})+")


@cache
def number_words(language: str) -> NumberWords:
    """The number words of a language; of Dutch and English together where it is none that we know."""
    return _TABLES.get(language[:2]) or NumberWords(
        {**_TABLES["en"].small, **_TABLES["nl"].small},
        {**_TABLES["en"].scales, **_TABLES["nl"].scales},
        _TABLES["en"].joins | _TABLES["nl"].joins,
    )


def number_at(words: Sequence[str], at: int, language: str) -> tuple[Decimal, int] | None:
    """The number that begins at a word, and how many words it takes; None if none does.

    Words are small letters or digits; hyphens within a number have been split. `a` alone is a number too.
    """
    table = number_words(language)
    total, current, here = Decimal(0), None, at
    while here < len(words):
        scale = _scale(words[here], table, alone=current is None)
        if scale is not None:
            current = (Decimal(1) if current is None else current) * scale
            here += 1
            if scale >= _THOUSAND:
                total, current = total + current, None
            continue
        step = here + 1 if words[here] in table.joins and here > at else here
        piece = _small_at(words, step, table)
        if piece is None or not _continues(here > at, total, current, piece[0]):
            break
        current = piece[0] if current is None else current + piece[0]
        here = step + piece[1]
    return (total + (current or 0), here - at) if here > at else None


def _scale(word: str, table: NumberWords, *, alone: bool) -> int | None:
    """What a word multiplies by; alone only hundred and thousand do, and never a single letter."""
    scale = table.scales.get(word)
    if scale is None or (alone and (scale > _THOUSAND or len(word) == 1)):
        return None
    return scale


def _continues(begun: bool, total: Decimal, current: Decimal | None, piece: Decimal) -> bool:  # noqa: FBT001
    """Whether a piece belongs to the number so far: below a thousand, or a hundred; `twenty` takes no `thirty`."""
    if current is None:
        return not begun or total > 0
    return _adds(current, piece)


def _adds(current: Decimal, piece: Decimal) -> bool:
    """Whether a piece continues a number: `hundred` takes what is below it, `twenty` takes no `thirty`."""
    return current >= _HUNDRED and current % _HUNDRED == 0 and piece < _HUNDRED


def _small_at(words: Sequence[str], at: int, table: NumberWords) -> tuple[Decimal, int] | None:
    if at >= len(words):
        return None
    if _DIGITS.fullmatch(words[at]):
        return as_decimal(words[at]), 1
    for length in range(_LONGEST_KEY, 0, -1):
        value = table.small.get(" ".join(words[at : at + length]))
        if value is not None and at + length <= len(words):
            return Decimal(value), length
    return None


def as_decimal(written: str) -> Decimal:
    """Digits with points and commas as a number: a group of three is thousands, anything else decimals."""
    if _GROUPED.fullmatch(written) and not written.startswith("0"):
        return Decimal(re.sub(r"[.,]", "", written))
    whole, sign, decimals = written.replace(",", ".").rpartition(".")
    return Decimal(f"{whole.replace('.', '')}.{decimals}") if sign else Decimal(written)
