"""Languages by their ISO 639-1 codes, as `html lang` and a source's `language` write them."""

from tidemill.core.checks.suggestions import unknown_name

_CODES = """
aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz
ee el en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik
io is it iu ja jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml
mn mr ms mt my na nb nd ne ng nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd
se sg si sk sl sm sn so sq sr ss st su sv sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi
vo wa wo xh yi yo za zh zu
"""
CODES = frozenset(_CODES.split())
"""Every two-letter code."""

NAMES = {
    "dutch": "nl", "nederlands": "nl", "english": "en", "german": "de", "deutsch": "de", "french": "fr",
    "français": "fr", "francais": "fr", "spanish": "es", "español": "es", "espanol": "es", "italian": "it",
    "italiano": "it", "portuguese": "pt", "danish": "da", "swedish": "sv", "norwegian": "no", "polish": "pl",
    "frisian": "fy", "flemish": "nl", "nld": "nl", "dut": "nl", "eng": "en", "deu": "de", "ger": "de", "fra": "fr",
    "fre": "fr", "spa": "es", "ita": "it",
}  # fmt: skip
"""What people write instead of a code."""


def language_problem(text: str) -> str:
    """Return why a text is no language; '' if it is one, with a region or without: `nl`, `nl-BE`."""
    code, _, region = text.partition("-")
    if code in CODES and (not region or (region.isalnum() and region.isascii())):
        return ""
    if near := NAMES.get(text.lower()):
        return f"unknown language {text!r}; did you mean {near!r}?"
    if code.lower() in CODES:
        return unknown_name("language", text, [code.lower()])
    return f"{unknown_name('language', text, ())}".partition(";")[0] + "; write a code of two letters, such as nl or de"


def language_of(tag: str) -> str:
    """Return the two-letter code in a tag such as `de-DE` or `de_AT.UTF-8`; '' if there is none that is known."""
    code = tag.strip().lower().replace("_", "-").partition("-")[0]
    return code if code in CODES else ""
