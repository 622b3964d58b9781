"""From a phrase to its tokens: every word and number has to be known, or the phrase is none of ours."""

import re
from collections.abc import Callable, Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from functools import cache
from typing import Any

import msgspec

from tidemill.reading.amounts.numbers import number_at
from tidemill.reading.moments.calendar import day, full_year
from tidemill.reading.moments.feasts import FEAST_NAMES
from tidemill.reading.moments.grammar.languages import TABLES
from tidemill.reading.moments.grammar.when import SMALL_HOURS, DayTime, Stretch, TimeConstraints, decade_of
from tidemill.reading.moments.words import MONTHS, any_of

MOST_TOKENS = 18
_LONGEST_NAME = 7


class Token(msgspec.Struct, frozen=True, gc=False):
    """A piece of a phrase: its kind, one letter, and what it stands for."""

    kind: str
    value: Any = None


UNITS = {
    "second": "s", "minute": "m", "hour": "h", "day": "d", "week": "w", "fortnight": "f", "month_unit": "M",
    "quarter": "q", "year": "y", "decade": "t", "weekend": "e",
}  # fmt: skip
_PARTS = {
    "morning": (0, 12), "lunch": (12, 14), "after_lunch": (13, 17), "after_work": (17, 21), "after_school": (15, 21),
    "afternoon": (12, 18), "evening": (18, 24),
    "night": (18, 24), "small_hours": SMALL_HOURS,
}  # fmt: skip
"""The hours of a part of the day, as most grammars take them."""
_PLAIN = {
    "next": ">", "upcoming": "}", "last": "<", "this": "=", "in": "i", "ago": "g", "on": "f", "after": "A",
    "before": "B", "to": "-", "from": "^", "and": "&", "at": "@", "for": "F", "by": "b", "filler": "", "oclock": "O",
    "half": "H", "quarter_hour": "Q", "past": "%", "over": "P", "begin": "1", "middle": "2", "end": "3", "season": "S",
    "closest": "C", "rest": "r", "am": "a", "pm": "p", "quarter_of_hour": "k", "ad": "D",
}  # fmt: skip
_SEASONS = {"winter": 0, "spring": 1, "summer": 2, "autumn": 3}
_SHORT_FOR = {"bom": ("1", "M"), "eom": ("3", "M"), "boy": ("1", "y"), "eoy": ("3", "y"), "eod": ("3", "d")}
_ZONES = {
    "utc": 0, "gmt": 0, "z": 0, "wet": 0, "bst": 1, "cet": 1, "cest": 2, "eet": 2, "eest": 3, "est": -5, "edt": -4,
    "cst": -6,
    "cdt": -5, "mst": -7, "mdt": -6, "pst": -8, "pdt": -7, "ist": 5.5, "jst": 9, "aest": 10,
}  # fmt: skip
_MERIDIEM = r"(?:\s?(?P<{0}>[ap])\.?\s?m\b\.?|(?P<{0}b>[ap])\b\.?(?![\w']))"
"""`8 p.m.`, `8p`; a letter that stands by itself is a word: `de 9 a 11`."""
_PIECE = re.compile(
    r"\s*(?:"
    r"(?P<iso>(?P<iy>(?:19|20|21)\d\d)(?P<is>[-/.])(?P<im>\d{1,2})(?P=is)(?P<id>\d{1,2})(?!\d))"
    r"|(?P<full>(?P<fa>\d{1,2})\s?(?P<fs>[-/.])\s?(?P<fb>\d{1,2})\s?(?P=fs)\s?(?P<fy>\d{4}|'?\d\d(?!\s?(?:uhr|uur|h\b|:\d|\.\d)))"
    r"(?!\d))"
    r"|(?P<isoweek>(?P<wy>(?:19|20)\d\d)-?w(?P<ww>\d\d?))(?!\w)"
    r"|(?P<quarter>(?P<qy>\d{4}|\d\d)q(?P<qn>[1-4])|q(?P<qn2>[1-4]))(?!\w)"
    r"|(?P<dotted>(?P<da>\d{1,2})\.(?P<db>\d{1,2})\.(?![\d.]))"
    r"|(?P<military>(?P<mh>[0-2]\d)(?P<mm>[0-5]\d))(?=\s?(?:hours|hrs|hr|h)\b)\s?(?:hours|hrs|hr|h)"
    r"|(?P<length>(?P<lh>\d{1,2})\s?h(?:rs?|ours?)?\s?(?P<lm>\d{1,2})\s?m(?:in(?:ute)?s?)?)(?!\w)"
    rf"|(?P<clock>(?P<ch>\d{{1,2}})\s?(?:[:](?P<cm>\d\d)(?::(?P<cs>\d\d))?|[hu](?P<ck>\d\d)|\.(?P<cd>\d\d)(?=\s?(?:uur|uhr|u\b|h\b|[ap]\.?m)))(?!\d)(?:{_MERIDIEM.format('ca')})?(?:\s?(?:uur|uhr|u\b|h\b|hrs\b))?)"
    rf"|(?P<hour>(?P<hh>\d{{1,4}})(?:ish)?{_MERIDIEM.format('ha')})"
    r"|(?P<fraction>(?P<fn>[13])/(?P<fd>[24]))(?=\s?h)"
    r"|(?P<pair>(?P<pa>\d{1,2})\s?(?P<ps>[/-])\s?(?P<pb>\d{1,2})(?![\d/:-]|\.\d|\s?(?:[ap]\.?m|uur|uhr|h\b)))"
    r"|(?P<decade>(?:(?:the|jaren)\s)?'?(?P<en>(?:1[6-9]|20)\d0|(?<=the\s)\d0|(?<=the\s')\d0)'?s)(?!\w)"
    r"|(?P<ordinal>(?P<on>\d{1,2})(?:st|nd|rd|th|ste|de|e|er|\u00ba|\u00aa|\u00b0|\.(?=\s|-|$))(?!\w))"
    r"|(?P<short>'(?P<sy>\d\d)(?!\w))"
    r"|(?P<span>(?P<sn>\d{1,3})(?P<su>['\"]))(?!\w)"
    r"|(?P<number>\d{1,4})(?P<ish>ish)?(?![\d.,]\d)"
    r"|(?P<dash>-+)|(?P<comma>[,;()])|(?P<at>@)"
    r"|(?P<word>(?:'s\b|[^\W\d_]+(?:['./][^\W\d_]+)*\.?(?:'s|(?<=s)')?(?=\W|$|\d))))"
)


