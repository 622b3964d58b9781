"""Freshness objectives, decided: which minutes are good, what is left of a budget, how fast it burns."""
