"""How cards are found: statements written once per database, each led by one index and bounded by a limit.

A plan that has to gather and sort everything that matches grows with the data. So whatever leads the search (a word,
the squares of a map, a category, the calendar) hands over its first few in order of date, by index alone, and only
those are looked at further.
"""
# ruff: noqa: S608 - only names of ours are put together here; what readers say is always bound

from functools import cache
from typing import Literal

from sqlalchemy import TextClause, text

Lead = Literal["date", "category", "squares", "words", "source"]

_FOUND = "x.id, x.event_date, x.category, x.latitude, x.longitude, x.sources, x.reliability"

# Every parameter is always bound; those that ask for nothing are NULL.
_CALENDAR = (
    "{x}.event_date >= CAST(:date_from AS {moment}) AND {x}.event_date < CAST(:date_to AS {moment})"
    " AND ({x}.event_date > CAST(:after_date AS {moment}) OR {x}.{key} > CAST(:after_id AS BIGINT))"
)
_MATCHES = (
    " AND (CAST(:category AS TEXT) IS NULL OR x.category = CAST(:category AS TEXT))"
    " AND (CAST(:source AS BIGINT) IS NULL OR EXISTS"
    " (SELECT 1 FROM event_links l WHERE l.card_id = x.id AND l.source_id = CAST(:source AS BIGINT)))"
    " AND (CAST(:north AS {real}) IS NULL OR"
    " (x.latitude - CAST(:north AS {real})) * (x.latitude - CAST(:north AS {real}))"
    " + (x.longitude - CAST(:east AS {real})) * (x.longitude - CAST(:east AS {real})) * CAST(:shrink AS {real})"
    " <= CAST(:reach AS {real}))"
    " AND NOT EXISTS (SELECT 1 FROM {also} WHERE NOT EXISTS (SELECT 1 FROM event_words w"
    " WHERE w.word = o.word AND w.event_date = x.event_date AND w.card_id = x.id))"
)
_LITERAL = " AND (CAST(:literal AS TEXT) IS NULL OR x.title LIKE CAST(:literal AS TEXT) ESCAPE '\\')"
_IN_ORDER = " ORDER BY x.event_date, x.id LIMIT CAST(:most AS BIGINT)"


@cache
def finding(lead: Lead, *, sqlite: bool) -> TextClause:
    """The statement that finds cards by this lead, in order of date."""
    words = {
        "moment": "BIGINT" if sqlite else "timestamptz",
        "real": "REAL" if sqlite else "double precision",
        "also": "(SELECT value AS word FROM json_each(:also)) o"
        if sqlite
        else "unnest(CAST(:also AS text[])) AS o(word)",
    }
    where = _CALENDAR.format(x="x", key="id", **words) + _MATCHES.format(**words)
    leads = {
        "date": f"SELECT {_FOUND} FROM event_cards x WHERE {where}{_LITERAL}",
        "category": f"SELECT {_FOUND} FROM event_cards x WHERE x.category = CAST(:category AS TEXT) AND {where}",
        "source": f"SELECT {_FOUND} FROM event_links s JOIN event_cards x ON x.id = s.card_id"
        f" WHERE s.source_id = CAST(:source AS BIGINT) AND {where}",
        "squares": _squares(where, sqlite=sqlite),
        "words": _words(where, _CALENDAR.format(x="w", key="card_id", **words), sqlite=sqlite),
    }
    return text(leads[lead] + _IN_ORDER)


def _squares(where: str, *, sqlite: bool) -> str:
    """The first few of every square."""
    first = (
        f"FROM event_cards x WHERE x.square = k.square AND {where}"
        " ORDER BY x.event_date, x.id LIMIT CAST(:each AS BIGINT)"
    )
    if sqlite:
        squares = "(SELECT value AS square FROM json_each(:squares)) k"
        return f"SELECT {_FOUND} FROM {squares} JOIN event_cards x ON x.id IN (SELECT x.id {first}) WHERE TRUE"
    squares = "unnest(CAST(:squares AS integer[])) AS k(square)"
    return f"SELECT {_FOUND} FROM {squares} CROSS JOIN LATERAL (SELECT x.* {first}) x WHERE TRUE"


def _words(where: str, calendar: str, *, sqlite: bool) -> str:
    """The first few of every word; the word's own index is in order of date."""
    first = (
        f"FROM event_words w JOIN event_cards x ON x.id = w.card_id WHERE w.word = k.word AND {calendar} AND {where}"
        " ORDER BY w.event_date, w.card_id LIMIT CAST(:each AS BIGINT)"
    )
    if sqlite:
        found = "(SELECT value AS word FROM json_each(:words)) k"
        return f"SELECT DISTINCT {_FOUND} FROM {found} JOIN event_cards x ON x.id IN (SELECT x.id {first}) WHERE TRUE"
    found = "unnest(CAST(:words AS text[])) AS k(word)"
    return f"SELECT DISTINCT {_FOUND} FROM {found} CROSS JOIN LATERAL (SELECT x.* {first}) x WHERE TRUE"


BEGINNING_WITH = text(
    "WITH RECURSIVE found(word, number) AS ("
    "SELECT (SELECT min(word) FROM event_words WHERE word >= :low AND word < :high), 1"
    " UNION ALL SELECT (SELECT min(word) FROM event_words WHERE word > found.word AND word < :high), number + 1"
    " FROM found WHERE found.word IS NOT NULL AND number < :most) SELECT word FROM found WHERE word IS NOT NULL"
)
"""The first few words with a beginning, by one look into the index for each."""
