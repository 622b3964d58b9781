"""Webhooks: programs are told of what changes in any feed, signed, at least once."""
