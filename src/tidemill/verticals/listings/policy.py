"""How listings are scraped: the inventory preset, by tier, fading by the hour."""

from tidemill.core.policy import INVENTORY

POLICY = INVENTORY
