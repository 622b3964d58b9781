"""What it takes to write a site in a language: towns, houses, titles, sentences and the names of days."""

import msgspec

Bank = dict[str, tuple[str, ...]]


class Town(msgspec.Struct, frozen=True):
    """A town with the place where its events are put when nothing better is known."""

    name: str
    latitude: float
    longitude: float


class Kind(msgspec.Struct, frozen=True):
    """A kind of institution: the start of its host name, and its name with `{house}` and `{town}` to fill in."""

    slug: str
    name: str


class Topic(msgspec.Struct, frozen=True):
    """What an agenda page is about: the end of its path, its heading, and the titles that fit it."""

    path: str
    heading: str
    titles: tuple[str, ...]


class Vocabulary(msgspec.Struct, frozen=True, kw_only=True):
    """Everything a site needs to be written in one language."""

    language: str
    time_zone: str
    towns: tuple[Town, ...]
    kinds: tuple[Kind, ...]
    houses: tuple[str, ...]
    rooms: tuple[str, ...]
    agenda: str
    detail: str
    topics: tuple[Topic, ...]
    bank: Bank
    sentences: tuple[str, ...]
    corrections: tuple[str, ...]
    weekdays: tuple[str, ...]
    months: tuple[str, ...]
    phrases: dict[str, str]