_POINTED = re.compile(r"(?:(?<=\bore )|(?<=\bom )|(?<=\bum )|(?<=\bat )|(?<=\balle ))(\d{1,2})\.(\d\d)\b")


_DOTTED_HOURS = re.compile(
    r"(?<![\d.])(\d{1,2})\.(00|15|30|45)(\s*(?:-+|tot en met|tot|t/m|to|until|bis)\s*)(\d{1,2})\.(00|15|30|45)(?![\d.])"
)
"""`14.00 tot 16.30`, whose points could be those of dates but for the minutes."""
_NAMED_MONTH = re.compile(
    rf"(?<!\w)(?:(\d{{1,2}})([./])((?:{any_of(MONTHS)})\b)\2|((?:{any_of(MONTHS)})\b)([/-])(\d{{1,2}})\5)((?:19|20)\d\d)\b"
)
"""`22.Feb.2017`, `Feb/22/2017`."""
_DECADE_OF = re.compile(r"\b(?:de )?jaren '?(\d0)\b(?!')")
_NUMBERED_FEAST = re.compile(r"\b(?P<number>[123])(?:e|ste|de)\s(?=(?:kerst|paas|pinkster)dag\b)")
_FIRST_DAYS = {"1": "eerste", "2": "tweede", "3": "derde"}


@cache
def lexicon(language: str) -> dict[str, Token]:
    """Every word that a phrase in a language may hold, and its token; English and Dutch are understood everywhere."""
    found: dict[str, Token] = {}
    for code in dict.fromkeys(("nl", "en", *([language] if language in TABLES else []))):
        for name, words in TABLES[code].items():
            _add(found, name, words)
    if language == "nl":
        _add_table(found, "nl")
    found |= _compounds(found)
    feasts = {name: Token("T", TimeConstraints(feast=feast)) for name, feast in FEAST_NAMES.items()}
    found |= {plain: token for name, token in feasts.items() if " " in (plain := plain_name(name))} | feasts
    return found | {name: Token("z", offset) for name, offset in _ZONES.items() if name not in found}


