"""Discovering sources, decided: where to look, which results are worth a look, how good a candidate is."""
