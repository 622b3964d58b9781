"""Whether the words before an amount name something else than the product: `Core charge $8.00`, `Order a sample $1`."""

import re

from tidemill.reading.stock import Availability, availability_in
from tidemill.verticals.prices.reading.shown.hints import BUY_TEXT, PRICE_WORDS, Hint, hints_before
from tidemill.verticals.prices.reading.shown.page_layout import PageLayout, heading_text

_WORD = re.compile(r"[^\W\d_]+")
_FEWEST, _LONGEST, _SHORTEST_WORD = 2, 120, 3
_OF_A_PRICE = frozenset(
    """
    only now from just sale today our your per each for at in incl including vat inc tax taxes total cash one time
    purchase buy it regular special deal offer new unit online web store current final starting as low you pay
    this item available
    nur jetzt ab für heute statt inkl mwst stück gesamt kaufen nu maar slechts vanaf voor per stuk incl btw vandaag
    seulement partir dès pour ttc maintenant l unité la pièce desde solo ahora por unidad hoy ora oggi soltanto cadauno
    apenas agora unidade tylko teraz już za sztukę jen nyní cena kun nå nu bara endast vain nyt kpl inkl moms mva alv
    bid bod gebot huidig actueel aktuelles höchstgebot enchère actuelle puja actual hoogste
    and the a or und oder en of et ou y o e with mit met avec con
    """.split()  # noqa: SIM905 - a table of words is read by lines
)
"""Words that say how a price is meant, and of what it is the product's."""


def names_another(line: str, layout: PageLayout, *, in_prose: bool) -> bool:
    """Whether the words right before an amount speak neither of prices nor of the product.

    A few words in small letters do; in a paragraph or a row, so does one word: `Kaution 100,00 €`.
    """
    words = _WORD.findall(line[-_LONGEST:])
    if len(words) < (1 if in_prose else _FEWEST) or PRICE_WORDS.search(line):
        return False
    if not in_prose and BUY_TEXT.search(line):
        return False
    if hints_before(line[-60:].lower()) & ~(Hint.OTHER_AMOUNT | Hint.CURRENT):
        return False
    if availability_in(line) is not Availability.UNKNOWN:
        return False
    own = set(_WORD.findall(heading_text(layout.heading).lower())) if layout.heading is not None else set()
    named = [word for word in words if len(word) >= _SHORTEST_WORD and word.lower() not in own | _OF_A_PRICE]
    return any(word.islower() for word in named) or (in_prose and len(named) == 1)
