"""Which of the ten categories an event is of, by the words of its source, title and description, in six languages.

The words beside those of this module stand in `category_words.csv`: by category, and whether they count inside
others. Dutch glues its words together (`kinderworkshop`, `jazzconcert`), so a word counts by the stems inside it. Each
word is looked up once and remembered: agendas use few different ones.
"""

import pkgutil
import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache
from urllib.parse import unquote, urlsplit

from tidemill.verticals.events.record import Category

_C = Category

BY_KIND = {
    "MusicEvent": _C.MUSIC, "SportsEvent": _C.ACTIVE, "ChildrensEvent": _C.FAMILY, "FoodEvent": _C.FOODIE,
    "TheaterEvent": _C.ENTERTAINMENT, "ComedyEvent": _C.ENTERTAINMENT, "DanceEvent": _C.ENTERTAINMENT,
    "ScreeningEvent": _C.ENTERTAINMENT, "VisualArtsEvent": _C.ENTERTAINMENT, "ExhibitionEvent": _C.ENTERTAINMENT,
    "LiteraryEvent": _C.ENTERTAINMENT, "EducationEvent": _C.WORKSHOPS, "CourseInstance": _C.WORKSHOPS,
    "SocialEvent": _C.SOCIAL, "Hackathon": _C.GAMING,
}  # fmt: skip
"""What schema.org's kinds of event say."""

_STEMS = {
    _C.MUSIC: (
        "concert concerten muziek music jazz blues orkest orchestra symfon symphon koor choir zang singer "
        "songwriter opera band dj rock metal hiphop techno house trance folk gospel piano gitaar guitar viool "
        "violin quartet kwartet ensemble harmonie fanfare orgel soul funk reggae karaoke jamsessie unplugged "
        "album recital punk "
    ),
    _C.FAMILY: (
        "kinder kinderen kids children child kleuter peuter baby gezin familie family sinterklaas pietenhuis "
        "poppenkast poppentheater jeugd junior toddler storytime voorlees speurtocht sint-maarten knutsel "
        "speeltuin paaseieren paashaas puppet "
    ),
    _C.ACTIVE: (
        "sport sporten hardloop run running marathon triathlon wielren fietstocht cycling yoga pilates "
        "fitness bootcamp zwem swim voetbal football soccer hockey tennis padel badminton basketbal volleybal "
        "judo karate dans dansen dansles zumba schaats skate skaten toernooi tournament workout klim climb "
        "golf turnen atletiek zaalsport stoelyoga wedstrijd tai-chi aerobics beweeg "
    ),
    _C.GAMING: (
        "gaming game games gamers esports e-sports lan-party bordspel bordspellen spelletjes spellen "
        "boardgame dungeons magic pokemon schaak chess dammen bridge klaverjas rummikub bingo quiz pubquiz "
        "escape escaperoom vr arcade lego hackathon kaarten darts biljart sjoelen scrabble trivia "
    ),
    _C.FOODIE: (
        "food foodie foodtruck eten diner dinner lunch brunch ontbijt breakfast proeverij tasting wijn wine "
        "bier beer brouwerij brewery gin whisky kook koken cooking culinair culinary smaak streekproduct "
        "barbecue bbq taart bakken baking restaurant high-tea hightea kaas chocolade koffie vegan maaltijd "
        "pannenkoek oesters "
    ),
    _C.WORKSHOPS: (
        "workshop cursus course les lezing lecture training masterclass class seminar webinar congres "
        "conference symposium college leren schilderen tekenen keramiek pottery boetseren naai haak brei "
        "fotografie photography schrijf writing taalcafe taalles computer digitaal digivaardig coderen coding "
        "programmeren debat talk informatieavond introductie atelier bloemschikken cpr ehbo "
    ),
    _C.OUTDOORS: (
        "wandel wandeling wandelen wandeltocht hike hiking walk natuur nature bos forest park strand beach "
        "duin tuin garden vogel bird vaartocht varen boottocht kano kayak excursie buiten outdoor outdoors "
        "camping sterren paddenstoel boswachter ivn polder heide fiets fietsen picknick rivier landgoed "
        "vlinder bijen safari "
    ),
    _C.ENTERTAINMENT: (
        "theater theatre toneel cabaret comedy comedian stand-up standup film films movie cinema bioscoop "
        "voorstelling musical show circus magie goochel illusionist festival expositie exhibition "
        "tentoonstelling museum galerie gallery kunst art kunstroute ballet improvisatie dance performance "
        "spektakel vuurwerk kermis revue spoken poetry poezie literair boekpresentatie première premiere "
        "lichtshow carnaval "
    ),
    _C.SOCIAL: (
        "borrel netwerk netwerken networking meetup meet-up ontmoeting ontmoeten ontmoetingscafe "
        "koffieochtend inloop inloopochtend feest party gezellig singles speeddate speeddaten date cafe café "
        "praatcafe huiskamer buurtborrel clubavond nieuwjaarsborrel vrijmibo kletsen sociaal social mixer "
        "drinks lgbt pride reünie "
    ),
    _C.COMMUNITY: (
        "gemeenteraad raadsvergadering raadscommissie commissie commissievergadering vergadering council "
        "committee board meeting hearing buurt wijk bewoners inspraak inwoners vrijwilligers vrijwilliger "
        "volunteer markt market rommelmarkt braderie vlooienmarkt weekmarkt herdenking bevrijdingsdag "
        "koningsdag kerk kerkdienst church collecte inzameling fundraiser benefiet dorpshuis burgemeester "
        "verkiezing election openbare spreekuur dodenherdenking "
    ),
}