def plain_name(name: str) -> str:
    """A feast's name without the signs that some write and others do not: `saint patrick's` is `st patricks`."""
    bare = name.replace("'", "").replace(".", "").replace("-", " ")
    return f" {bare} ".replace(" saint ", " st ").replace(" sint ", " st ").replace(" the ", " ").strip()


def _compounds(words: dict[str, Token]) -> dict[str, Token]:
    """Days and parts of the day as one word: `morgenochtend`, `gisteravond`, `zaterdagmiddag`."""
    parts = {name: token.value.hours for name, token in words.items() if token.kind == "T" and name.isalpha()}
    days = {name: token for name, token in words.items() if token.kind in "dw" and name.isalpha()}
    return {
        name + part: Token("t", (token.value, hours)) if token.kind == "d"
        else Token("T", TimeConstraints(weekday=token.value, hours=hours))
        for name, token in days.items() for part, hours in parts.items() if len(name) > 4 and hours  # noqa: PLR2004
    }  # fmt: skip


def _add_table(found: dict[str, Token], code: str) -> None:
    for name, words in TABLES[code].items():
        _add(found, name, words)


def _add(found: dict[str, Token], name: str, words: str) -> None:
    for place, names in enumerate(words.split()):
        token = _token(name, place)
        for word in filter(None, names.split(",")):
            found[word.replace("_", " ")] = token


def _token(name: str, place: int) -> Token:
    """The token of the words at a place in a line of a table."""
    made = _MAKERS.get(name)
    if made is not None:
        return made(place)
    if name in UNITS:
        return Token("u", UNITS[name])
    if name in _PARTS:
        return Token("T", TimeConstraints(hours=_PARTS[name]))
    if name in _SEASONS:
        return Token("T", TimeConstraints(season=_SEASONS[name]))
    return Token("E", _SHORT_FOR[name]) if name in _SHORT_FOR else Token(_PLAIN[name])


_MAKERS: Mapping[str, Callable[[int], Token]] = {
    "month": lambda place: Token("m", place + 1),
    "weekday": lambda place: Token("w", place),
    "ordinal": lambda place: Token("o", place + 1),
    "relative": lambda place: Token("d", place - 2),
    "tonight": lambda _: Token("t", (0, _PARTS["night"])),
    "this_morning": lambda _: Token("t", (0, (6, 12))),
    "this_afternoon": lambda _: Token("t", (0, _PARTS["afternoon"])),
    "last_night": lambda _: Token("t", (-1, _PARTS["night"])),
    "uur": lambda _: Token("U", "h"),
    "three_quarters": lambda _: Token("l", timedelta(minutes=45)),
    "earth_hour": lambda _: Token(
        "T", TimeConstraints(feast="earth hour", clock=DayTime(20, 30), until=DayTime(21, 30))
    ),
    "named_decade": lambda place: Token("T", TimeConstraints(within=decade_of(1920 + 10 * place))),
    "counted_hour": lambda place: Token("c", DayTime(place + 1, 0, open=True, said=True)),
    "half_hour": lambda _: Token("l", timedelta(minutes=30)),
    "now": lambda _: Token("N"),
    "noon": lambda _: Token("c", DayTime(12, 0)),
    "midnight": lambda _: Token("c", DayTime(0, 0)),
    "one_and_a_half": lambda _: Token("n", (Decimal("1.5"), True)),
    "few": lambda _: Token("v", (Decimal(3), True)),
    "pair": lambda _: Token("v", (Decimal(2), True)),
}


