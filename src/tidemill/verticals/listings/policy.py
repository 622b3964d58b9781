"""How listings are scraped: the inventory preset, by tier, fading by the hour."""

from tidemill.core.freshness import Fading
from tidemill.core.policy import INVENTORY

POLICY = INVENTORY
FADING = POLICY.fading or Fading()
"""How a home's confidence falls, and from where on readers see it."""
