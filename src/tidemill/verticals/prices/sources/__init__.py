"""The adapters of the prices vertical, listed by hand: nothing registers itself on import (P2)."""

from tidemill.core.vertical import Adapter

ADAPTERS: dict[str, Adapter] = {}
"""Every adapter by its id."""
