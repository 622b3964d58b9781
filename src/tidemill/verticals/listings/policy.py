"""How listings are scraped: the inventory preset, by tier, fading by the hour."""

from tidemill.core.freshness import ConfidenceDecay
from tidemill.core.policy import INVENTORY

POLICY = INVENTORY
DECAY = POLICY.decay or ConfidenceDecay()
"""How a home's confidence falls, and from where on readers see it."""
