"""What can be wrong with a site of matches in its own way, beside what can be wrong with any site."""

from collections.abc import Callable, Mapping
from datetime import timedelta

from tidemill.lab.faults import Fault, Outage, ServerError500, SlowDrip, TimeOut, TooMany429, TruncatedBody


class Lag(Fault, frozen=True):
    """The site shows everything so much later."""

    by: timedelta = timedelta(seconds=75)


class Frozen(Fault, frozen=True):
    """The site answers 200 with the bytes of the moment at which the fault began."""


class Flapping(Fault, frozen=True):
    """Old and new pages in turn, as from two caches; `every` is how long each is shown."""

    back: timedelta = timedelta(seconds=150)
    every: timedelta = timedelta(seconds=4)


class Backwards(Fault, frozen=True):
    """The site falls back to how it stood a while ago, and goes on from there."""

    back: timedelta = timedelta(seconds=200)


class Disagrees(Fault, frozen=True):
    """The site tells more runs than there are."""

    share: float = 0.12


class EarlyEnd(Fault, frozen=True):
    """The site calls the match finished whenever there is a break."""


class DroppedFromList(Fault, frozen=True):
    """The list of matches leaves the first one out."""


class ListedTwice(Fault, frozen=True):
    """The list names every match twice, the second time under another id."""


class IdChanged(Fault, frozen=True):
    """Every match has another id and address; the old ones are not found."""


class MissingField(Fault, frozen=True):
    """A field is left out of the pages."""

    field: str = "innings"


class Garbage(Fault, frozen=True):
    """The site answers 200 with what nobody can read."""


class TokenExpired(Fault, frozen=True):
    """The site answers 401."""


KINDS: Mapping[str, Callable[[], Fault]] = {
    "lag": Lag,
    "frozen": Frozen,
    "flapping": Flapping,
    "backwards": Backwards,
    "disagrees": Disagrees,
    "early-end": EarlyEnd,
    "dropped-from-list": DroppedFromList,
    "listed-twice": ListedTwice,
    "id-changed": IdChanged,
    "missing-score": MissingField,
    "missing-balls": lambda: MissingField("balls"),
    "missing-venue": lambda: MissingField("venue"),
    "garbage": Garbage,
    "token-expired": TokenExpired,
    "too-many": TooMany429,
    "server-error": ServerError500,
    "time-out": TimeOut,
    "slow-drip": SlowDrip,
    "truncated-body": TruncatedBody,
    "outage": Outage,
}
"""Every fault by name. A correction and each kind of break belong to the matches themselves: all sites show them."""
