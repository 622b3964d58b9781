"""Papers of one meeting: a page lists its agenda, minutes and notices apart, and it is one event all the same."""

import re
from collections.abc import Sequence

import msgspec

from tidemill.core.record import RawRecord
from tidemill.verticals.events.reading.heuristics.wording import is_title, names_no_body, without_paperwork

_STRONG = (
    r"agendas?|minutes|notulen|besluitenlijst(?:en)?|verslag(?:en)?|packets?|vergaderstukken|transcripts?|attachments?"
    r"|bijlagen?|notices?|tagesordnung|protokoll|niederschrift|ordre du jour|compte[- ]rendu|orden del d\u00eda|acta"
)
_WEAK = (
    r"materials?|documents?|documenten|stukken|handouts?|recordings?|videos?|audio|presentations?|presentatie|call"
    r"|memo(?:randum)?s?|summary|summaries|livestream|slides?|exhibits?"
)
"""Papers of a meeting where one is named; else they may be what is on: `Holiday presentation`."""
_STATE = (
    r"draft|final|approved|amended|revised|adopted|signed|unapproved|concept|definitief|vastgestelde?|view|download"
    r"|bekijk|pdf|docx?|html|cancell?ation|annotated|supplemental|corrected"
)
_MEETS = re.compile(
    r"\b(?:meetings?|board|council|committee|commission|hearing|trustees|authority|raad|commissie|vergadering|bestuur)\b",
    re.IGNORECASE,
)


_MEETING = re.compile(r"\b(?:meeting|session|hearing|vergadering|zitting)", re.IGNORECASE)


def _ending(papers: str) -> re.Pattern[str]:
    words = rf"and|en|und|et|of|for|the|with|w|all|incl(?:uding)?|additional|{_STATE}"
    joined = rf"(?:[\s,;:&/()\u2013\u2014-]|\b(?:{words})\b)*"
    parts = r"(?:\s+(?:part|deel)\s+[\divx]+)?"
    return re.compile(rf"{joined}(?:\b(?:{papers})\b{joined})+{parts}$", re.IGNORECASE)


_ENDS_IN_PAPER, _ENDS_IN_ANY = _ending(_STRONG), _ending(f"{_STRONG}|{_WEAK}")
_OPENING = re.compile(
    rf"^(?:(?:{_STATE})\s+)*(?:{_STRONG})(?:\s+(?:{_STRONG}|and|&|en))*\s+(?:of|for|from|van|voor)\s+(?:the "
    rf"|de |het )?",
    re.IGNORECASE,
)
_CANCELLED = re.compile(r"\bcancell?(?:ed|ation)\b|\bgeannuleerd\b|\bafgelast\b|\bvervalt\b", re.IGNORECASE)
_COUNTED = re.compile(
    r"\b(?:\d+|one|two|three|five|ten|fifteen|twenty|thirty|sixty|tien|zestig) minutes?\b", re.IGNORECASE
)
_PLAIN = frozenset(
    "regular special meeting meetings board the of and for a committee vergadering bijeenkomst monthly session".split()  # noqa: SIM905 - a list of words
)
_WORD = re.compile(r"\w+")


def one_a_meeting(records: Sequence[RawRecord]) -> list[RawRecord]:
    """The records, those that are papers of one meeting made one: of the same day, named alike but for the paper."""
    named = [_without_paper(record) for record in records]
    kept: list[RawRecord] = []
    by_day: dict[str, list[tuple[frozenset[str], int, bool]]] = {}
    for record, (one, is_paper) in zip(records, named, strict=True):
        day = str(record.fields.get("starts", ""))[:10]
        words = _words(str(one.fields["title"]))
        alike = by_day.setdefault(day, [])
        known = next((each for each in alike if day and _is_same(words, each[0]) and (is_paper or each[2])), None)
        known = known or next((each for each in alike if day and _is_told_again(one, kept[each[1]])), None)
        if known is None:
            alike.append((words, len(kept), is_paper))
            kept.append(one)
        elif _says_more(one, kept[known[1]]):
            kept[known[1]] = one
    return kept


def _without_paper(record: RawRecord) -> tuple[RawRecord, bool]:
    """The record named after its meeting, and whether it was named after one of its papers."""
    title = str(record.fields.get("title", ""))
    if _COUNTED.search(title):
        return record, False
    ends = _ENDS_IN_ANY if _MEETS.search(title) else _ENDS_IN_PAPER
    bare = _OPENING.sub("", ends.sub("", title))
    if bare == title:
        return record, False
    name = without_paperwork(bare) if bare else ""
    if not name or not is_title(name) or (names_no_body(name) and not _MEETING.search(name)):
        return record, True
    fields = {**record.fields, "title": name}
    if _CANCELLED.search(title) and not _CANCELLED.search(name):
        fields.setdefault("status", "cancelled")
    return msgspec.structs.replace(record, fields=fields), True


def _words(title: str) -> frozenset[str]:
    return frozenset(word for word in _WORD.findall(title.casefold()) if word not in _PLAIN)


def _is_same(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two titles name one meeting; a title of plain words, as `Board meeting`, names any."""
    return not one or not other or one == other


def _is_told_again(one: RawRecord, other: RawRecord) -> bool:
    """Whether two records of a day have one name, and only one of them an hour: its list and its archive."""
    hours = ["T" in str(each.fields["starts"]) for each in (one, other)]
    return hours[0] != hours[1] and str(one.fields["title"]).casefold() == str(other.fields["title"]).casefold()


def _says_more(one: RawRecord, other: RawRecord) -> bool:
    """Whether a paper tells of its meeting what the first did not: whose it is, its hour, or that it is cancelled."""
    timed = "T" in str(one.fields["starts"]) and "T" not in str(other.fields["starts"])
    cancelled = "status" in one.fields and "status" not in other.fields
    return timed or cancelled or (not _words(str(other.fields["title"])) and bool(_words(str(one.fields["title"]))))