_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_SHORTEST_INSIDE = 5
"""Letters of a stem that may count inside a longer word; shorter ones (`les`, `bos`) are in too many words."""
_READ_OF_DESCRIPTION = 400
_MOST_WORDS, _LONGEST_WORD = 32_768, 60


def _table() -> dict[str, Category]:
    return {stem: category for category, stems in _STEMS.items() for stem in stems.split()}


def _further_words(*, in_compounds: bool) -> dict[str, Category]:
    """The words of the file, those that count inside compounds or the others; also as addresses write them."""
    found: dict[str, Category] = {}
    lines = (pkgutil.get_data(__package__ or "", "category_words.csv") or b"").decode().splitlines()
    for line in lines[1:]:
        category, compounds, words = line.split(",", 2)
        if (compounds == "yes") is in_compounds:
            found |= {form: Category(category) for word in words.split() for form in _spellings(word)}
    return found


def _spellings(word: str) -> set[str]:
    """A word as it is written, without its accents, and with `ae` for `ä`."""
    bare = "".join(letter for letter in unicodedata.normalize("NFD", word) if not unicodedata.combining(letter))
    return {word, bare, word.translate(_SPELT_OUT)}


_SPELT_OUT = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "œ": "oe"})
_TABLE = _further_words(in_compounds=True) | _table()
_WHOLE = {word: category for word, category in _further_words(in_compounds=False).items() if word not in _TABLE}
"""Words that count by themselves only: `coro` is a choir, and `corona` is none."""


def _stems_inside() -> dict[str, list[str]]:
    """The stems that count inside a longer word, by their first letters, the longest first."""
    stems: dict[str, list[str]] = {}
    for stem in sorted((stem for stem in _TABLE if len(stem) >= _SHORTEST_INSIDE), key=len, reverse=True):
        stems.setdefault(stem[:_SHORTEST_INSIDE], []).append(stem)
    return stems


_INSIDE = _stems_inside()
_FIRST_LETTERS = frozenset(_INSIDE)
_TAUGHT = (
    "zang piano gitaar viool drum dans rij kook yoga zwem tennis proef taal schilder muziek teken sport gym pilates "
    "computer naai ski surf golf paardrij bal ballet salsa tango keramiek"
)
"""What there are lessons in: `les` alone ends too many words, as `alles`."""
_NO_COMPOUNDS = frozenset({"afloop", "verloop", "verdienst", "doorloop", "voorspel", "anchor", "manifest", "ablauf"})
_LAST_PARTS = (
    ("borrel", _C.SOCIAL), ("feest", _C.SOCIAL), ("loop", _C.ACTIVE), ("duik", _C.ACTIVE), ("optocht", _C.FAMILY),
    ("tocht", _C.OUTDOORS), ("wandeling", _C.OUTDOORS), ("markt", _C.COMMUNITY), ("dienst", _C.COMMUNITY),
    ("lauf", _C.ACTIVE), ("kurs", _C.WORKSHOPS), ("chor", _C.MUSIC), ("treff", _C.SOCIAL), ("fest", _C.SOCIAL),
    ("kino", _C.ENTERTAINMENT), ("vierdaagse", _C.ACTIVE), ("koor", _C.MUSIC), ("spel", _C.GAMING), ("quiz", _C.GAMING),
    *((f"{what}les", _C.WORKSHOPS) for what in _TAUGHT.split()),
)  # fmt: skip
"""What a compound is that ends so; the short ones count nowhere else in a word."""
_LAST_PART_WORDS = tuple(part for part, _ in _LAST_PARTS)
_SHORTEST_PART = min(map(len, _LAST_PART_WORDS))
_LAST_LETTERS = frozenset(part[-_SHORTEST_PART:] for part in _LAST_PART_WORDS)
_ENDINGS = ("s", "en", "e", "jes", "je", "'s", "es", "ing")
_FORMS = [stem + ending for stem in (*_TABLE, *_WHOLE) for ending in ("", *_ENDINGS)]
_BEGINNINGS = frozenset(form[:_SHORTEST_INSIDE] for form in _FORMS)
_CLOSINGS = frozenset(form[-_SHORTEST_INSIDE:] for form in _FORMS if len(form) >= _SHORTEST_INSIDE)


