"""Whether a product can be had: only from what a page says in so many words, never from what it leaves out."""

import re
from enum import StrEnum
from functools import lru_cache


class Availability(StrEnum):
    """Whether a product can be had now."""

    IN_STOCK = "IN_STOCK"
    OUT_OF_STOCK = "OUT_OF_STOCK"
    BACKORDER = "BACKORDER"
    UNKNOWN = "UNKNOWN"


_VOCABULARY = {
    Availability.BACKORDER: "backorder preorder presale madetoorder onbackorder availableonbackorder availablefororder",
    Availability.OUT_OF_STOCK: "outofstock oos soldout discontinued unavailable notavailable nostock reserved false 0",
    Availability.IN_STOCK: (
        "instock instoreonly onlineonly limitedavailability available instoreandonline lowstock limitedstock "
        "availableforsale true 1"
    ),
}
_MEANS = {word: state for state, words in _VOCABULARY.items() for word in words.split()}
_SEPARATORS = re.compile(r"[\s_\-]+")

_GONE = (
    r"(?:temporarily |currently |momentarily )?(?:out[ -]?of[ -]?stock|unavailable\b)", r"sold[ -]?out",
    r"\bunavailable\b",
    r"\bnot (?:currently |yet )?(?:available|in stock)", r"no longer available", r"\bdiscontinued\b", r"\bno stock\b",
    r"notify me (?:when|if)|email me when|back in stock (?:alert|notif)", r"\b0 in stock\b", r"stock:? 0\b",
    r"uitverkocht", r"niet (?:op|meer op|in) voorraad", r"niet (?:meer )?(?:leverbaar|beschikbaar)",
    r"tijdelijk (?:niet|uitverkocht)", r"ausverkauft", r"nicht (?:mehr )?(?:verfügbar|lieferbar|vorrätig|auf lager)",
    r"vergriffen", r"rupture de stock", r"\bépuisé", r"\bindisponible\b", r"\besaurito\b", r"non disponibile",
    r"\bagotado\b", r"sin (?:stock|existencias)", r"no disponible", r"\besgotado\b", r"indispon[ií]vel", r"sem estoque",
    r"niedostępn", r"brak w magazynie", r"wyprzedan", r"vyprodáno", r"není skladem", r"vypredané", r"nedostupn",
    r"slutsåld", r"slut i lager", r"ej i lager", r"ikke på lager", r"udsolgt", r"utsolgt", r"loppuunmyyty",
    r"ei varastossa", r"elfogyott", r"nincs raktáron", r"stoc epuizat", r"indisponibil", r"нет в наличии",
    r"распродан", r"немає в наявності", r"tükendi", r"stokta yok", r"在庫(?:なし|切れ)", r"売り切れ|完売|品切れ",
    r"缺货|售罄|售完|無庫存|缺貨", r"품절", r"εξαντλ", r"μη διαθέσιμο",
)  # fmt: skip
_LATER = (
    r"back[ -]?order", r"pre[ -]?order", r"nabestel", r"vorbestell", r"précommande", r"preventa", r"pré-venda",
    r"forudbestil", r"förbeställ", r"forhåndsbestill", r"предзаказ", r"予約", r"预订|預購", r"made to order",
    r"available to order", r"special order", r"op bestelling", r"auf bestellung", r"na objednávku", r"na zamówienie",
)  # fmt: skip
_THERE = (
    r"\bin[ -]?stock\b", r"\b(?:only )?\d+ (?:left )?in stock\b", r"only \d+ left",
    r"\bavailable\b(?! (?:in|from|soon))", r"ready to ship",
    r"ships (?:today|within|in \d|tomorrow|same day)", r"low stock", r"limited stock",
    r"op voorraad", r"\b(?:direct )?leverbaar\b", r"voorradig", r"auf lager", r"sofort (?:lieferbar|verfügbar)",
    r"\blieferbar\b", r"\bverfügbar\b", r"vorrätig", r"en stock", r"\bdisponible\b", r"\bdisponibile\b",
    r"disponibilità immediata",
    r"\bdispon[ií]vel\b", r"em estoque", r"em stock", r"dostępn[yae]", r"w magazynie", r"skladem", r"\bskladom\b",
    r"i lager", r"på lager", r"varastossa", r"raktáron", r"în stoc", r"в наличии", r"є в наявності", r"stokta",
    r"在庫あり", r"有货|有貨|現貨|现货", r"재고 있음", r"σε απόθεμα", r"άμεσα διαθέσιμο",
)  # fmt: skip
_PHRASES = tuple(
    (state, re.compile("|".join(patterns), re.IGNORECASE))
    for state, patterns in (
        (Availability.OUT_OF_STOCK, _GONE),
        (Availability.BACKORDER, _LATER),
        (Availability.IN_STOCK, _THERE),
    )
)
_LONGEST = 400
_LINE = re.compile(
    r"^(?:[^:：]{0,20}[:：])?\W*(?:\d[\d.,]*\s*(?:units?|items?|pcs|pieces|stuks|stück)?\s*)?", re.IGNORECASE
)
_NEARLY_ALL = 0.5


@lru_cache(maxsize=2_048)
def availability_in(text: str) -> Availability:
    """What a stock notice says: one of schema.org's words, a shop's own, or a phrase in one of many languages.

    'Not in stock' is heard before 'in stock', and either before nothing: silence is `UNKNOWN`.
    """
    line = text.strip()[:_LONGEST]
    if not line:
        return Availability.UNKNOWN
    word = _SEPARATORS.sub("", line.rpartition("/")[2] if "schema.org" in line else line).lower().rpartition(":")[2]
    if state := _MEANS.get(word):
        return state
    return next((state for state, pattern in _PHRASES if pattern.search(line)), Availability.UNKNOWN)


@lru_cache(maxsize=4_096)
def stock_line(text: str) -> Availability:
    """What a line says that is about the stock and little else: `Op voorraad`, `Stock: 12 in stock`.

    For lines that nothing names as a notice of stock: 'in stock soon in more colours' is none.
    """
    begins = _LINE.match(text)
    line = (text[begins.end() :] if begins is not None else text).split(". ")[0].rstrip(" .!")
    for state, pattern in _PHRASES:
        match = pattern.match(line)
        if match is not None:
            return state if len(match[0]) >= _NEARLY_ALL * len(line) else Availability.UNKNOWN
    return Availability.UNKNOWN
