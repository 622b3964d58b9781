"""What can be wrong with a shop in its own way, beside what can be wrong with any site."""

from tidemill.lab.faults import Fault


class CurrencyFlip(Fault, frozen=True):
    """A shop tells its prices in another currency, the numbers unchanged."""


class RedirectsToList(Fault, frozen=True):
    """A shop's product pages lead to its list of everything."""