def category_of(kind: str, labels: str, title: str, description: str, section: Category | None = None) -> Category:
    """The category that most words speak for: the site's section and labels most, then the title, then the description.

    In a title what it is (`concert`) outranks what it is like (`lunch`). Where the words are silent, schema.org's kind
    decides; where both are, it is of the community. Sentences about tickets and catering say nothing.
    """
    scores: dict[Category, int] = {}
    if section is not None:
        scores[section] = _OF_SECTION
    hint = BY_KIND.get(kind)
    if hint is not None:
        scores[hint] = scores.get(hint, 0) + 3
    if labels:
        _count(labels, 4, scores)
    _count(title, 3, scores)
    for stronger in scores.keys() & _OUTRANKING:
        scores[stronger] += 1
    if len(scores) > 1 and Category.FAMILY not in scores:
        _count_kinds(title, scores)
    if not scores and description:
        _count_description(description[:_READ_OF_DESCRIPTION], scores)
    if len(scores) == 1:
        return next(iter(scores))
    return max(scores, key=scores.__getitem__) if scores else Category.COMMUNITY


def _count_description(description: str, scores: dict[Category, int]) -> None:
    """Count its words, those of practical sentences left out; few descriptions speak, and others are not parted."""
    _count_prose(description, scores)
    if scores and (rest := _without_practical(description)) is not description:
        scores.clear()
        _count_prose(rest, scores)


def _count_prose(text: str, scores: dict[Category, int]) -> None:
    """Count the words of running text that begin or end as a word of the table does: to look into each takes longer."""
    for word in _WORD.findall(text.lower()):
        if (
            word[:_SHORTEST_INSIDE] in _BEGINNINGS
            or word[-_SHORTEST_INSIDE:] in _CLOSINGS
            or (word[-_SHORTEST_PART:] in _LAST_LETTERS and word.endswith(_LAST_PART_WORDS))
        ) and (category := _WORDS[word]) is not None:
            scores[category] = scores.get(category, 0) + 1


_OUTRANKING = frozenset({Category.FAMILY, Category.GAMING})
"""What is for children is theirs, whatever it is; and a tournament of chess is of games, not of sports."""
_OF_SECTION = 7
"""What a site's own section weighs: more than a word of the title and schema.org's kind together."""
_KINDS = re.compile(
    r"(?:concert|workshop|cursus|lezing|lecture|course|masterclass|training|wandeling|wandeltocht|walk|hike|excursie"
    r"|excursion|markt|market|vergadering|meeting|quiz|bingo|film|voorstelling|cabaret|musical"
    r"|committee|commission|commissie|council|hearing|sitzung|ausschuss|conseil|expositie|exhibition|tentoonstelling|borrel|party|proeverij|tasting|diner|dinner|marathon|koor|choir)(?:en|s|je|jes)?$"
)
"""What an event is, by the end of a word."""
_PRACTICAL = re.compile(
    r"\b(?:tickets?|kaarten|kaartjes|entree|toegang|admission|reserver\w+|aanmeld\w+|catering|consumpties?|drankjes?"
    r"|koffie|thee|coffee|tea|bar|parkeren|parking|refreshments)\b",
    re.IGNORECASE,
)
"""Words of sentences about getting in and being served."""
_SENTENCE = re.compile(r"[^.!?]+")


def _without_practical(text: str) -> str:
    """The text without such sentences; each is looked through once, however long it is."""
    if _PRACTICAL.search(text) is None:
        return text
    return _SENTENCE.sub(lambda sentence: " " if _PRACTICAL.search(sentence[0]) else sentence[0], text)


def _count_kinds(title: str, scores: dict[Category, int]) -> None:
    """Let the word that says what it is weigh twice as much."""
    kinds = [word for word in title.lower().split() if _KINDS.search(word.strip(".,:;!?"))]
    for word in kinds[-1:]:
        _count(word, 4, scores)


@lru_cache(maxsize=4_096)
def category_of_section(page_url: str, detail_url: str = "") -> Category | None:
    """The category that the path of an agenda page names, or the folders over a detail page; None if not just one."""
    path, detail = urlsplit(page_url).path, urlsplit(detail_url).path.rpartition("/")[0]
    words = re.split(r"[/_+-]+", unquote(f"{path}/{detail}").lower())
    found = {category for word in words[:_MOST_SECTION_WORDS] if word and (category := _WORDS[word]) is not None}
    return found.pop() if len(found) == 1 else None