def tokens_of(text: str, language: str, *, day_first: bool) -> list[Token] | None:
    """The tokens of a prepared phrase; None when a word is none of a date's, or there are too many."""
    pieces: list[re.Match[str]] = []
    text = text.replace("halfjaar", "half jaar")
    text = _POINTED.sub(r"\1:\2", text) if "." in text else text
    text = _DOTTED_HOURS.sub(r"\1:\2\3\4:\5", text) if "." in text else text
    text = _NAMED_MONTH.sub(r"\1\6 \3\4 \7", text)
    text = _DECADE_OF.sub(r"the \1s", text)
    text = _NUMBERED_FEAST.sub(lambda match: f"{_FIRST_DAYS[match['number']]} ", text)
    at = 0
    while at < len(text.rstrip(" .!?")):
        match = _PIECE.match(text, at)
        if match is None or len(pieces) > 2 * MOST_TOKENS:
            return None
        pieces.append(match)
        at = match.end()
    return _tokens(pieces, lexicon(language), language, day_first=day_first)


def _tokens(
    pieces: list[re.Match[str]], words: dict[str, Token], language: str, *, day_first: bool
) -> list[Token] | None:
    found: list[Token] = []
    at = 0
    while at < len(pieces):
        digits = None if pieces[at]["word"] else _of_digits(pieces[at], day_first=day_first)
        named = _named(pieces, at, words, language) if pieces[at]["word"] else (digits, 1) if digits else None
        if named is None or len(found) > MOST_TOKENS:
            return None
        token, used = named
        found += [token] if token.kind else []
        at += used
    return found


def _named(pieces: list[re.Match[str]], at: int, words: dict[str, Token], language: str) -> tuple[Token, int] | None:
    """The token of the longest name that begins here: of words in a table, else of number words."""
    ahead: list[str] = []
    for piece in pieces[at : at + _LONGEST_NAME]:
        if not (piece["word"] or piece["dash"]) or (piece["dash"] and piece["dash"] != "-"):
            break
        ahead.append(piece["word"] or "-")
    for length in range(len(ahead), 0, -1):
        name = " ".join(ahead[:length]).replace(" - ", "-")
        token = next((words[one] for one in _spellings(name) if one in words), None)
        if token is not None and _is_article(name, ahead, words):
            token = Token("n", (Decimal(1), True))
        if token is not None:
            return token, length
    plain = [word for word in ahead if word != "-"]
    number = number_at([word.rstrip(".") for word in plain], 0, language) or number_at(plain, 0, "")
    if number is None:
        return None
    used, left = 0, number[1]
    while left:
        left -= ahead[used] != "-"
        used += 1
    value = number[0]
    return (Token("y", int(value)) if _is_year(value) else Token("n", (value, True))), used


def _is_year(number: Decimal | int) -> bool:
    return 1900 <= number <= 2199  # noqa: PLR2004 - years that a page may speak of


def _spellings(name: str) -> tuple[str, ...]:
    spellings = (name, name.rstrip("."), name.replace("-", " "), name.removesuffix("'s"))
    return (*spellings, plain_name(name)) if (" " in name or "-" in name) and name[-1] != "-" else spellings


def _is_article(name: str, ahead: list[str], words: dict[str, Token]) -> bool:
    """Whether `a`, `an`, `een` stands right before a unit, and so means one."""
    following = words.get(ahead[1].rstrip(".")) if len(ahead) > 1 else None
    return (
        name in {"a", "an", "een", "un", "une", "una"} and following is not None and following.kind in {"u", "k", "l"}
    )


def _of_digits(piece: re.Match[str], *, day_first: bool) -> Token | None:
    kind = piece.lastgroup if piece.lastgroup in _DIGIT_READERS else None
    name = kind or next((name for name in _DIGIT_READERS if piece[name]), None)
    return _DIGIT_READERS[name](piece, day_first) if name else None


def _iso(piece: re.Match[str], _: bool) -> Token | None:  # noqa: FBT001 - one signature for all readers
    return _on(day(int(piece["iy"]), int(piece["im"]), int(piece["id"])))


def _full(piece: re.Match[str], day_first: bool) -> Token | None:  # noqa: FBT001
    year, one, other = full_year(piece["fy"]), int(piece["fa"]), int(piece["fb"])
    number, month = (one, other) if day_first or piece["fs"] == "." else (other, one)
    return _on(day(year, month, number) or day(year, number, month))


def _on(found: date | None) -> Token | None:
    return Token("T", TimeConstraints(year=found.year, month=found.month, dom=found.day)) if found else None


