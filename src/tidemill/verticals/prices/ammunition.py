"""What a title and the table beneath it say of ammunition: caliber, grain, rounds, case, bullet and load."""

import re

import msgspec

from tidemill.verticals.prices.calibers import caliber_in, is_shotgun
from tidemill.verticals.prices.raw_fields import RawOffer

_LONGEST = 500
_GRAIN = re.compile(r"(?<![\d.])(\d{1,3}(?:\.\d)?)\s*-?\s*(?:grains?|grn?|gr)\b", re.IGNORECASE)
_ROUND_WORD = r"(?:rounds?|rds?|rnds?|shells?|cartridges?|count|ct)"
_BOXES = re.compile(
    rf"(\d{{1,3}})\s*(?:boxes|packs)\s*(?:of|x|\()\s*(\d{{1,4}})\s*{_ROUND_WORD}?|"
    rf"(?<!\d)(\d{{1,4}})\s*{_ROUND_WORD}\s*(?:/|per)\s*box\W+(\d{{1,3}})\s*boxes",
    re.IGNORECASE,
)
_ROUNDS = re.compile(
    rf"(?<![\d.#])(\d{{1,3}}(?:,\d{{3}})|\d{{1,5}})\s*-?\s*{_ROUND_WORD}\b"
    r"|\b(?:box|case|pack|can|tin|brick) of (\d{1,5})\b"
    r"|(?<![\d.])(\d{1,4})\s*(?:/|per )\s*(?:box|pack|case)\b|(?<![\d.])(\d{1,5})\s*(?:pk|pack)\b",
    re.IGNORECASE,
)
_MOST_ROUNDS, _HEAVIEST = 50_000, 1_000
_CASES = (
    ("Nickel-plated brass", r"nickel(?:[ -]plated)?(?: brass)?(?: cas\w+)?"),
    ("Brass", r"brass"),
    ("Steel", r"steel(?: cas\w+)"),
    ("Aluminum", r"alumin(?:i?)um(?: cas\w+)?|blazer aluminum"),
    ("Polymer", r"polymer cas\w+"),
)
_BULLETS = (
    ("FMJBT", r"fmj-?bt|full metal jacket boat ?tail"),
    ("FMJ", r"fmj|full metal (?:jacket|case)|fmc|ball"),
    ("TMJ", r"tmj|total metal jacket"),
    ("BTHP", r"bthp|hpbt|boat ?tail hollow ?point|otm|open tip match"),
    ("JHP", r"jhp|jacketed hollow ?point"),
    ("JSP", r"jsp|jacketed soft ?point"),
    ("HP", r"hp|hollow ?points?"),
    ("SP", r"sp|psp|soft ?points?"),
    ("LRN", r"lrn|lead round nose"),
    ("LSWC", r"l?swc|semi-?wad ?cutter"),
    ("Frangible", r"frangible"),
    ("Polymer tip", r"v-?max|sst|eld-?[xm]|polymer tip(?:ped)?|ballistic tip"),
)
_LOADS = (
    (r"(?:#|no\.?\s*)?(0{1,4}|[1-4])\s*-?\s*buck(?:shot)?", "{} Buck"),
    (r"((?:\d/\d|\d(?:[ -]\d/\d)?)\s*(?:oz\.?|ounce)\s*)?(?:rifled )?slugs?", "{}Slug"),
    (r"(?:#|no\.?\s*)(\d{1,2}(?:\.5|-?1/2)?|BB+|T)\b(?:\s*(?:shot|steel|lead|bismuth))?", "#{} Shot"),
    (r"(?<![\d/.-])(\d(?:\.5)?)\s*shot\b", "#{} Shot"),
)
_LENGTH = re.compile(
    r"(?<![\d.])(2[ -]?3/4|2\.75|2[ -]?1/2|2\.5|3[ -]?1/2|3\.5|3)\s*-?(?:\"|”|″|''|in(?:ch(?:es)?)?\b\.?)",
    re.IGNORECASE,
)
_LENGTHS = {
    "2.75": "2-3/4",
    "23/4": "2-3/4",
    "2.5": "2-1/2",
    "21/2": "2-1/2",
    "3.5": "3-1/2",
    "31/2": "3-1/2",
    "3": "3",
}


def _compiled(rows: tuple[tuple[str, str], ...]) -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((name, re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE)) for name, pattern in rows)


_CASE_WORDS, _BULLET_WORDS = _compiled(_CASES), _compiled(_BULLETS)
_LOAD_WORDS = tuple((re.compile(rf"(?<!\w){pattern}", re.IGNORECASE), form) for pattern, form in _LOADS)


class Ammunition(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What is known of a box of ammunition; nothing at all of any other product."""

    caliber: str | None = None
    grain_weight: int | None = None
    round_count: int | None = None
    case_material: str | None = None
    bullet_type: str | None = None
    load_type: str | None = None
    shell_length: str | None = None


_NONE = Ammunition()


def ammunition_in(title: str, fields: RawOffer) -> Ammunition:
    """The attributes that a title and the page's own table tell; the table's word goes first.

    Only what has a caliber is ammunition: of a shirt with 50 rounds printed on it nothing is said.
    """
    title = title[:_LONGEST]
    caliber = caliber_in(fields.caliber[:_LONGEST]) or caliber_in(title)
    if caliber is None:
        return _NONE
    shotgun = is_shotgun(caliber)
    return Ammunition(
        caliber=caliber,
        grain_weight=_grain(fields.grain) or (None if shotgun else _grain(title)),
        round_count=_rounds(fields.rounds) or _rounds(title),
        case_material=_named(fields.case_material, _CASE_WORDS) or _named(title, _CASE_WORDS),
        bullet_type=None if shotgun else _named(fields.bullet_type, _BULLET_WORDS) or _named(title, _BULLET_WORDS),
        load_type=(_load(fields.load_type) or _load(title)) if shotgun else None,
        shell_length=(_length(fields.shell_length) or _length(title)) if shotgun else None,
    )


def _grain(text: str) -> int | None:
    text = f"{text} gr" if text.strip().isdecimal() else text
    match = _GRAIN.search(text[:_LONGEST])
    weight = int(float(match[1])) if match is not None else 0
    return weight if 0 < weight <= _HEAVIEST else None


def _rounds(text: str) -> int | None:
    text = text[:_LONGEST]
    if text.strip().isdecimal():
        return _believed(int(text.strip()[:6]))
    if boxes := _BOXES.search(text):
        first, second = (int(group) for group in boxes.groups() if group)
        return _believed(first * second)
    match = _ROUNDS.search(text)
    return _believed(int(next(filter(None, match.groups())).replace(",", ""))) if match is not None else None


def _believed(count: int) -> int | None:
    return count if 0 < count <= _MOST_ROUNDS else None


def _named(text: str, words: tuple[tuple[str, re.Pattern[str]], ...]) -> str | None:
    return next((name for name, pattern in words if text and pattern.search(text[:_LONGEST])), None)


def _load(text: str) -> str | None:
    for pattern, form in _LOAD_WORDS:
        if (match := pattern.search(text[:_LONGEST])) is not None:
            size = " ".join((match[1] or "").replace("ounce", "oz").split())
            return form.format(f"{size} " if size and form.startswith("{}S") else size)
    return None


def _length(text: str) -> str | None:
    match = _LENGTH.search(text[:_LONGEST])
    if match is None:
        return None
    written = match[1].replace(" ", "").replace("-", "")
    return f'{_LENGTHS.get(written, written)}"'