_MOST_SECTION_WORDS = 20


def is_silent(title: str, description: str) -> bool:
    """Whether no word speaks for any category, so that rules could only fall back on the last."""
    scores: dict[Category, int] = {}
    _count(title, 1, scores)
    _count(description[:_READ_OF_DESCRIPTION], 1, scores)
    return not scores


def _count(text: str, weight: int, scores: dict[Category, int]) -> None:
    words = text.lower().split()
    if new := [word for word in words if word not in _WORDS]:
        _WORDS.learn(new)
    for category in filter(None, map(_WORDS.__getitem__, words)):
        scores[category] = scores.get(category, 0) + weight


class _Words(dict[str, Category | None]):
    """What each word met so far speaks for; monsters are not kept, and all are forgotten when they are too many."""

    def learn(self, words: Sequence[str]) -> None:
        """Look up words that nobody met yet, together: one search tells which of them can say anything."""
        self._make_room()
        known = [word for word in words if len(word) <= _LONGEST_WORD]
        hints = set(_HINT.findall(" ".join(known)))
        if hints:
            few = len(hints) <= _MOST_HINTS
            known = [word for word in known if few and not any(hint in word for hint in hints)]
        self.update(dict.fromkeys(known))

    def __missing__(self, word: str) -> Category | None:
        category = _of_word(word)
        if len(word) <= _LONGEST_WORD:
            self._make_room()
            self[word] = category
        return category

    def _make_room(self) -> None:
        if len(self) >= _MOST_WORDS:
            self.clear()


_WORDS = _Words()


def _one_of(words: Iterable[str]) -> str:
    """Return a pattern of any of these words that shares their first letters, so that each letter is looked at once."""
    by_letter: dict[str, list[str]] = {}
    for word in words:
        if word:
            by_letter.setdefault(word[0], []).append(word[1:])
    ways = [re.escape(letter) + ("" if "" in rests else _one_of(rests)) for letter, rests in sorted(by_letter.items())]
    return "(?:" + "|".join(ways) + ")"


_SHORT_STEMS = [stem for stem in _TABLE if len(stem) < _SHORTEST_INSIDE]
_LONG_PARTS = {part[:_SHORTEST_INSIDE] for part in _LAST_PART_WORDS if len(part) >= _SHORTEST_INSIDE}
_HINT = re.compile(
    rf"{_one_of(_LONG_PARTS | _INSIDE.keys())}"
    rf"|\b{_one_of((*_SHORT_STEMS, *_WHOLE))}"
    rf"|{_one_of(part for part in _LAST_PART_WORDS if len(part) < _SHORTEST_INSIDE)}\b"
)
"""What a word that speaks for a category has in it: the first letters of a longer stem, a short one, or a last part."""
_MOST_HINTS = 16
"""Different hints in one text beyond which each of its words is looked at by itself."""


def _of_word(written: str) -> Category | None:
    found = [category for word in _WORD.findall(written) if (category := _of_bare_word(word)) is not None]
    return found[-1] if found else None


def _of_bare_word(word: str) -> Category | None:
    if (category := _TABLE.get(word) or _WHOLE.get(word)) is not None:
        return category
    for ending in _ENDINGS if word.endswith(_ENDINGS) else ():
        bare = word.removesuffix(ending)
        if bare != word and (category := _TABLE.get(bare) or _WHOLE.get(bare)) is not None:
            return category
    return _of_compound(word)


def _of_compound(word: str) -> Category | None:
    """Of a Dutch compound the last part says what it is, except that whatever is for children is for families."""
    letters = [word[at : at + _SHORTEST_INSIDE] for at in range(len(word) - _SHORTEST_INSIDE + 1)]
    found = [] if _FIRST_LETTERS.isdisjoint(letters) else [_TABLE[stem] for stem in _parts_of(word)]
    if stronger := _OUTRANKING.intersection(found):
        return Category.FAMILY if Category.FAMILY in stronger else Category.GAMING
    if found:
        return found[-1]
    if not word.endswith(_LAST_PART_WORDS) or word in _NO_COMPOUNDS:
        return None
    return next(
        (category for part, category in _LAST_PARTS if word.endswith(part) and (word != part or part.endswith("les"))),
        None,
    )


def _parts_of(word: str) -> list[str]:
    """The stems inside a word from left to right, none within another: at each letter the longest that fits."""
    parts: list[str] = []
    place, last = 0, len(word) - _SHORTEST_INSIDE
    while place <= last:
        stems = _INSIDE.get(word[place : place + _SHORTEST_INSIDE])
        stem = next((stem for stem in stems if word.startswith(stem, place)), "") if stems else ""
        if stem:
            parts.append(stem)
        place += len(stem) or 1
    return parts