def _pair(piece: re.Match[str], day_first: bool) -> Token | None:  # noqa: FBT001
    one, other = int(piece["pa"]), int(piece["pb"])
    number, month = (one, other) if day_first else (other, one)
    if not _is_day(month, number):
        number, month = month, number
    tells = piece["ps"] == "/" or day_first or max(one, other) > 12  # noqa: PLR2004 - months of a year
    if not _is_day(month, number) or not tells:
        return Token("x", (one, other)) if piece["ps"] == "-" else None
    return (
        Token("x", (one, other, month, number))
        if piece["ps"] == "-"
        else Token("T", TimeConstraints(month=month, dom=number))
    )


def _is_day(month: int, number: int) -> bool:
    return 1 <= month <= 12 and day(2024, month, number) is not None  # noqa: PLR2004


def _clock(piece: re.Match[str], _: bool) -> Token | None:  # noqa: FBT001
    minutes = int(piece["cm"] or piece["ck"] or piece["cd"])
    clock = DayTime.of(int(piece["ch"]), minutes, piece["ca"] or piece["cab"] or "")
    return Token("c", clock) if clock else None


def _hour(piece: re.Match[str], _: bool) -> Token | None:  # noqa: FBT001
    written = piece["hh"]
    hour, minutes = (int(written), 0) if len(written) < 3 else (int(written[:-2]), int(written[-2:]))  # noqa: PLR2004
    clock = DayTime.of(hour, minutes, piece["ha"] or piece["hab"])
    return Token("c", clock) if clock else None


def _military(piece: re.Match[str], _: bool) -> Token | None:  # noqa: FBT001
    clock = DayTime.of(int(piece["mh"]), int(piece["mm"]))
    return Token("c", clock) if clock else None


def _hours_and_minutes(piece: re.Match[str], _: bool) -> Token:  # noqa: FBT001
    return Token("L", (("h", Decimal(piece["lh"])), ("m", Decimal(piece["lm"]))))


def _number(piece: re.Match[str], _: bool) -> Token:  # noqa: FBT001
    number = int(piece["number"])
    if _is_year(number) and not piece["ish"]:
        return Token("y", number)
    return Token("n", (Decimal(number), False))


def _quarter(piece: re.Match[str], _: bool) -> Token:  # noqa: FBT001
    year = full_year(piece["qy"]) if piece["qy"] else None
    return Token("T", TimeConstraints(quarter=int(piece["qn"] or piece["qn2"]), year=year))


def _dotted(piece: re.Match[str], _: bool) -> Token | None:  # noqa: FBT001
    number, month = int(piece["da"]), int(piece["db"])
    return Token("T", TimeConstraints(month=month, dom=number)) if _is_day(month, number) else None


def _iso_week(piece: re.Match[str], _: bool) -> Token | None:  # noqa: FBT001
    year, week = int(piece["wy"]), int(piece["ww"])
    try:
        begins = datetime.combine(date.fromisocalendar(year, week, 1), time())
    except ValueError:  # a year of 52 weeks
        return None
    return Token("T", TimeConstraints(within=Stretch(begins, begins + timedelta(days=7), "w")))


def _decade(piece: re.Match[str], _: bool) -> Token:  # noqa: FBT001
    begins = int(piece["en"])
    return Token("T", TimeConstraints(within=decade_of(begins if begins > 99 else 1900 + begins)))  # noqa: PLR2004


_DIGIT_READERS = {
    "isoweek": _iso_week, "decade": _decade,
    "dotted": _dotted, "short": lambda piece, _: Token("y", full_year(piece["sy"])),
    "military": _military, "length": _hours_and_minutes,
    "iso": _iso, "full": _full, "quarter": _quarter, "clock": _clock, "hour": _hour, "pair": _pair,
    "fraction": lambda piece, _: Token("n", (Decimal(piece["fn"]) / Decimal(piece["fd"]), True)),
    "ordinal": lambda piece, _: Token("o", int(piece["on"])),
    "span": lambda piece, _: Token("l", timedelta(seconds=int(piece["sn"]) * (60 if piece["su"] == "'" else 1))),
    "number": _number, "dash": lambda *_: Token("-"), "comma": lambda *_: Token(""), "at": lambda *_: Token("@"),
}  # fmt: skip
